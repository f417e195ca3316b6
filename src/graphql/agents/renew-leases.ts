import type { AgentPort, Renewal } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'
import { LEASE_MS } from '../schema/descriptions.ts'
import { answer } from '../schema/errors.ts'
import { commandResult, errorsOf } from '../schema/result-union.ts'

const LeaseState = builder.enumType('LeaseState', {
  description: 'The state of a lease after its renewal.',
  values: {
    HELD: { description: 'The lease is renewed.' },
    ABORT_REQUESTED: { description: 'The lease is renewed, and the agent has to stop the work and report.' },
    LOST: { description: 'The agent does not hold the work any more and has to stop.' },
  } as const,
})
const LeaseRenewalRef = builder.objectRef<Renewal>('LeaseRenewal').implement({
  description: 'A lease that was to be renewed.',
  fields: (t) => ({
    fence: t.exposeString('fence', { description: 'Fence as it was given.' }),
    state: t.expose('state', { type: LeaseState, description: 'The state of the lease.' }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the lease ends unless it is renewed again; null if it is LOST.',
    }),
  }),
})
const RenewedLeasesRef = builder
  .objectRef<{ readonly __typename: 'RenewedLeases'; readonly leases: readonly Renewal[] }>('RenewedLeases')
  .implement({
    description: 'The states of the leases.',
    fields: (t) => ({
      leases: t.field({
        type: [LeaseRenewalRef],
        description: 'One for each fence, in order.',
        resolve: ({ leases }) => [...leases],
      }),
    }),
  })

builder.mutationField('renewLeases', (t) =>
  t.fieldWithInput({
    right: RIGHTS.reportWork,
    ...commandResult('RenewLeasesResult', RenewedLeasesRef, errorsOf<AgentPort['renew']>({})),
    description: 'Renews leases, and says which work to stop.',
    typeOptions: { description: 'Leases to renew.' },
    input: {
      fences: t.input.stringList({
        required: true,
        limit: 'fences',
        description: 'Fences of the work.',
      }),
      leaseMs: t.input.int({ required: true, defaultValue: 30_000, description: LEASE_MS }),
    },
    resolve: (_, { input: { fences, leaseMs } }, context) =>
      answer(context.agents.renew(context.viewer, fences, leaseMs), ({ leases }) => ({
        __typename: 'RenewedLeases' as const,
        leases,
      })),
  }),
)
