import type { FinalBy, ShownAttempt } from '../../core/retry.ts'
import { builder } from '../schema/builder.ts'

/** Attempts in the API, the same for the work of all families. */

const AttemptErrorRef = builder.objectRef<NonNullable<ShownAttempt['error']>>('AttemptError').implement({
  description: 'Why an attempt failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs, in a vocabulary of the agent.' }),
    message: t.exposeString('message', {
      description: 'For people: its first 1,024 characters. The log has it whole.',
    }),
  }),
})
const FINAL: Readonly<Record<FinalBy, { readonly description: string }>> = {
  AGENT: { description: 'Its agent has reported `retryable: false`: another attempt would end in the same way.' },
  POLICY: { description: 'The retry policy leaves its code out, by `on` or `not`.' },
}
const AttemptFinalByEnum = builder.enumType('AttemptFinalBy', {
  description: 'The party that has made the failure of an attempt final.',
  values: FINAL,
})

export const AttemptRef = builder.objectRef<ShownAttempt>('Attempt').implement({
  description: 'One attempt of work that has a retry policy, in its running or last job.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'From 1.' }),
    agent: t.exposeString('agent', {
      nullable: true,
      description: 'The process that had the work last, as `instance` of an agent; null before an agent has taken it.',
    }),
    begunAt: t.expose('begunAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When an agent first took the work; null for the next attempt.',
    }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'Null: it has not ended.' }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is offered to agents; null once it has begun, and if nothing delays it.',
    }),
    error: t.expose('error', {
      type: AttemptErrorRef,
      nullable: true,
      description: 'Why it failed; null if it succeeded, or has not ended.',
    }),
    finalBy: t.expose('finalBy', {
      type: AttemptFinalByEnum,
      nullable: true,
      description:
        'Why no other attempt follows this one, which failed, although the policy allows more; null otherwise.',
    }),
  }),
})
