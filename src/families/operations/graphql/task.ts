import type { ObjectRow } from '../../../core/tree.ts'
import { WorkObjectRef } from '../../../graphql/agents/work-object.ts'
import { sideField, sideObject, specLoader, statusLoader } from '../../../graphql/loaders.ts'
import { relatedOf } from '../../../graphql/objects/object-lists.ts'
import { EnvVariableRef } from '../../../graphql/objects/object-parts.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectConnection, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { addGate } from '../../gate-mutations.ts'
import { RetryPolicyRef } from '../../retry-input.ts'
import type { StartGate } from '../../start-gate.ts'
import type { JobSpec } from '../rules/spec.ts'
import type { JournalRow } from '../store/details.ts'
import { jobLoader, journalLoader, lockLoader, taskLoader } from './loaders.ts'
import { LockRef } from './lock.ts'

export const TaskRef = builder.objectRef<ObjectRow>('Task')
TaskRef.implement({
  description:
    'Gadget jobs that run one after the other, or as a graph, each under locks on the resources that it uses. It ends when all its jobs have ended.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    jobs: t.field({
      type: TreeObjectConnection,
      description: 'Gadget jobs of the task, in the order in which they were given.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'children', row, args),
    }),
    retryOf: t.field({
      type: TaskRef,
      nullable: true,
      description: 'The task whose jobs this one runs again; null if it is no retry, and once that task is deleted.',
      resolve: sideObject(taskLoader, 'retryOf'),
    }),
    cancelBy: t.string({
      nullable: true,
      description: 'Name of the token of the caller that cancelled the task; null if none did.',
      resolve: sideField(taskLoader, 'cancelBy', null),
    }),
  }),
})

const JournalEntryRef = builder.objectRef<JournalRow>('JournalEntry').implement({
  description: 'An entry in the journal of a gadget job, from which recovery tells what has to be done.',
  fields: (t) => ({
    entry: t.exposeString('entry', {
      description:
        'START or UNDO_STARTED, durable before a run or its undo begins; DONE, UNDO (the undo has succeeded), FAILED, ABORT or RETRY (undone, it is to be attempted again), written when it has happened.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the entry was written.' }),
  }),
})
const JobSpecRef = builder.objectRef<JobSpec>('GadgetJobSpec').implement({
  description: 'Specification of a gadget job as it was given, with its expressions unresolved.',
  fields: (t) => ({
    gadget: t.exposeString('gadget', { description: 'File name of the gadget in a gadget folder of the runner.' }),
    args: t.stringList({
      description: 'Arguments of the gadget, which may hold expressions; at most 256.',
      resolve: ({ args }) => [...args],
    }),
    env: t.field({
      type: [EnvVariableRef],
      description: 'Environment variables of the gadget, whose values may hold expressions; at most 64.',
      resolve: ({ env }) => Object.entries(env).map(([name, value]) => ({ name, value })),
    }),
    when: t.exposeString('when', {
      nullable: true,
      description: 'Expression under which the job runs; if it is false the job is SKIPPED. Null: it always runs.',
    }),
    retry: t.field({
      type: RetryPolicyRef,
      nullable: true,
      description:
        'Policy for further attempts after the gadget has failed and was undone; null: the first failure is final.',
      resolve: ({ retry }) => retry ?? null,
    }),
    gate: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Gate at which it waits when its turn comes, as it was written; null: none.',
      resolve: ({ gate }) => gate,
    }),
    dependsOn: t.stringList({
      description: 'Names of the jobs that come directly before it; in a task without any dependsOn, the previous job.',
      resolve: ({ dependsOn }) => [...dependsOn],
    }),
  }),
})

export const GadgetJobRef = builder.objectRef<ObjectRow>('GadgetJob').implement({
  description:
    'A job of a task that runs one gadget: it declares its locks, waits for them, runs, and is undone if it fails or its runner is lost.',
  interfaces: [NodeRef, TreeObjectRef, WorkObjectRef],
  fields: (t) => ({
    uuid: t.id({
      nullable: true,
      description:
        'Id that the gadget gets as PHASELINE_JOB, the same in every run, undo and abort. Null until the turn of the job comes, and if it ended before.',
      resolve: ({ jobId }) => jobId,
    }),
    gadgetJobSpec: t.field({
      type: JobSpecRef,
      nullable: true,
      description: 'Specification as it was given; null once the job is deleted.',
      resolve: async ({ id }, _, context) =>
        ((await specLoader(context).load(id))?.spec as JobSpec | undefined) ?? null,
    }),
    when: t.string({
      nullable: true,
      description: 'Expression under which the job runs, the same as in `gadgetJobSpec`. Null: it always runs.',
      resolve: async ({ id }, _, context) =>
        ((await specLoader(context).load(id))?.spec as JobSpec | undefined)?.when ?? null,
    }),
    gadget: t.string({
      description: 'File name of the gadget in a gadget folder of the runner.',
      resolve: sideField(jobLoader, 'gadget', ''),
    }),
    args: t.stringList({
      nullable: true,
      description: 'Arguments of the gadget with their expressions resolved; null until the turn of the job comes.',
      resolve: async ({ id }, _, context) => {
        const { args } = (await jobLoader(context).load(id)) ?? {}
        return args ? [...args] : null
      },
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it had all its locks and first entered RUNNING; null before.',
      resolve: sideField(jobLoader, 'startedAt', null),
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it entered a final phase; null before. UNDO_FAILED is not final.',
      resolve: sideField(jobLoader, 'endedAt', null),
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'JSON object of the values that the gadget exported, by name; empty if there are none. Null until the job is DONE.',
      resolve: sideField(jobLoader, 'exports', null),
    }),
    activity: t.string({
      nullable: true,
      description: 'Text of the last STEP that the gadget reported; null before the first.',
      resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.progress?.step ?? null,
    }),
    locks: t.field({
      type: [LockRef],
      description:
        'Locks that it holds or waits for, by resource; empty before they are declared and once it has ended.',
      resolve: async ({ id }, _, context) => [...((await lockLoader(context).load(id)) ?? [])],
    }),
    journal: t.field({
      type: [JournalEntryRef],
      description: 'Journal of its runs, undos and aborts, oldest entry first; empty until it has all its locks.',
      resolve: async ({ id }, _, context) => [...((await journalLoader(context).load(id)) ?? [])],
    }),
  }),
})
addGate(
  GadgetJobRef,
  'Its gate, which is closed when its turn comes; null: it has none.',
  async (context, id) => ((await jobLoader(context).load(id))?.gate as StartGate | null | undefined) ?? null,
)
