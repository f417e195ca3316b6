import { type BackoffOptions, backoffMs } from './backoff.ts'
import { beginningOf, portableText } from './portable.ts'

/** Retry policies: whether work that failed is attempted again, and when. The same for the work of all families. */

export interface RetryPolicy {
  /** Attempts of one job in all, with the first. */
  readonly attempts: number
  readonly backoff: RetryBackoff
  /** Codes of the errors that are retried; none: all. */
  readonly on: readonly string[]
  /** Codes of errors that are never retried, though `on` may have them. */
  readonly not: readonly string[]
  /** The longest that one attempt takes, in milliseconds; null: only the timeout of the whole job applies. */
  readonly attemptTimeoutMs: number | null
}
export interface RetryBackoff {
  readonly initialMs: number
  readonly factor: number
  readonly maxMs: number
  /** The share of each delay that is random: the delay is between `1 - jitter` of its full length and all of it. */
  readonly jitter: number
}
export const DEFAULT_BACKOFF: RetryBackoff = { initialMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.5 }

/** A policy as the API and manifests take it. */
export interface RetryPolicyInput {
  readonly attempts: number
  readonly backoff?:
    | {
        readonly initialMs?: number | null | undefined
        readonly factor?: number | null | undefined
        readonly maxMs?: number | null | undefined
        readonly jitter?: number | null | undefined
      }
    | null
    | undefined
  readonly on?: readonly string[] | null | undefined
  readonly not?: readonly string[] | null | undefined
  readonly attemptTimeoutMs?: number | null | undefined
}

/** The policy with all defaults. */
export function fillPolicy({ attempts, backoff, on, not, attemptTimeoutMs }: RetryPolicyInput): RetryPolicy {
  return {
    attempts,
    backoff: {
      initialMs: backoff?.initialMs ?? DEFAULT_BACKOFF.initialMs,
      factor: backoff?.factor ?? DEFAULT_BACKOFF.factor,
      // A first delay that is longer than the default of the longest is meant.
      maxMs: backoff?.maxMs ?? Math.max(DEFAULT_BACKOFF.maxMs, backoff?.initialMs ?? 0),
      jitter: backoff?.jitter ?? DEFAULT_BACKOFF.jitter,
    },
    on: [...new Set(on)].sort(),
    not: [...new Set(not)].sort(),
    attemptTimeoutMs: attemptTimeoutMs ?? null,
  }
}

/** An attempt that has ended. Times as ISO 8601, since it is stored as JSON. */
export interface Attempt {
  /** The process of its agent; null: none has taken it. */
  readonly agent: string | null
  readonly begunAt: string
  readonly endedAt: string
  /** Null: it succeeded. */
  readonly error: AttemptFailure | null
}
export interface AttemptFailure {
  readonly code: string
  readonly message: string
  /** Its agent has said that another attempt would end in the same way. */
  readonly isFinal?: true
}
/** The word of an agent about its failure. */
export const finalityOf = (
  error: { readonly retryable?: boolean | null | undefined } | null | undefined,
): Pick<AttemptFailure, 'isFinal'> => (error?.retryable === false ? { isFinal: true } : {})

/** The policy of a job, and its attempts so far: their number is that of the entries. */
export interface Retry {
  readonly policy: RetryPolicy
  readonly attempts: readonly Attempt[]
}

/** Longer messages of past attempts are cut, in characters: the log has them whole. */
const MAX_MESSAGE = 1_024

export const withAttempt = <R extends Retry>(
  retry: R,
  { agent, begunAt, endedAt, error }: AttemptEnd,
): R & { readonly attempts: readonly Attempt[] } => ({
  ...retry,
  attempts: [
    ...retry.attempts,
    {
      agent,
      begunAt: begunAt.toISOString(),
      endedAt: endedAt.toISOString(),
      error: error && {
        code: error.code,
        message: portableText(beginningOf(error.message, MAX_MESSAGE)),
        ...(error.isFinal && { isFinal: true }),
      },
    },
  ],
})
export interface AttemptEnd {
  readonly agent: string | null
  readonly begunAt: Date
  readonly endedAt: Date
  readonly error: AttemptFailure | null
}

/** The party that has made the last failure final although the policy has more attempts. */
export type FinalBy = 'AGENT' | 'POLICY'
function finalBy({ policy: { attempts: most, on, not }, attempts }: Retry): FinalBy | null {
  const error = attempts.at(-1)?.error
  if (!error || attempts.length >= most) return null
  if (error.isFinal) return 'AGENT'
  return not.includes(error.code) || (on.length > 0 && !on.includes(error.code)) ? 'POLICY' : null
}

export interface RetryCircumstances {
  readonly now: Date
  readonly random: number
  /** The deadline of the whole job; null: none. */
  readonly deadline: Date | null
  /** Until then the agent of the last attempt may be at work; null: it has stopped. */
  readonly busyUntil: Date | null
}

/** When the next attempt may begin after the last of `attempts`, which has failed; null: there is none. */
export function nextAttemptAt(retry: Retry, { now, random, deadline, busyUntil }: RetryCircumstances): Date | null {
  const { policy, attempts } = retry
  if (attempts.length >= policy.attempts || finalBy(retry)) return null
  const delayed = now.getTime() + backoffMs(attempts.length, random, backoffOf(policy))
  const at = new Date(Math.max(delayed, busyUntil?.getTime() ?? 0))
  // An attempt that could not end in time is not worth the wait.
  return deadline && at >= deadline ? null : at
}

const backoffOf = ({ backoff: { initialMs, factor, maxMs, jitter } }: RetryPolicy): BackoffOptions => ({
  baseMs: initialMs,
  capMs: maxMs,
  factor,
  jitter,
})

/** `2 of 3`: the attempt that runs or comes next. */
export const attemptText = ({ policy, attempts }: Retry): string =>
  `${Math.min(attempts.length + 1, policy.attempts)} of ${policy.attempts}`

/** An attempt as users see it: one that has ended, one that runs, or one that waits for its time. */
export interface ShownAttempt {
  readonly number: number
  readonly agent: string | null
  readonly begunAt: Date | null
  readonly endedAt: Date | null
  readonly notBefore: Date | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly finalBy: FinalBy | null
}
/** The attempts of an object, and how many its policy allows. */
export interface ShownRetries {
  readonly attempts: readonly ShownAttempt[]
  readonly maxAttempts: number
}

/**
 * The attempts that have ended, and the one that runs or comes next, if there is one.
 * @param hasFailed the last attempt is final, and neither a success nor cancelled
 */
export const shownRetries = (
  retry: Retry,
  next: Pick<ShownAttempt, 'agent' | 'begunAt' | 'notBefore'> | null,
  hasFailed: boolean,
): ShownRetries => {
  const { policy, attempts } = retry
  const last = hasFailed ? finalBy(retry) : null
  return {
    maxAttempts: policy.attempts,
    attempts: [
      ...attempts.map(({ begunAt, endedAt, ...attempt }, i) => ({
        ...attempt,
        number: i + 1,
        begunAt: new Date(begunAt),
        endedAt: new Date(endedAt),
        notBefore: null,
        finalBy: i === attempts.length - 1 ? last : null,
      })),
      ...(next ? [{ number: attempts.length + 1, endedAt: null, error: null, finalBy: null, ...next }] : []),
    ],
  }
}
