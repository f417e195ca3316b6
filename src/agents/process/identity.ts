import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const onLinux = process.platform === 'linux'

/** A process, told from a later one with the same pid and from one of before a reboot. */
export interface ProcessId {
  readonly pid: number
  /** When it started: boot id and clock ticks on Linux, elsewhere what `ps -o lstart=` says, in UTC. */
  readonly started: string
}

/** Null: there is no such process, or it has ended and only waits to be reaped. */
export async function processAt(pid: number): Promise<ProcessId | null> {
  try {
    const started = onLinux ? await fromProc(pid) : await fromPs(pid)
    return started ? { pid, started } : null
  } catch {
    return null
  }
}

export async function isAlive({ pid, started }: ProcessId): Promise<boolean> {
  return (await processAt(pid))?.started === started
}

export interface Stat {
  readonly pid: number
  readonly group: number
  readonly ticks: string
  readonly ended: boolean
}
/** Of /proc/<pid>/stat. The name in parentheses may hold anything: fields are counted from after it. */
export function readStat(pid: number, text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, , group] = fields
  return { pid, group: Number(group), ticks: fields[19] ?? '', ended: state === 'Z' || state === 'X' }
}

let bootId: Promise<string> | null = null

async function fromProc(pid: number): Promise<string | null> {
  // It does not change while this process lives.
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8')
  const { ticks, ended } = readStat(pid, await readFile(`/proc/${pid}/stat`, 'utf8'))
  return ended ? null : `${(await bootId).trim()}:${ticks}`
}

async function fromPs(pid: number): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: { LC_ALL: 'C', TZ: 'UTC' } })
  return stdout.trim()
}

/** A line `<pid> <started>`. Null: it is none, e.g. `none`. */
export function parseProcessId(line: string): ProcessId | null {
  const [, pid, started] = /^(\d+) (.+)$/.exec(line.trim()) ?? []
  // 0 and 1 would be everybody.
  return pid && started && Number(pid) > 1 ? { pid: Number(pid), started: started.trim() } : null
}
export const formatProcessId = ({ pid, started }: ProcessId): string => `${pid} ${started}\n`
