import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Kernel ticks a second, as /proc counts them on every Linux that Node runs on. */
const TICKS = 100
const run = promisify(execFile)

/** When a process started, in milliseconds since 1970, to the second; null: there is no such process. */
export async function startedAt(pid: number): Promise<number | null> {
  try {
    return process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid)
  } catch {
    return null
  }
}

async function fromProc(pid: number): Promise<number | null> {
  const [processStat, systemStat] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile('/proc/stat', 'utf8')])
  // The name in parentheses may hold anything: fields are counted from after it. Start time is field 22.
  const ticks = Number(processStat.slice(processStat.lastIndexOf(')') + 2).split(' ')[19])
  const boot = Number(/^btime (\d+)$/m.exec(systemStat)?.[1])
  return Number.isFinite(ticks + boot) ? (boot + Math.floor(ticks / TICKS)) * 1_000 : null
}

async function fromPs(pid: number): Promise<number | null> {
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)])
  const time = Date.parse(stdout.trim())
  return Number.isNaN(time) ? null : time
}
