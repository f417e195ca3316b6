import type { AgentPort, ClaimedItem } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import { noteSecretsRead } from '../audit/note-read.ts'
import type { ClaimPayload } from '../family.ts'
import { objectOf } from '../loaders.ts'
import { selectorOf, TargetSelectorInput } from '../objects/target-selector.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { builder } from '../schema/builder.ts'
import { LEASE_MS } from '../schema/descriptions.ts'
import { ObjectKindEnum, WorkActionEnum } from '../schema/enums.ts'
import { errorValue } from '../schema/errors.ts'
import { TreeObjectRef } from '../schema/refs.ts'
import { commandResult, errorsOf } from '../schema/result-union.ts'

type WorkItem = ClaimedItem & Pick<ClaimPayload, 'token'>

export const WorkItemRef = builder.objectRef<WorkItem>('WorkItem').implement({
  description: 'Work on one object, which the agent now holds under a lease.',
  fields: (t) => ({
    fence: t.exposeString('fence', {
      description: 'Names this claim in reports, renewals and log lines. Opaque; a later claim makes it invalid.',
    }),
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    projectId: t.exposeID('projectId', {
      nullable: true,
      description: 'Id of the project of the object; null if the object is gone.',
    }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    jobId: t.exposeID('jobId', { nullable: true, description: 'Job of the object; null if it has none.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object; null if it is deleted meanwhile, or the viewer may not read it. The lease stays.',
      resolve: objectOf,
    }),
    action: t.expose('action', { type: WorkActionEnum, description: 'The action on the object.' }),
    dryRunOf: t.field({
      type: WorkActionEnum,
      nullable: true,
      description: 'For DRY_RUN, the action that is only to be foreseen: RECONCILE or DELETE. Null for all other work.',
      resolve: ({ dryRunOf = null }) => dryRunOf,
    }),
    type: t.exposeString('type', { description: 'Type of the work.' }),
    target: t.exposeString('target', {
      nullable: true,
      description: 'The place of the work; null if its spec names no target.',
    }),
    config: t.expose('config', {
      type: 'JSON',
      nullable: true,
      description:
        'The config, with all expressions resolved; null if there is none. It may hold secrets: it is never logged, cached or sent again.',
    }),
    attempt: t.exposeInt('attempt', { description: 'Count of claims of this work, from 1, this one included.' }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'DateTime',
      description: 'When the lease ends unless it is renewed. Another agent may claim the work then.',
    }),
    traceparent: t.exposeString('traceparent', {
      nullable: true,
      description:
        'Its trace context, as the header `traceparent` of W3C Trace Context has it; null if it belongs to no sampled trace.',
    }),
    token: t.exposeString('token', {
      nullable: true,
      description:
        'Bearer token of a worker, which lets it create and cancel jobs of its own event; null for all other work.',
    }),
  }),
})

const ClaimedWorkRef = builder
  .objectRef<{ readonly __typename: 'ClaimedWork'; readonly items: readonly WorkItem[]; readonly waitedMs: number }>(
    'ClaimedWork',
  )
  .implement({
    description: 'Work that the agent now holds.',
    fields: (t) => ({
      items: t.field({
        type: [WorkItemRef],
        description: 'Each piece of work; empty if there is none to claim.',
        complexity: { field: 1, multiplier: 100 },
        resolve: ({ items }) => [...items],
      }),
      waitedMs: t.exposeInt('waitedMs', {
        description: 'Milliseconds from the request to the start of the leases, by the clock of the server.',
      }),
    }),
  })

/** Adds the families' payloads to items; each family is called once. */
async function claimPayloads(context: ResolverContext, items: readonly ClaimedItem[]): Promise<readonly WorkItem[]> {
  const payloads = new Map<ClaimedItem, ClaimPayload | null>()
  for (const [family, own] of Map.groupBy(items, ({ kind }) => context.kinds.familyOf(kind))) {
    const answers = await family.claimPayloads?.(context, own)
    for (const [i, item] of own.entries()) {
      const payload = answers?.[i] ?? null
      payloads.set(item, payload)
      const { objectId: id, kind, name } = item
      if (payload?.secretNames?.length) noteSecretsRead(context, { id, kind, name }, payload.secretNames)
    }
  }
  return items.map((item) => ({ ...item, token: null, ...payloads.get(item) }))
}

builder.mutationField('claimWork', (t) =>
  t.fieldWithInput({
    right: RIGHTS.claimWork,
    ...commandResult('ClaimWorkResult', ClaimedWorkRef, errorsOf<AgentPort['claim']>({})),
    description: 'Claims work, each object under a lease that the agent renews (renewLeases) while it works.',
    typeOptions: { description: 'The work to claim. The token identifies the agent.' },
    input: {
      instance: t.input.string({
        required: true,
        limit: 'instance',
        description: 'Name of the process, unique among those of the token.',
      }),
      types: t.input.stringList({
        required: true,
        limit: 'workTypes',
        description: 'Types of work, all of which the token must allow.',
      }),
      targets: t.input.stringList({
        limit: 'targets',
        description:
          'Targets of the work. Left out or null: all that the token allows, or with `targetSelector` none. Targets that it does not allow are ignored.',
      }),
      targetSelector: t.input.field({
        type: TargetSelectorInput,
        description:
          'Targets of the work by their type and labels, among those that the token allows. Unless `targets` is given, work without a target is left to others then. Left out or null: `targets` says it all.',
      }),
      dryRuns: t.input.boolean({
        required: true,
        defaultValue: false,
        description:
          'True if the agent does dry runs (DRY_RUN) of these types as well, and reports them with reportDryRuns. They come before other work.',
      }),
      max: t.input.int({ required: true, defaultValue: 1, description: 'At most this many objects, 1 to 500.' }),
      leaseMs: t.input.int({ required: true, defaultValue: 30_000, description: LEASE_MS }),
      waitMs: t.input.int({
        description:
          'Milliseconds to wait for work if there is none, at most 30,000; work that comes up is claimed at once. Left out or null: 0.',
      }),
    },
    resolve: async (_, { input }, context) => {
      const { signal, viewer } = context
      // A claim waits only where the gateway notices that its agent is gone.
      const waitMs = signal ? (input.waitMs ?? 0) : 0
      const selected = selectorOf(input.targetSelector, 'input.targetSelector')
      if (!selected.ok) return errorValue(selected.refusal)
      const { targetSelector } = selected
      const request = { ...input, targets: input.targets ?? null, targetSelector, waitMs, signal }
      const claimed = await context.agents.claim(viewer, request)
      if (!claimed.ok) return errorValue(claimed.refusal)
      const items = await claimPayloads(context, claimed.items)
      return { __typename: 'ClaimedWork' as const, items, waitedMs: claimed.waitedMs }
    },
  }),
)
