import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const onLinux = process.platform === 'linux'
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const PS_OPTIONS = { encoding: 'utf8', env: { LC_ALL: 'C', TZ: 'UTC' } } as const

/**
 * Tells a process from a later one with the same pid, and from one of before a reboot; null: it has ended.
 * Not a time of day: that would change for a living process when the clock is set.
 */
export async function identityOf(pid: number): Promise<string | null> {
  try {
    return onLinux ? await fromProc(pid) : (await ps(pid, 'lstart=')) || null
  } catch {
    return null
  }
}

/** The same at once, for the end of this process, when nothing can be waited for. */
export function identityNow(pid: number): string | null {
  try {
    if (onLinux) return identityOn(readFileSync(`/proc/${pid}/stat`, 'utf8'), readNow(BOOT_ID))
    return execFileSync('ps', ['-ww', '-o', 'lstart=', '-p', String(pid)], PS_OPTIONS).trim() || null
  } catch {
    return null
  }
}

/** With which arguments a process was started, separated by spaces; empty when it cannot be told. */
export async function commandOf(pid: number): Promise<string> {
  try {
    return onLinux ? (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ') : await ps(pid, 'command=')
  } catch {
    return ''
  }
}

async function fromProc(pid: number): Promise<string | null> {
  const [status, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(BOOT_ID, 'utf8').catch(() => ''),
  ])
  return identityOn(status, boot)
}

function readNow(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function identityOn(status: string, boot: string): string | null {
  // The name in parentheses may hold anything: fields are counted from after it.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  const [state, startedInTicks] = [fields[0], fields[19]]
  // A zombie has ended; nobody may ever have waited for it.
  return state === 'Z' || state === 'X' ? null : `${boot.trim()}:${startedInTicks}`
}

async function ps(pid: number, column: string): Promise<string> {
  const { stdout } = await run('ps', ['-ww', '-o', column, '-p', String(pid)], PS_OPTIONS)
  return stdout.trim()
}
