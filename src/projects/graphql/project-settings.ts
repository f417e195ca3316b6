import type { ObjectRef } from '@pothos/core'
import { hasRight, RIGHTS } from '../../core/rights.ts'
import { type GraphQLContext, perOperation } from '../../graphql/context.ts'
import { loadSide } from '../../graphql/loaders.ts'
import { LabelRef } from '../../graphql/objects/object-parts.ts'
import { builder, type Types } from '../../graphql/schema/builder.ts'
import { ProjectRef } from '../../graphql/schema/refs.ts'
import { loadProjectSpecs, loadSecrets, type ProjectRow, type SecretRow } from '../../store/loaders/projects.ts'
import type { Limits, ProjectSpec, Strategy, Subscription, WorkloadSpec } from '../rules/spec.ts'
import { WorkloadSpecRef } from './workload-spec.ts'

/** The settings of a project, and the names of its secrets. */

/** A member of a result union is known by its `__typename`. */
export type ProjectValue = ProjectRow & { readonly __typename: 'Project' }
export const ProjectMember = ProjectRef as unknown as ObjectRef<Types, ProjectValue>
export type SecretValue = SecretRow & { readonly __typename: 'Secret' }

export const StrategyEnum = builder.enumType('ProjectStrategy', {
  description: 'The handling of events that wait for a slot when a later one arrives.',
  values: {
    QUEUE: { description: 'Every event has its turn, first in, first out.' },
    LATEST_ONLY: {
      description:
        'A new event, or a clone, cancels those of the project with the same source and type that are PENDING.',
    },
  } satisfies Record<Strategy, { description: string }>,
})

const pairs = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).map(([key, value]) => ({ key, value }))

const SubscriptionRef = builder.objectRef<Subscription>('EventSubscription').implement({
  description:
    'A rule of a project for events that name no project: an event that matches it creates a worker or a task. Several matching ones with a worker create one event.',
  fields: (t) => ({
    source: t.exposeString('source', { description: 'Source that the event must have exactly.' }),
    types: t.stringList({
      description: 'Types of which the event must have one, 1 to 64; `*` stands for every type.',
      resolve: ({ types }) => [...types],
    }),
    qualifiers: t.field({
      type: [LabelRef],
      description: 'Pairs that must be all qualifiers of the event, no more and no fewer.',
      resolve: ({ qualifiers }) => pairs(qualifiers),
    }),
    labels: t.field({
      type: [LabelRef],
      description: 'Pairs that must be among the labels of the event.',
      resolve: ({ labels }) => pairs(labels),
    }),
    task: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Jobs of the task that is created instead of a worker, as given in GadgetJobInput; null if a worker is created.',
      resolve: ({ task }) => task,
    }),
  }),
})

const LimitsRef = builder.objectRef<Limits>('ProjectLimits').implement({
  description: 'How many workers and jobs of a project may hold a slot at the same time, from STARTING to their end.',
  fields: (t) => ({
    maxWorkers: t.exposeInt('maxWorkers', {
      nullable: true,
      description: 'Most workers, 0 to 100,000; null: only the limit of all projects holds.',
    }),
    maxJobs: t.exposeInt('maxJobs', {
      nullable: true,
      description: 'Most jobs, 0 to 100,000; null: only the limit of all projects holds.',
    }),
    strategy: t.expose('strategy', { type: StrategyEnum, description: 'The handling of waiting events.' }),
  }),
})

export const SecretRef = builder.objectRef<SecretValue>('Secret').implement({
  description:
    'A secret of a project. Its value cannot be read: the runtime gets it with the start of a worker or a job.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the secret, and of its environment variable.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its value was last set.' }),
  }),
})

const specLoader = perOperation(({ pool }) => loadSide((ids) => loadProjectSpecs(pool, ids)))
const secretsLoader = perOperation(({ pool }) => loadSide((ids) => loadSecrets(pool, ids)))

const readsSettings = ({ viewer }: GraphQLContext, projectId: string): boolean =>
  hasRight(viewer, RIGHTS.readSettings, projectId)

/** Trusts the stored settings, which were checked when they were written. */
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
    description:
      'Program that the workers of the project run; null if the project gets no events, and for a worker. Each event keeps a copy from its creation.',
    resolve: async ({ id }, _, context) =>
      readsSettings(context, id) ? (await specOf(context, id)).workerTemplate : null,
  }),
  subscriptions: t.field({
    type: [SubscriptionRef],
    description:
      'Rules for events that name no project, in the order in which they were given; at most 64. Empty for a worker.',
    resolve: async ({ id }, _, context) =>
      readsSettings(context, id) ? [...(await specOf(context, id)).subscriptions] : [],
  }),
  limits: t.field({
    type: LimitsRef,
    description: 'How many of its workers and jobs may run at the same time.',
    resolve: async ({ id }, _, context) => (await specOf(context, id)).limits,
  }),
  secrets: t.field({
    type: [SecretRef],
    description: 'Names of the secrets of the project, at most 256. Values cannot be read. Empty for a worker.',
    resolve: async ({ id }, _, context) =>
      readsSettings(context, id)
        ? ((await secretsLoader(context).load(id)) ?? []).map((row) => ({ ...row, __typename: 'Secret' as const }))
        : [],
  }),
}))
