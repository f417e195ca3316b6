import { readFileSync } from 'node:fs'

/** For connections to the database, files of agents and pages, and children. */
const KEPT = 512

/** The connections that this process has files for; infinite where the system does not say how many it may open. */
export function spareFiles(): number {
  const files = openFiles()
  return files - Math.min(KEPT, Math.floor(files / 2))
}

function openFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
