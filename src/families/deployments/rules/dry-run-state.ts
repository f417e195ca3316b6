import { MAX_CHANGES_SIZE } from '../../../core/dry-run.ts'

/** Judges how far the dry run of an item has come, by the clock alone: no loop ends one that nobody takes or answers. */

export const DRY_RUN = {
  /** An item that no agent has claimed for so long is EXPIRED. */
  offeredMs: 60_000,
  /** Nothing of a dry run takes longer. */
  wholeMs: 300_000,
  /** It is gone after so long. */
  keptMs: 3_600_000,
  /** Agents that may claim an item, each after the lease of the one before has ended. */
  attempts: 3,
  /** Dry runs of a project that are kept at a time. */
  perProject: 100,
  /** Deploy items of a dry run that agents are asked about. */
  items: 200,
  /** Characters of JSON that the changes of an item have, and those of a whole dry run. */
  itemSize: MAX_CHANGES_SIZE,
  wholeSize: 4 * 1_024 * 1_024,
} as const

/** Offered, claimed, done. */
export type StoredState = 0 | 1 | 2
export const DRY_RUN_STATES = ['OFFERED', 'CLAIMED', 'PLANNED', 'SKIPPED', 'FAILED', 'EXPIRED'] as const
export type DryRunState = (typeof DRY_RUN_STATES)[number]

export interface DryRunFacts {
  readonly state: StoredState
  readonly reason: string | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly attempt: number
  readonly leaseUntil: Date | null
  readonly createdAt: Date
  readonly now: Date
}

interface Judged {
  readonly state: DryRunState
  /** Why it is SKIPPED or EXPIRED. */
  readonly reason: string | null
  /** Why it has FAILED. */
  readonly error: { readonly code: string; readonly message: string } | null
}

export function judgeDryRun(facts: DryRunFacts): Judged {
  const { state, reason, errorCode, errorMessage, attempt, leaseUntil, createdAt, now } = facts
  const age = now.getTime() - createdAt.getTime()
  const of = (judged: DryRunState, more: Partial<Judged> = {}): Judged => ({
    ...{ state: judged, reason: null, error: null },
    ...more,
  })
  if (state === 2) {
    if (reason !== null) return of('SKIPPED', { reason })
    return errorCode === null
      ? of('PLANNED')
      : of('FAILED', { error: { code: errorCode, message: errorMessage ?? '' } })
  }
  if (state === 0)
    return age < DRY_RUN.offeredMs
      ? of('OFFERED')
      : of('EXPIRED', { reason: `No agent has claimed it within ${DRY_RUN.offeredMs / 1_000} s.` })
  if (age >= DRY_RUN.wholeMs)
    return of('EXPIRED', { reason: `It has taken longer than ${DRY_RUN.wholeMs / 60_000} minutes.` })
  const silentMs = now.getTime() - (leaseUntil?.getTime() ?? 0)
  if (silentMs < 0) return of('CLAIMED')
  if (attempt < DRY_RUN.attempts)
    return silentMs < DRY_RUN.offeredMs
      ? of('CLAIMED')
      : of('EXPIRED', { reason: 'The agent that had it is gone, and no other has claimed it.' })
  const message = `${DRY_RUN.attempts} agents have begun it, and ended without an answer.`
  return of('FAILED', { error: { code: 'AGENT_LOST', message } })
}

export const isOpen = (state: DryRunState): boolean => state === 'OFFERED' || state === 'CLAIMED'
