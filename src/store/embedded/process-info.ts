import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const onLinux = process.platform === 'linux'

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
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
  ])
  // The name in parentheses may hold anything: fields are counted from after it.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  const [state, startedInTicks] = [fields[0], fields[19]]
  // A zombie has ended; nobody may ever have waited for it.
  return state === 'Z' || state === 'X' ? null : `${boot.trim()}:${startedInTicks}`
}

async function ps(pid: number, column: string): Promise<string> {
  const { stdout } = await run('ps', ['-ww', '-o', column, '-p', String(pid)], { env: { LC_ALL: 'C', TZ: 'UTC' } })
  return stdout.trim()
}
