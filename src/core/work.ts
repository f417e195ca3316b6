import type { Work } from './tree.ts'

/** Defaults of new work; the first patch sets the rest. */
const BLANK = {
  handed: false,
  handedConfig: null,
  leaseWatched: false,
  targetLabels: null,
  traceparent: null,
} as Partial<Work> as Work

/**
 * Applies a patch to work. Assigning each property gives all work one hidden class; spreading patches of any shape does
 * not, and takes fifty times as long.
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
    principalId = old.principalId,
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
    targetLabels = old.targetLabels,
    traceparent = old.traceparent,
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
    principalId,
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
    targetLabels,
    traceparent,
  }
}
