import { WORK_STATE, type Work } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'

/** The timeout of an item that is offered or claimed. */
export interface ItemDeadline {
  readonly name: 'pickup' | 'progressing' | 'aborting'
  readonly since: Date
  readonly expiresAt: Date
  /** The failure at that time; after `progressing` once the deployer has stopped, or has not. */
  readonly to: Phase
}

export type TimedWork = Pick<
  Work,
  'state' | 'action' | 'dueAt' | 'offerAfter' | 'triggeredAt' | 'pickedUpAt' | 'abortRequestedAt'
>

export function deadlinesOf(work: TimedWork | null): readonly ItemDeadline[] {
  if (!work?.dueAt || work.state === WORK_STATE.DONE) return []
  const to = work.action === 'DELETE' ? 'DELETE_FAILED' : 'FAILED'
  const clock = (name: ItemDeadline['name'], since: Date): readonly ItemDeadline[] =>
    work.dueAt ? [{ name, since, expiresAt: work.dueAt, to }] : []
  if (work.abortRequestedAt) return clock('aborting', work.abortRequestedAt)
  if (work.pickedUpAt) return clock('progressing', work.pickedUpAt)
  return clock('pickup', work.triggeredAt)
}
