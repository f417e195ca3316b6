import type { PhaseChange } from 'phaseline/client'

/** The newest changes, the newest first. While it is paused nothing moves and nothing is lost. */
export interface LogBuffer {
  readonly shown: readonly PhaseChange[]
  /** Changes that arrived during the pause, oldest first. */
  readonly held: readonly PhaseChange[]
  readonly paused: boolean
  /** Number of the oldest changes that were dropped for want of room: the log still has them. */
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

/** Adds older changes, the newest first, as far as there is room. */
export const addOlder = (log: LogBuffer, older: readonly PhaseChange[], room = LOG_ROOM): LogBuffer => ({
  ...log,
  shown: [...log.shown, ...older].slice(0, room),
})
