import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const STOP_MS = 3_000

/**
 * Identifies a process among later ones with the same pid: by its start, and the run of the machine.
 * Null when there is no such process, or when it has ended and only waits to be reaped.
 */
export async function startOf(pid) {
  if (process.platform === 'linux') return await startOnLinux(pid)
  const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  const text = stdout.trim()
  return text === '' || text.startsWith('Z') ? null : text.replace(/^\S+\s+/, '')
}

async function startOnLinux(pid) {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ])
    // The name of the program stands in parentheses and may hold anything; the state follows it, the start is field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : `${boot.trim()} ${fields[19]}`
  } catch {
    return null
  }
}

/** Is this the very process that was started then? */
export const isRunning = async ({ pid, start }) => start !== null && (await startOf(pid)) === start

/** SIGTERM, then SIGKILL, and never to a process that is another one by now. */
export async function stopProcess(identity) {
  for (const [signal, limit] of [
    ['SIGTERM', STOP_MS],
    ['SIGKILL', STOP_MS],
  ]) {
    if (!(await isRunning(identity))) return
    process.kill(identity.pid, signal)
    for (let waited = 0; waited < limit && (await isRunning(identity)); waited += 20) await sleep(20)
  }
  if (await isRunning(identity)) throw new Error(`The process ${identity.pid} does not end.`)
}
