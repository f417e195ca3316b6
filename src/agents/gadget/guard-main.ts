import { createInterface } from 'node:readline'

/**
 * The process of a groupGuard: `guard-main.ts <silence in ms>`. Standard input says `+<group>` and `-<group>`, and `.` as
 * a sign of life. At its end, and when nothing is said for so long, the groups left are killed.
 */
const silenceMs = Number(process.argv[2])
const groups = new Set<number>()

function endAll(): void {
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
  groups.clear()
}

const silence = setTimeout(endAll, silenceMs)
createInterface({ input: process.stdin })
  .on('line', (line) => {
    silence.refresh()
    const [, sign, digits] = /^([+-])(\d+)$/.exec(line) ?? []
    const group = Number(digits)
    // 0 and 1 would be this process's own group, and everybody's.
    if (sign === '+' && group > 1) groups.add(group)
    if (sign === '-') groups.delete(group)
  })
  .once('close', () => {
    endAll()
    clearTimeout(silence)
  })
