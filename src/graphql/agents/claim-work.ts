import type { ClaimedItem } from '../../core/ports/agents.ts'
import type { GraphQLContext } from '../context.ts'
import type { ClaimPayload } from '../family.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, WorkActionEnum } from '../schema/enums.ts'
import { errorValue, refusedBy } from '../schema/errors.ts'
import { TreeObjectRef } from '../schema/refs.ts'
import { resultUnion } from '../schema/result-union.ts'

type WorkItem = ClaimedItem & Pick<ClaimPayload, 'token'>

const WorkItemRef = builder.objectRef<WorkItem>('WorkItem').implement({
  fields: (t) => ({
    fence: t.exposeString('fence', { description: 'Opaque; hand it back with every report and renewal of this work.' }),
    objectId: t.exposeID('objectId'),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    name: t.exposeString('name'),
    jobId: t.exposeID('jobId', { nullable: true }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Null when it cannot be read any more: the lease stands all the same.',
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
    action: t.expose('action', { type: WorkActionEnum }),
    type: t.exposeString('type'),
    target: t.exposeString('target', { nullable: true }),
    config: t.expose('config', {
      type: 'JSON',
      nullable: true,
      description: 'With all expressions resolved, secrets included: never logged, cached or replayed.',
    }),
    attempt: t.exposeInt('attempt'),
    leaseUntil: t.expose('leaseUntil', { type: 'DateTime' }),
    token: t.exposeString('token', {
      nullable: true,
      description: 'START of a worker: the bearer token with which it may create and cancel jobs of its own event.',
    }),
  }),
})

const ClaimedWorkRef = builder
  .objectRef<{ readonly __typename: 'ClaimedWork'; readonly items: readonly WorkItem[]; readonly waitedMs: number }>(
    'ClaimedWork',
  )
  .implement({
    fields: (t) => ({
      items: t.field({
        type: [WorkItemRef],
        complexity: { field: 1, multiplier: 100 },
        resolve: ({ items }) => [...items],
      }),
      waitedMs: t.exposeInt('waitedMs', {
        description: 'How long after the request the leases began, by the clock of the server.',
      }),
    }),
  })

/** With what their families add, each asked once. */
async function claimPayloads(context: GraphQLContext, items: readonly ClaimedItem[]): Promise<readonly WorkItem[]> {
  const handed = new Map<ClaimedItem, ClaimPayload | null>()
  for (const [family, own] of Map.groupBy(items, ({ kind }) => context.kinds.familyOf(kind))) {
    const answers = await family.claimPayloads?.(context, own)
    for (const [i, item] of own.entries()) handed.set(item, answers?.[i] ?? null)
  }
  return items.map((item) => ({ ...item, token: null, ...handed.get(item) }))
}

const ClaimWorkInput = builder.inputType('ClaimWorkInput', {
  description: 'Who claims is in the token; `instance` only names the process. `max` up to 500.',
  fields: (t) => ({
    instance: t.string({ required: true }),
    types: t.stringList({ required: true }),
    targets: t.stringList(),
    max: t.int({ required: true, defaultValue: 1 }),
    leaseMs: t.int({ required: true, defaultValue: 30_000 }),
    waitMs: t.int({
      description:
        'When there is nothing to claim, wait for so many milliseconds (30,000 at most): what comes up is claimed at once.',
    }),
  }),
})

builder.mutationField('claimWork', (t) =>
  t.field({
    type: resultUnion('ClaimWorkResult', ClaimedWorkRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    description: 'Take up to `max` triggered objects of these types, each under a lease.',
    args: { input: t.arg({ type: ClaimWorkInput, required: true }) },
    resolve: async (_, { input }, context) => {
      const refused = refusedBy(context, 'agent')
      if (refused) return refused
      const { signal, viewer } = context
      // A claim waits only where the gateway notices that its agent is gone.
      const waitMs = signal ? (input.waitMs ?? 0) : 0
      const claimed = await context.agents.claim(viewer, { ...input, targets: input.targets ?? null, waitMs, signal })
      if (!claimed.ok) return errorValue(claimed.refusal)
      const items = await claimPayloads(context, claimed.items)
      return { __typename: 'ClaimedWork' as const, items, waitedMs: claimed.waitedMs }
    },
  }),
)
