import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { ObjectKindEnum } from '../../../graphql/enums.ts'
import type { BlockerValue } from '../../../graphql/family.ts'
import { objectLoader, workLoader } from '../../../graphql/loaders.ts'
import { BlockerRef, NodeRef, TreeObjectRef } from '../../../graphql/refs.ts'
import { holderOf, WorkHolderRef } from '../../../graphql/work-holder.ts'
import type { PipelinesBlocker } from '../blockers.ts'
import { type Resource, resourcesOf } from '../resources.ts'
import { specOf, workloadLoader } from './loaders.ts'
import { WorkloadSpecRef } from './workload-spec.ts'

const ResourceKindEnum = builder.enumType('ResourceKind', { values: ['PROCESS', 'SECRETS', 'WORKSPACE'] as const })
const ResourceRef = builder.objectRef<Resource>('WorkloadResource').implement({
  description: 'Something that a runtime keeps for a worker or a job.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ResourceKindEnum }),
    removeAt: t.expose('removeAt', {
      type: 'DateTime',
      nullable: true,
      description: '60 seconds after a normal end, so that logs drain; at once after any other. Null: not yet.',
    }),
    removedAt: t.expose('removedAt', { type: 'DateTime', nullable: true }),
  }),
})

const facts = (context: GraphQLContext, id: string) => workloadLoader(context).load(id)

const common = (name: 'Worker' | 'Job', description: string) =>
  builder.objectRef<ObjectRow>(name).implement({
    description,
    interfaces: [NodeRef, TreeObjectRef],
    fields: (t) => ({
      spec: t.field({
        type: WorkloadSpecRef,
        nullable: true,
        description: 'As it was when the event came, or the job was created. Null once it is gone.',
        resolve: ({ id }, _, context) => specOf(context, id),
      }),
      exitCode: t.int({
        nullable: true,
        description: 'Null while it runs, when a signal ended it, and when its runtime could not tell.',
        resolve: async ({ id }, _, context) => (await facts(context, id))?.exitCode ?? null,
      }),
      signal: t.string({
        nullable: true,
        description: 'Which ended it, e.g. SIGKILL.',
        resolve: async ({ id }, _, context) => (await facts(context, id))?.signal ?? null,
      }),
      startedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When a runtime took it.',
        resolve: async ({ id }, _, context) => (await facts(context, id))?.startedAt ?? null,
      }),
      endedAt: t.field({
        type: 'DateTime',
        nullable: true,
        resolve: async ({ id }, _, context) => (await facts(context, id))?.endedAt ?? null,
      }),
      agent: t.field({
        type: WorkHolderRef,
        nullable: true,
        description: 'The runtime that has it, or last had.',
        resolve: ({ id }, _, context) => holderOf(context, id),
      }),
      attempt: t.int({
        description: 'How often a runtime has taken it up: more than once when one came back.',
        resolve: async ({ id }, _, context) => (await workLoader(context).load(id))?.attempt ?? 0,
      }),
      resources: t.field({
        type: [ResourceRef],
        resolve: async ({ id, kind }, _, context) => {
          const found = await facts(context, id)
          return found ? [...resourcesOf(kind, found)] : []
        },
      }),
    }),
  })

export const WorkerRef = common('Worker', 'What an event starts: it may start jobs, and ends with its event.')
export const JobRef = common('Job', 'What a worker starts. How it ends has no bearing on the phase of its worker.')

builder.objectField(JobRef, 'inheritedFrom', (t) =>
  t.field({
    type: JobRef,
    nullable: true,
    description: 'The job of the retried event that it stands for; null as well once that is gone.',
    resolve: async ({ id }, _, context) => {
      const { inheritedFrom } = (await facts(context, id)) ?? {}
      return inheritedFrom ? objectLoader(context).load(inheritedFrom) : null
    },
  }),
)

type CapacityBlocker = Extract<PipelinesBlocker, { readonly reason: 'CAPACITY' }> & BlockerValue
builder.objectRef<CapacityBlocker>('CapacityBlocker').implement({
  description: 'All slots that it could have are taken.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    pool: t.expose('pool', { type: ObjectKindEnum, description: 'WORKER or JOB: they have slots of their own.' }),
    projectName: t.string({
      nullable: true,
      description: 'Whose limit it is; null: that of all projects together.',
      resolve: ({ project }) => project,
    }),
    limit: t.exposeInt('limit'),
    held: t.exposeInt('held'),
    position: t.exposeInt('position', { description: 'From 1, among those of its project that wait.' }),
  }),
})
