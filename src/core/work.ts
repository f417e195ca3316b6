import type { Work } from './tree.ts'

/** Work that nobody has been told of; what makes it an object's is set with it. */
const BLANK = { handed: false, handedConfig: null, leaseWatched: false } as Work

/**
 * The work with what was changed of it. Property by property: every piece of work then has one shape, which spreading a
 * patch of any shape over it costs fifty times as much and does not give.
 */
export function workAfter(before: Work | null, patch: Partial<Work>): Work {
  const old = before ?? BLANK
  const {
    type = old.type,
    target = old.target,
    action = old.action,
    state = old.state,
    config = old.config,
    handedConfig = old.handedConfig,
    handed = old.handed,
    fenceHash = old.fenceHash,
    jobId = old.jobId,
    principal = old.principal,
    instance = old.instance,
    attempt = old.attempt,
    leaseUntil = old.leaseUntil,
    offerAfter = old.offerAfter,
    triggeredAt = old.triggeredAt,
    pickedUpAt = old.pickedUpAt,
    abortRequestedAt = old.abortRequestedAt,
    abortCode = old.abortCode,
    progressingMs = old.progressingMs,
    abortingMs = old.abortingMs,
    dueAt = old.dueAt,
    doneAt = old.doneAt,
    leaseWatched = old.leaseWatched,
  } = patch
  return {
    type,
    target,
    action,
    state,
    config,
    handedConfig,
    handed,
    fenceHash,
    jobId,
    principal,
    instance,
    attempt,
    leaseUntil,
    offerAfter,
    triggeredAt,
    pickedUpAt,
    abortRequestedAt,
    abortCode,
    progressingMs,
    abortingMs,
    dueAt,
    doneAt,
    leaseWatched,
  }
}
