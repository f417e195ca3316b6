import type { ObjectRef } from '@pothos/core'
import { builder, type Types } from '../../../graphql/builder.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import { loadSide } from '../../../graphql/loaders.ts'
import { LabelRef } from '../../../graphql/object-parts.ts'
import { ProjectRef } from '../../../graphql/refs.ts'
import { loadProjectSpecs, loadSecrets, type ProjectRow, type SecretRow } from '../../../store/loaders/projects.ts'
import { type Limits, type ProjectSpec, STRATEGIES, type Subscription, type WorkloadSpec } from '../spec.ts'
import { WorkloadSpecRef } from './workload-spec.ts'

/** What a project is for its pipelines. */

/** A member of a result union is told by its `__typename`. */
export type ProjectValue = ProjectRow & { readonly __typename: 'Project' }
export const ProjectMember = ProjectRef as unknown as ObjectRef<Types, ProjectValue>
export type SecretValue = SecretRow & { readonly __typename: 'Secret' }

export const StrategyEnum = builder.enumType('ProjectStrategy', {
  description: 'What becomes of events that wait: each has its turn, or only the latest of one source and type.',
  values: STRATEGIES,
})

const pairs = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).map(([key, value]) => ({ key, value }))

const SubscriptionRef = builder.objectRef<Subscription>('EventSubscription').implement({
  description: 'Which events a project has workers for.',
  fields: (t) => ({
    source: t.exposeString('source'),
    types: t.stringList({ description: '`*` stands for every type.', resolve: ({ types }) => [...types] }),
    qualifiers: t.field({
      type: [LabelRef],
      description: 'Exactly those of the event, both ways.',
      resolve: ({ qualifiers }) => pairs(qualifiers),
    }),
    labels: t.field({
      type: [LabelRef],
      description: "All of them among the event's.",
      resolve: ({ labels }) => pairs(labels),
    }),
    task: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Jobs of a task that is created instead of a worker, as they were asked for; null: a worker is.',
      resolve: ({ task }) => task,
    }),
  }),
})

const LimitsRef = builder.objectRef<Limits>('ProjectLimits').implement({
  description: 'How much of a project may be started at the same time; null: as much as there is.',
  fields: (t) => ({
    maxWorkers: t.exposeInt('maxWorkers', { nullable: true }),
    maxJobs: t.exposeInt('maxJobs', { nullable: true }),
    strategy: t.expose('strategy', { type: StrategyEnum }),
  }),
})

export const SecretRef = builder.objectRef<SecretValue>('Secret').implement({
  description: 'That there is a secret. What it is cannot be read: workers and jobs are handed it when they start.',
  fields: (t) => ({ name: t.exposeString('name'), updatedAt: t.expose('updatedAt', { type: 'DateTime' }) }),
})

const specLoader = perOperation(({ pool }) => loadSide((ids) => loadProjectSpecs(pool, ids)))
const secretsLoader = perOperation(({ pool }) => loadSide((ids) => loadSecrets(pool, ids)))

/** It was judged when it was written. */
async function specOf(context: GraphQLContext, id: string): Promise<ProjectSpec> {
  const row = await specLoader(context).load(id)
  const { workerTemplate = null, subscriptions = [], maxWorkers = null, maxJobs = null, strategy = 'QUEUE' } = row ?? {}
  return {
    workerTemplate: workerTemplate as WorkloadSpec | null,
    subscriptions: subscriptions as readonly Subscription[],
    limits: { maxWorkers, maxJobs, strategy },
  }
}

builder.objectFields(ProjectRef, (t) => ({
  workerTemplate: t.field({
    type: WorkloadSpecRef,
    nullable: true,
    description: 'What its workers run; null: it has none. Each event keeps what it was when it came.',
    resolve: async ({ id }, _, context) => (await specOf(context, id)).workerTemplate,
  }),
  subscriptions: t.field({
    type: [SubscriptionRef],
    description: 'At most 64.',
    resolve: async ({ id }, _, context) => [...(await specOf(context, id)).subscriptions],
  }),
  limits: t.field({
    type: LimitsRef,
    resolve: async ({ id }, _, context) => (await specOf(context, id)).limits,
  }),
  secrets: t.field({
    type: [SecretRef],
    description: 'Their names, never their values; at most 256.',
    resolve: async ({ id }, _, context) =>
      ((await secretsLoader(context).load(id)) ?? []).map((row) => ({ ...row, __typename: 'Secret' as const })),
  }),
}))
