import type { Editor } from '../../on-behalf.ts'
import type { When } from '../../when.ts'

/** How a firing treats what earlier ones have started, and has not ended. */
export const OVERLAPS = ['SKIP', 'ALLOW', 'QUEUE', 'CANCEL_RUNNING'] as const
export type Overlap = (typeof OVERLAPS)[number]

/** The times that are caught up, of those that have passed. */
export const CATCH_UPS = ['NONE', 'LAST', 'ALL'] as const
export type CatchUp = (typeof CATCH_UPS)[number]

/** The spec of a schedule, as it is stored. */
export interface ScheduleSpec extends When {
  /** Ends the schedule after this many firings by time; null: none does. */
  readonly count: number | null
  readonly jitterMs: number
  readonly overlap: Overlap
  /** Firings that wait at once, with QUEUE. */
  readonly maxQueued: number
  readonly catchUp: CatchUp
  /** With ALL: the newest that are caught up. */
  readonly maxCaughtUp: number
  /** A firing that is later counts as missed. */
  readonly graceMs: number
  /** OVERDUE once nothing that it has started has succeeded for so long; null or absent: never. */
  readonly successWithinSeconds?: number | null
  readonly run: Run
}

/** The trigger that a firing calls, by its name, and its input. Texts may hold expressions over `schedule`. */
export interface Run {
  readonly trigger: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The family's own columns. */
export interface ScheduleDetails {
  /** The next time; null: none is to come, or it is paused. */
  readonly due: Date | null
  /** The last time that has fired or was skipped. */
  readonly lastDue: Date | null
  /** Firings by time. Skipped ones, backfills and firings by hand do not count. */
  readonly firedCount: number
  /** Its firings have the rights of this principal, and no more. */
  readonly editor: Editor | null
  readonly pausedBecause: string | null
  /** When it is OVERDUE unless something succeeds before; null: it is already, or nobody wants to know. */
  readonly overdueAt: Date | null
}
export const NEW_SCHEDULE: ScheduleDetails = {
  due: null,
  lastDue: null,
  firedCount: 0,
  editor: null,
  pausedBecause: null,
  overdueAt: null,
}
