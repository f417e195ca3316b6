import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { CALL } from './call-name.ts'
import { groupsWith } from './groups-with.ts'

/**
 * The process of a groupGuard: `guard-main.ts <silence in ms>`. Standard input has lines `+<group>` and `-<group>`,
 * `?<call>` and `!<call>`, and `.` as a heartbeat. At its end, and after a silence, the remaining groups are killed, and
 * those of calls that were about to begin.
 */
const silenceMs = Number(process.argv[2])
const groups = new Set<number>()
const calls = new Set<string>()
/** A process that was forked just before its parent was killed carries the name of its call only a moment later. */
const SEARCH_MS = 3_000
const EVERY_MS = 50

function end(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

async function endAll(): Promise<void> {
  for (const group of groups) end(group)
  groups.clear()
  const until = performance.now() + SEARCH_MS
  while (calls.size > 0 && performance.now() < until) {
    for (const group of groupsWith(CALL, calls)) end(group)
    await delay(EVERY_MS)
  }
}

const silence = setTimeout(() => void endAll(), silenceMs)
createInterface({ input: process.stdin })
  .on('line', (line) => {
    silence.refresh()
    const [, sign, name = ''] = /^([+\-?!])(.+)$/.exec(line) ?? []
    const group = Number(name)
    // A signal to 0 or 1 would reach this process's own group, or every process.
    if (sign === '+' && group > 1) groups.add(group)
    if (sign === '-') groups.delete(group)
    if (sign === '?') calls.add(name)
    if (sign === '!') calls.delete(name)
  })
  .once('close', () => {
    clearTimeout(silence)
    void endAll()
  })
