import { type ObjectRow, WORK_STATE, type Work } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { Gate } from '../../gate.ts'

/** The timeout of an item that is offered or claimed. */
export interface ItemDeadline {
  readonly name: 'pickup' | 'attempt' | 'progressing' | 'aborting' | 'gate' | 'opening'
  readonly since: Date
  readonly expiresAt: Date
  /** The failure at that time; after `progressing` once the deployer has stopped, or has not. */
  readonly to: Phase | null
}

/** The effect of their ends, for people. */
export const DEADLINE_MESSAGES: Readonly<Record<ItemDeadline['name'], string>> = {
  pickup: 'It fails if no agent has begun it by then.',
  attempt: 'This attempt is stopped if it still runs then.',
  progressing: 'It is stopped, and fails, if it has not ended by then.',
  aborting: 'It fails if its agent has not stopped it by then.',
  gate: 'It fails if nobody has opened it by then.',
  opening: 'It opens.',
}

export type TimedWork = Pick<
  Work,
  'state' | 'action' | 'dueAt' | 'offerAfter' | 'triggeredAt' | 'pickedUpAt' | 'abortRequestedAt' | 'progressingMs'
>

/** The clock of an item that waits at a gate. */
export function gateDeadlines({ until }: Gate, { dueAt, triggeredAt: since }: TimedWork): readonly ItemDeadline[] {
  if (!dueAt) return []
  const opens = until !== null && new Date(until).getTime() === dueAt.getTime()
  return [{ name: opens ? 'opening' : 'gate', since, expiresAt: dueAt, to: opens ? 'SUCCEEDED' : 'FAILED' }]
}

export function deadlinesOf(
  work: TimedWork | null,
  { phase, phaseSince }: Pick<ObjectRow, 'phase' | 'phaseSince'>,
): readonly ItemDeadline[] {
  if (!work?.dueAt || work.state === WORK_STATE.DONE) return []
  const to = work.action === 'DELETE' ? 'DELETE_FAILED' : 'FAILED'
  const clock = (name: ItemDeadline['name'], since: Date, then: Phase | null = to): readonly ItemDeadline[] =>
    work.dueAt ? [{ name, since, expiresAt: work.dueAt, to: then }] : []
  if (work.abortRequestedAt) return clock('aborting', work.abortRequestedAt)
  if (!work.pickedUpAt) return clock('pickup', work.triggeredAt)
  const isWhole = work.progressingMs !== null && work.dueAt.getTime() - work.pickedUpAt.getTime() >= work.progressingMs
  if (isWhole) return clock('progressing', work.pickedUpAt)
  // After its time the retry policy decides, and no phase is sure.
  return phase === 'INIT' ? clock('pickup', work.offerAfter ?? phaseSince) : clock('attempt', phaseSince, null)
}
