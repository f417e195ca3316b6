import type { ObjectRow } from '../../core/tree.ts'
import type { GraphQLContext } from '../context.ts'
import { labelLoader, projectLoader, referredObject } from '../loaders.ts'
import { ObjectKindEnum } from '../schema/enums.ts'
import { notFoundFailure } from '../schema/failures.ts'
import { pageCost } from '../schema/limits.ts'
import {
  LogLineConnection,
  NodeRef,
  PhaseChangeConnection,
  ProjectRef,
  TreeObjectConnection,
  TreeObjectRef,
} from '../schema/refs.ts'
import { historyOf, logsOf, relatedOf } from './object-lists.ts'
import { LabelRef } from './object-parts.ts'

/** A foreign key says that it exists; null can only mean that it went while this was being answered. */
async function existing<T>(found: Promise<T | null>, id: string): Promise<T> {
  const value = await found
  if (value === null) throw notFoundFailure(id)
  return value
}

const rootOf = (row: ObjectRow, context: GraphQLContext): ObjectRow | Promise<ObjectRow> => {
  const root = row.id === row.rootId ? row : referredObject(context, row.rootId)
  return root instanceof Promise ? existing(root, row.rootId) : root
}

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
      resolve: (row, _, context) => existing(projectLoader(context).load(row.projectId), row.projectId),
    }),
    labels: t.field({
      type: [LabelRef],
      resolve: async ({ id }, _, context) =>
        Object.entries((await labelLoader(context).load(id))?.labels ?? {}).map(([key, value]) => ({ key, value })),
    }),
    parent: t.field({
      type: TreeObjectRef,
      nullable: true,
      resolve: (row, _, context) => (row.parentId ? referredObject(context, row.parentId) : null),
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
