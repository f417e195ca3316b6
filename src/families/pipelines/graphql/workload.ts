import type { ObjectRow } from '../../../core/tree.ts'
import { WorkObjectRef } from '../../../graphql/agents/work-object.ts'
import type { BlockerValue } from '../../../graphql/family.ts'
import { sideField, sideObject, workLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { ObjectKindEnum } from '../../../graphql/schema/enums.ts'
import { BlockerRef, NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { WorkloadSpecRef } from '../../../projects/graphql/workload-spec.ts'
import { addGate } from '../../gate-mutations.ts'
import type { PipelinesBlocker } from '../rules/blockers.ts'
import { type Resource, resourcesOf } from '../rules/resources.ts'
import { gateOf, specOf, workloadLoader } from './loaders.ts'

const ResourceKindEnum = builder.enumType('ResourceKind', {
  description: 'Kinds of resource that a runtime keeps for a worker or a job.',
  values: {
    PROCESS: { description: 'The running program, with whatever the runtime made to run it.' },
    SECRETS: { description: 'The secrets of the event, as the runtime stored them for the program.' },
    WORKSPACE: {
      description: 'The working folder of a worker whose spec says `workspace: true`. Its jobs never remove it.',
    },
  } as const,
})
const ResourceRef = builder.objectRef<Resource>('WorkloadResource').implement({
  description: 'A resource that a runtime keeps for a worker or a job, from its claim until it is removed.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ResourceKindEnum, description: 'Kind of resource.' }),
    removeAt: t.expose('removeAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the removal is due: at once, or, if the program ended by itself, after a delay in which its output drains (PHASELINE_CLEANUP_DELAY_MS, 60 s by default). Null until the worker or job has ended.',
    }),
    removedAt: t.expose('removedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the runtime reported the removal; null before.',
    }),
  }),
})

const common = (name: 'Worker' | 'Job', description: string) =>
  builder.objectRef<ObjectRow>(name).implement({
    description,
    interfaces: [NodeRef, TreeObjectRef, WorkObjectRef],
    fields: (t) => ({
      workloadSpec: t.field({
        type: WorkloadSpecRef,
        nullable: true,
        description:
          'Specification as copied when the object was created; later changes of the project do not reach it. Null once the object is deleted.',
        resolve: ({ id }, _, context) => specOf(context, id),
      }),
      exitCode: t.int({
        nullable: true,
        description:
          'Exit code of the program. Null before its end, if a signal ended it, and if the runtime reported none.',
        resolve: sideField(workloadLoader, 'exitCode', null),
      }),
      signal: t.string({
        nullable: true,
        description:
          'Name of the signal that ended the program, e.g. SIGKILL. Null if none did, and if the runtime reported none.',
        resolve: sideField(workloadLoader, 'signal', null),
      }),
      commit: t.string({
        nullable: true,
        description:
          'Commit of the repository that its runtime has cloned for it, as 40 or 64 hexadecimal digits. Null before it is RUNNING, and if its spec has no clone.',
        resolve: sideField(workloadLoader, 'commit', null),
      }),
      startedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When a runtime first claimed it; null before, and for a job that is inherited.',
        resolve: sideField(workloadLoader, 'startedAt', null),
      }),
      endedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When it entered a final phase; null before.',
        resolve: sideField(workloadLoader, 'endedAt', null),
      }),
      attempt: t.int({
        description:
          'How often a runtime has claimed its work; 0 before the first claim. A runtime that comes back claims it again, and so does the one that removes its resources.',
        resolve: sideField(workLoader, 'attempt', 0),
      }),
      resources: t.field({
        type: [ResourceRef],
        description: 'Resources that a runtime keeps, or kept, for it; empty before the first claim.',
        resolve: async ({ id, kind }, _, context) => {
          const found = await workloadLoader(context).load(id)
          return found ? [...resourcesOf(kind, found)] : []
        },
      }),
    }),
  })

export const WorkerRef = common(
  'Worker',
  'The program that an event starts, from the worker template of its project. It may create jobs; jobs that have not ended when it ends are cancelled.',
)
export const JobRef = common(
  'Job',
  'A program that a worker creates for its event. Its outcome has no bearing on the phase of the worker.',
)

builder.objectField(JobRef, 'inheritedFrom', (t) =>
  t.field({
    type: JobRef,
    nullable: true,
    description:
      'The job of an earlier event that succeeded and that this one stands for without running again. Null if the job runs itself, and once that job is deleted.',
    resolve: sideObject(workloadLoader, 'inheritedFrom'),
  }),
)

for (const ref of [WorkerRef, JobRef]) addGate(ref, 'The gate before it starts; null: it has none.', gateOf)

type CapacityBlocker = Extract<PipelinesBlocker, { readonly reason: 'CAPACITY' }> & BlockerValue
builder.objectRef<CapacityBlocker>('CapacityBlocker').implement({
  description: 'The worker or job waits for a slot: its project, or all projects together, have reached their limit.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    pool: t.expose('pool', {
      type: ObjectKindEnum,
      description: 'WORKER or JOB: workers and jobs have separate slots.',
    }),
    projectName: t.string({
      nullable: true,
      description:
        'Name of the project whose limit is reached; null for the limit of all projects together (PHASELINE_MAX_WORKERS, PHASELINE_MAX_JOBS).',
      resolve: ({ project }) => project,
    }),
    limit: t.exposeInt('limit', { description: 'Count of slots that this limit allows.' }),
    held: t.exposeInt('held', {
      description:
        'Count of slots that are held under this limit. A slot is held from STARTING until its runtime says that the process has ended.',
    }),
    position: t.exposeInt('position', { description: 'Place in the queue of its project, from 1.' }),
  }),
})
