import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const onLinux = process.platform === 'linux'
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const PS_OPTIONS = { encoding: 'utf8', env: { LC_ALL: 'C', TZ: 'UTC' } } as const

/** Names one process, unlike any later one with the same pid and any of an earlier boot. */
export interface ProcessId {
  readonly pid: number
  /**
   * The start of the process: boot id and clock ticks on Linux, elsewhere `ps -o lstart=` in UTC. Not a time of day, which
   * would change for a living process when the clock is set.
   */
  readonly identity: string
}

/**
 * Null: there is no such process, or it has ended and waits to be reaped.
 * @throws when it cannot be looked at, as when this process may open no more files
 */
export async function identityOf(pid: number): Promise<string | null> {
  try {
    return onLinux ? identityNow(pid) : (await ps(pid, 'lstart=')) || null
  } catch (error) {
    return nullIfEnded(error)
  }
}

/** Otherwise a process would take its own want of files or memory for the end of another one. */
function nullIfEnded(error: unknown): null {
  const { code = '' } = error as NodeJS.ErrnoException
  if (WANTS.includes(code)) throw error
  return null
}
const WANTS = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']

/** The same, synchronous, for the exit of this process, which cannot wait. */
export function identityNow(pid: number): string | null {
  try {
    if (onLinux) return identityFrom(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return execFileSync('ps', ['-ww', '-o', 'lstart=', '-p', String(pid)], PS_OPTIONS).trim() || null
  } catch (error) {
    return nullIfEnded(error)
  }
}

/** The identity of this process, or of a child that it has not reaped yet, which may have ended. */
export function identityOfChild(pid: number): string {
  if (!onLinux) return identityNow(pid) ?? 'unknown'
  const { ticks } = parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'))
  return `${bootId()}:${ticks}`
}

export const isAlive = async ({ pid, identity }: ProcessId): Promise<boolean> => (await identityOf(pid)) === identity

/** The arguments that a process was started with, separated by spaces; empty when they cannot be read. */
export async function commandOf(pid: number): Promise<string> {
  try {
    return onLinux ? (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ') : await ps(pid, 'command=')
  } catch {
    return ''
  }
}

/** Reads a line `<pid> <identity>`. Null: the line is something else, e.g. `none`. */
export function parseProcessId(line: string): ProcessId | null {
  const [, pid, identity] = /^(\d+) (.+)$/.exec(line.trim()) ?? []
  return pid && identity && Number(pid) > 0 ? { pid: Number(pid), identity: identity.trim() } : null
}
export const formatProcessId = ({ pid, identity }: ProcessId): string => `${pid} ${identity}\n`

export interface Stat {
  readonly pid: number
  /** Its parent, 0 for none. */
  readonly parent: number
  readonly group: number
  /** Start of the process in clock ticks since boot. */
  readonly ticks: string
  readonly ended: boolean
}
/** Parses /proc/<pid>/stat. The name in parentheses may hold anything: fields are counted from after it. */
export function parseStat(pid: number, text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group] = fields
  // A zombie has ended, whether or not its parent ever reaps it.
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    ticks: fields[19] ?? '',
    ended: state === 'Z' || state === 'X',
  }
}

/** Null: the process has ended. */
export function statOf(pid: number): Stat | null {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    return nullIfEnded(error)
  }
}

let readBootId: string | undefined
/** It is the same for as long as this process lives. */
function bootId(): string {
  try {
    readBootId ??= readFileSync(BOOT_ID, 'utf8').trim()
  } catch (error) {
    readBootId = nullIfEnded(error) ?? ''
  }
  return readBootId
}

function identityFrom(pid: number, stat: string): string | null {
  const { ticks, ended } = parseStat(pid, stat)
  return ended ? null : `${bootId()}:${ticks}`
}

async function ps(pid: number, column: string): Promise<string> {
  const { stdout } = await run('ps', ['-ww', '-o', column, '-p', String(pid)], PS_OPTIONS)
  return stdout.trim()
}
