import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { pageCost } from '../../../graphql/limits.ts'
import { specLoader, statusLoader } from '../../../graphql/loaders.ts'
import { relatedOf } from '../../../graphql/object-lists.ts'
import { NodeRef, TreeObjectConnection, TreeObjectRef } from '../../../graphql/refs.ts'
import { holderOf, WorkHolderRef } from '../../../graphql/work-holder.ts'
import type { JournalRow } from '../shown-facts.ts'
import type { JobSpec } from '../spec.ts'
import { jobLoader, journalLoader, lockLoader, taskLoader } from './loaders.ts'
import { LockRef } from './lock.ts'

export const TaskRef = builder.objectRef<ObjectRow>('Task').implement({
  description: 'Jobs on machines that they lock, one after the other or as a graph.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    jobs: t.field({
      type: TreeObjectConnection,
      description: 'Its children, in the order in which they were given.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'children', row, args),
    }),
    cancelBy: t.string({
      nullable: true,
      description: 'Who has cancelled it.',
      resolve: async ({ id }, _, context) => (await taskLoader(context).load(id))?.cancelBy ?? null,
    }),
  }),
})

const JournalEntryRef = builder.objectRef<JournalRow>('JournalEntry').implement({
  description:
    'START and UNDO_STARTED are durable before a run or its undo begins; DONE, UNDO (it is undone), FAILED and ABORT say what has happened.',
  fields: (t) => ({ entry: t.exposeString('entry'), at: t.expose('at', { type: 'DateTime' }) }),
})
const JobSpecRef = builder.objectRef<JobSpec>('GadgetJobSpec').implement({
  description: 'As it was asked for: its expressions are not resolved here.',
  fields: (t) => ({
    gadget: t.exposeString('gadget'),
    args: t.stringList({ resolve: ({ args }) => [...args] }),
    when: t.exposeString('when', { nullable: true }),
    dependsOn: t.stringList({ resolve: ({ dependsOn }) => [...dependsOn] }),
  }),
})

export const GadgetJobRef = builder.objectRef<ObjectRow>('GadgetJob').implement({
  description: 'One call of a gadget within a task.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    uuid: t.id({
      nullable: true,
      description:
        'Names the job to its gadget, as PHASELINE_JOB: the same in every run, undo and abort. Null before its turn.',
      resolve: ({ jobId }) => jobId,
    }),
    spec: t.field({
      type: JobSpecRef,
      nullable: true,
      resolve: async ({ id }, _, context) =>
        ((await specLoader(context).load(id))?.spec as JobSpec | undefined) ?? null,
    }),
    when: t.string({
      nullable: true,
      description: 'The condition under which it runs.',
      resolve: async ({ id }, _, context) =>
        ((await specLoader(context).load(id))?.spec as JobSpec | undefined)?.when ?? null,
    }),
    gadget: t.string({ resolve: async ({ id }, _, context) => (await jobLoader(context).load(id))?.gadget ?? '' }),
    args: t.stringList({
      nullable: true,
      description: 'With all expressions resolved; null before its turn.',
      resolve: async ({ id }, _, context) => {
        const { args } = (await jobLoader(context).load(id)) ?? {}
        return args ? [...args] : null
      },
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it first had all its locks.',
      resolve: async ({ id }, _, context) => (await jobLoader(context).load(id))?.startedAt ?? null,
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: async ({ id }, _, context) => (await jobLoader(context).load(id))?.endedAt ?? null,
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      resolve: async ({ id }, _, context) => (await jobLoader(context).load(id))?.exports ?? null,
    }),
    activity: t.string({
      nullable: true,
      description: 'The last STEP that its gadget told.',
      resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.progress?.step ?? null,
    }),
    locks: t.field({
      type: [LockRef],
      description: 'What it holds or waits for.',
      resolve: async ({ id }, _, context) => [...((await lockLoader(context).load(id)) ?? [])],
    }),
    journal: t.field({
      type: [JournalEntryRef],
      resolve: async ({ id }, _, context) => [...((await journalLoader(context).load(id)) ?? [])],
    }),
    agent: t.field({
      type: WorkHolderRef,
      nullable: true,
      description: 'The gadget runner that has it, or last had.',
      resolve: ({ id }, _, context) => holderOf(context, id),
    }),
  }),
})
