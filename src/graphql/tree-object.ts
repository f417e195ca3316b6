import type { ObjectRow } from '../core/tree.ts'
import type { GraphQLContext } from './context.ts'
import { ObjectKindEnum, PhaseEnum } from './enums.ts'
import { pageCost } from './limits.ts'
import { labelLoader, objectLoader, projectLoader, statusLoader } from './loaders.ts'
import { blockersLoader, deadlinesLoader, finishedLoader, historyOf, logsOf, relatedOf } from './object-lists.ts'
import { DeadlineRef, LabelRef, ObjectErrorRef, ProgressRef } from './object-parts.ts'
import {
  BlockerRef,
  LogLineConnection,
  NodeRef,
  PhaseChangeConnection,
  ProjectRef,
  TransitionRef,
  TreeObjectConnection,
  TreeObjectRef,
} from './refs.ts'

/** Loads what must exist: a foreign key says so. */
async function existing<T>(found: Promise<T | null>, what: string): Promise<T> {
  const value = await found
  if (value === null) throw new Error(`${what} is gone`)
  return value
}

const rootOf = (row: ObjectRow, context: GraphQLContext): ObjectRow | Promise<ObjectRow> =>
  row.id === row.rootId ? row : existing(objectLoader(context).load(row.rootId), 'the root')

TreeObjectRef.implement({
  description: 'An object in a tree, moved through guarded phases.',
  interfaces: [NodeRef],
  resolveType: (row, { kinds }) => kinds.typenameOf(row.kind),
  fields: (t) => ({
    id: t.exposeID('id'),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    name: t.exposeString('name', { description: 'Unique among its siblings of the same kind.' }),
    project: t.field({
      type: ProjectRef,
      resolve: (row, _, context) => existing(projectLoader(context).load(row.projectId), 'the project'),
    }),
    labels: t.field({
      type: [LabelRef],
      resolve: async ({ id }, _, context) =>
        Object.entries((await labelLoader(context).load(id))?.labels ?? {}).map(([key, value]) => ({ key, value })),
    }),
    parent: t.field({
      type: TreeObjectRef,
      nullable: true,
      resolve: (row, _, context) => (row.parentId ? objectLoader(context).load(row.parentId) : null),
    }),
    root: t.field({ type: TreeObjectRef, resolve: (row, _, context) => rootOf(row, context) }),
    children: t.field({
      type: TreeObjectConnection,
      description: 'Direct children, in creation order.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'children', row, args),
    }),
    dependsOn: t.field({
      type: TreeObjectConnection,
      description: 'Siblings that must be done before this one (before it is triggered; after it, on deletion).',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'dependsOn', row, args),
    }),
    dependents: t.field({
      type: TreeObjectConnection,
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'dependents', row, args),
    }),
    phase: t.expose('phase', { type: PhaseEnum }),
    phaseSince: t.expose('phaseSince', { type: 'DateTime' }),
    finished: t.boolean({
      description: 'In a final phase of its machine, with no job outstanding.',
      resolve: (row, _, context) => context.kinds.isAtRest(row) && finishedLoader(context).load(row),
    }),
    generation: t.exposeInt('generation', { description: 'Counts changes of the spec, from 1.' }),
    observedGeneration: t.exposeInt('observedGeneration', {
      description: 'The generation that the last finished or running job took in.',
    }),
    revision: t.exposeInt('revision', {
      description: 'Grows with every write to the object; a phase change carries the revision that it made.',
    }),
    jobId: t.exposeID('jobId', { nullable: true }),
    finishedJobId: t.exposeID('finishedJobId', { nullable: true }),
    deletionRequestedAt: t.expose('deletionRequestedAt', { type: 'DateTime', nullable: true }),
    error: t.field({
      type: ObjectErrorRef,
      nullable: true,
      description: "Why the object is not in the phase that was wanted. Never used for 'still waiting': see blockedBy.",
      resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.error ?? null,
    }),
    blockedBy: t.field({
      type: [BlockerRef],
      description: 'What exactly this object waits for right now, root cause first; empty when it waits for nothing.',
      args: { first: t.arg.int({ required: true, defaultValue: 10 }) },
      complexity: ({ first }) => ({ field: 5, multiplier: first }),
      resolve: async (row, { first }, context) =>
        (await blockersLoader(context).load(row)).slice(0, Math.max(0, first)),
    }),
    deadlines: t.field({
      type: [DeadlineRef],
      description: 'The clocks that run for this object.',
      resolve: async (row, _, context) => [...(await deadlinesLoader(context).load(row))],
    }),
    allowedTransitions: t.field({
      type: [TransitionRef],
      description: 'The rows of the machine that the viewer may take from here.',
      resolve: ({ kind, phase }, _, { kinds, viewer }) =>
        kinds
          .machinesOf(kind)
          .flatMap(({ transitions }) => transitions.filter((row) => row.from === phase && row.actor === viewer.actor)),
    }),
    progress: t.field({
      type: ProgressRef,
      nullable: true,
      resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.progress ?? null,
    }),
    history: t.field({
      type: PhaseChangeConnection,
      description: "The object's phase changes, oldest first.",
      args: {
        ...t.arg.connectionArgs(),
        includeRejected: t.arg.boolean({ required: true, defaultValue: false }),
      },
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => historyOf(context, row, args),
    }),
    logs: t.field({
      type: LogLineConnection,
      description: 'Captured output and steps, oldest first.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => logsOf(context, row, args),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})
