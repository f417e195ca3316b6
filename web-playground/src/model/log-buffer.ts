import type { PhaseChange } from 'phaseline/client'

export interface LogFilter {
  readonly text: string
  readonly kinds: readonly string[]
  readonly classes: readonly string[]
  readonly rejected: 'all' | 'only' | 'none'
}
export const WHOLE_LOG: LogFilter = { text: '', kinds: [], classes: [], rejected: 'all' }

/** The newest changes, the newest first. While it is paused nothing moves and nothing is lost. */
export interface LogBuffer {
  readonly shown: readonly PhaseChange[]
  /** Changes that arrived during the pause, oldest first. */
  readonly held: readonly PhaseChange[]
  readonly paused: boolean
  /** Number of changes that were dropped for want of room: the log still has them. */
  readonly dropped: number
}
export const EMPTY_LOG: LogBuffer = { shown: [], held: [], paused: false, dropped: 0 }

/** More than a reader scrolls through, and at most some 20 MB. */
export const LOG_ROOM = 20_000

export function addChanges(log: LogBuffer, changes: readonly PhaseChange[], room = LOG_ROOM): LogBuffer {
  if (changes.length === 0) return log
  if (log.paused) return { ...log, held: [...log.held, ...changes] }
  const all = [...changes.toReversed(), ...log.shown]
  return { ...log, shown: all.slice(0, room), dropped: log.dropped + Math.max(0, all.length - room) }
}

export const pauseLog = (log: LogBuffer): LogBuffer => ({ ...log, paused: true })
export const resumeLog = (log: LogBuffer, room = LOG_ROOM): LogBuffer =>
  addChanges({ ...log, paused: false, held: [] }, log.held, room)

export function filterLog(
  changes: readonly PhaseChange[],
  { text, kinds, classes, rejected }: LogFilter,
  classOf: (phase: string) => string,
): readonly PhaseChange[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return changes.filter(
    (change) =>
      (rejected === 'all' || change.rejected === (rejected === 'only')) &&
      (kinds.length === 0 || kinds.includes(change.kind)) &&
      (classes.length === 0 || classes.includes(classOf(change.to))) &&
      words.every((word) => haystack(change).includes(word)),
  )
}
const haystack = ({ name, kind, from, to, actor, by, reason, message, sequence }: PhaseChange): string =>
  [name, kind, from, to, actor, by, reason, message, sequence].join(' ').toLowerCase()
