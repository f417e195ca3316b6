import { DEFAULT_BACKOFF, type RetryBackoff, type RetryPolicy } from '../core/retry.ts'
import { builder } from '../graphql/schema/builder.ts'
import { MAX_ATTEMPTS, MAX_FACTOR } from './retry-policy.ts'

/** Retry policies in the API, the same for the work of all families. */

const TEXTS = {
  attempts: `Attempts of one job in all, with the first: 1 to ${MAX_ATTEMPTS}.`,
  initialMs: 'Milliseconds from the first failure to the second attempt.',
  factor: `Ratio of each delay to the one before, 1 to ${MAX_FACTOR}.`,
  maxMs: 'The longest delay, in milliseconds.',
  jitter:
    'The share of each delay that is random, 0 to 1: with 0.5, a delay is between half of its length and all of it.',
  on: 'Codes of the errors that are retried.',
  not: 'Codes of errors that are never retried, though `on` may have them.',
  attemptTimeoutMs:
    'The longest that one attempt takes, in milliseconds. Then its agent is asked to stop, and the failure has the code ATTEMPT_TIMEOUT.',
} as const

const BackoffInput = builder.inputType('RetryBackoffInput', {
  description: 'How long a failure is from the next attempt.',
  fields: (t) => ({
    initialMs: t.int({ description: `${TEXTS.initialMs} Left out or null: ${DEFAULT_BACKOFF.initialMs}.` }),
    factor: t.float({ description: `${TEXTS.factor} Left out or null: ${DEFAULT_BACKOFF.factor}.` }),
    maxMs: t.int({
      description: `${TEXTS.maxMs} Left out or null: ${DEFAULT_BACKOFF.maxMs}, or \`initialMs\` if that is longer.`,
    }),
    jitter: t.float({ description: `${TEXTS.jitter} Left out or null: ${DEFAULT_BACKOFF.jitter}.` }),
  }),
})
export const RetryPolicyInput = builder.inputType('RetryPolicyInput', {
  description: 'How often work that failed is attempted again within its job, and when.',
  fields: (t) => ({
    attempts: t.int({ required: true, description: TEXTS.attempts }),
    backoff: t.field({ type: BackoffInput, description: 'The delays. Left out or null: the defaults.' }),
    on: t.stringList({ limit: 'retryCodes', description: `${TEXTS.on} Left out, null or empty: all.` }),
    not: t.stringList({ limit: 'retryCodes', description: `${TEXTS.not} Left out or null: none.` }),
    attemptTimeoutMs: t.int({
      description: `${TEXTS.attemptTimeoutMs} Left out or null: only the timeout of the whole job applies.`,
    }),
  }),
})

const BackoffRef = builder.objectRef<RetryBackoff>('RetryBackoff').implement({
  description: 'How long a failure is from the next attempt.',
  fields: (t) => ({
    initialMs: t.exposeInt('initialMs', { description: TEXTS.initialMs }),
    factor: t.exposeFloat('factor', { description: TEXTS.factor }),
    maxMs: t.exposeInt('maxMs', { description: TEXTS.maxMs }),
    jitter: t.exposeFloat('jitter', { description: TEXTS.jitter }),
  }),
})
export const RetryPolicyRef = builder.objectRef<RetryPolicy>('RetryPolicy').implement({
  description: 'How often work that failed is attempted again within its job, and when.',
  fields: (t) => ({
    attempts: t.exposeInt('attempts', { description: TEXTS.attempts }),
    backoff: t.expose('backoff', { type: BackoffRef, description: 'The delays.' }),
    on: t.stringList({ description: `${TEXTS.on} Empty: all.`, resolve: ({ on }) => [...on] }),
    not: t.stringList({ description: TEXTS.not, resolve: ({ not }) => [...not] }),
    attemptTimeoutMs: t.exposeInt('attemptTimeoutMs', {
      nullable: true,
      description: `${TEXTS.attemptTimeoutMs} Null: only the timeout of the whole job applies.`,
    }),
  }),
})
