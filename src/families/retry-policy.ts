import type { Problems } from '../core/problems.ts'
import { fillPolicy, type RetryPolicy, type RetryPolicyInput } from '../core/retry.ts'

export type { RetryPolicyInput } from '../core/retry.ts'

/** A retry policy as the API takes it, and as a spec keeps it: with all defaults. */

/** Each attempt that ended stays in the row of its object until the next job. */
export const MAX_ATTEMPTS = 100
export const MAX_FACTOR = 100
const MAX_MS = 2 ** 31 - 1

export function normaliseRetry(input: RetryPolicyInput, path: string, problems: Problems): RetryPolicy {
  const policy = fillPolicy(input)
  const { attempts, backoff: delays, attemptTimeoutMs } = policy
  const between = (name: string, value: number, [min, max]: readonly [number, number]): void => {
    // NaN is in no range.
    if (!(value >= min && value <= max)) problems.add(`${path}.${name}`, `must be between ${min} and ${max}`)
  }
  between('attempts', attempts, [1, MAX_ATTEMPTS])
  between('backoff.initialMs', delays.initialMs, [0, MAX_MS])
  between('backoff.factor', delays.factor, [1, MAX_FACTOR])
  between('backoff.maxMs', delays.maxMs, [0, MAX_MS])
  between('backoff.jitter', delays.jitter, [0, 1])
  if (delays.maxMs < delays.initialMs) problems.add(`${path}.backoff.maxMs`, 'must not be below `initialMs`')
  if (attemptTimeoutMs !== null) between('attemptTimeoutMs', attemptTimeoutMs, [1, MAX_MS])
  return policy
}
