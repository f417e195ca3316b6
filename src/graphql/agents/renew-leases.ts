import { invalidInput } from '../../core/errors.ts'
import type { Renewal } from '../../core/ports/agents.ts'
import { builder } from '../schema/builder.ts'
import { answer } from '../schema/errors.ts'
import { MAX_BATCH } from '../schema/limits.ts'
import { resultUnion } from '../schema/result-union.ts'

const LeaseState = builder.enumType('LeaseState', { values: ['HELD', 'ABORT_REQUESTED', 'LOST'] as const })
const LeaseRenewalRef = builder.objectRef<Renewal>('LeaseRenewal').implement({
  fields: (t) => ({
    fence: t.exposeString('fence'),
    state: t.expose('state', { type: LeaseState }),
    leaseUntil: t.expose('leaseUntil', { type: 'DateTime', nullable: true }),
  }),
})
const RenewedLeasesRef = builder
  .objectRef<{ readonly __typename: 'RenewedLeases'; readonly leases: readonly Renewal[] }>('RenewedLeases')
  .implement({
    fields: (t) => ({ leases: t.field({ type: [LeaseRenewalRef], resolve: ({ leases }) => [...leases] }) }),
  })

const RenewLeasesInput = builder.inputType('RenewLeasesInput', {
  fields: (t) => ({
    fences: t.stringList({ required: true }),
    leaseMs: t.int({ required: true, defaultValue: 30_000 }),
  }),
})

builder.mutationField('renewLeases', (t) =>
  t.field({
    type: resultUnion('RenewLeasesResult', RenewedLeasesRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    description: 'Renew leases; the answer also says which of them were asked to abort, or are lost.',
    args: { input: t.arg({ type: RenewLeasesInput, required: true }) },
    resolve: (_, { input: { fences, leaseMs } }, context) =>
      answer(
        context,
        'agent',
        async () =>
          fences.length > MAX_BATCH
            ? { ok: false, refusal: invalidInput([{ path: 'input.fences', message: `must be at most ${MAX_BATCH}` }]) }
            : await context.agents.renew(context.viewer, fences, leaseMs),
        ({ leases }) => ({ __typename: 'RenewedLeases' as const, leases }),
      ),
  }),
)
