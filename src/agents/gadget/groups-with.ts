import { readdirSync, readFileSync } from 'node:fs'
import { statOf } from '../../process/identity.ts'

/**
 * Groups of the living processes in whose environment this variable has one of these values. Linux only: elsewhere it
 * finds none.
 */
export function groupsWith(variable: string, values: ReadonlySet<string>): ReadonlySet<number> {
  const marks = [...values].map((value) => `${variable}=${value}`)
  const found = new Set<number>()
  for (const pid of pids()) {
    const stat = hasOne(pid, marks) ? statOf(pid) : null
    // A signal to 0 or 1 would reach this process's own group, or every process.
    if (stat && !stat.ended && stat.group > 1) found.add(stat.group)
  }
  return found
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function hasOne(pid: number, marks: readonly string[]): boolean {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return marks.some((mark) => entries.includes(mark))
  } catch {
    // It has ended, or belongs to another user.
    return false
  }
}
