import type { ObjectRow } from '../../core/tree.ts'
import type { GraphQLContext } from '../context.ts'
import { existing, labelLoader, pathLoader, projectLoader, referredObject, treeCountsLoader } from '../loaders.ts'
import { ObjectKindEnum } from '../schema/enums.ts'
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
import { LabelRef, TreeCountsRef } from './object-parts.ts'

const GONE = { all: 0, finished: 0 }

const rootOf = (row: ObjectRow, context: GraphQLContext): ObjectRow | Promise<ObjectRow> => {
  const root = row.id === row.rootId ? row : referredObject(context, row.rootId)
  return root instanceof Promise ? existing(root, row.rootId) : root
}

TreeObjectRef.implement({
  description: 'An object of a tree. Its phase follows the state machine of its kind.',
  interfaces: [NodeRef],
  resolveType: (row, { kinds }) => kinds.typenameOf(row.kind),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'The kind of the object.' }),
    name: t.exposeString('name', { description: 'Unique among its siblings of the same kind.' }),
    ordinal: t.exposeInt('ordinal', {
      description:
        'Place among its siblings, from 0: children of a spec have the order of the spec, others that of their creation. 0 for a root.',
    }),
    path: t.string({
      description: 'Names from the root down to the object, divided by `/`: its place in the project.',
      resolve: async ({ parentId, name }, _, context) => {
        const above = parentId === null ? null : await existing(pathLoader(context).load(parentId), parentId)
        return above === null ? name : `${above}/${name}`
      },
    }),
    project: t.field({
      type: ProjectRef,
      description: 'Project of the tree.',
      resolve: (row, _, context) => existing(projectLoader(context).load(row.projectId), row.projectId),
    }),
    labels: t.field({
      type: [LabelRef],
      description: 'Pairs that users put on the object; empty if there are none.',
      resolve: async ({ id }, _, context) =>
        Object.entries((await labelLoader(context).load(id))?.labels ?? {}).map(([key, value]) => ({ key, value })),
    }),
    parent: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object that contains it; null for the root of a tree.',
      resolve: (row, _, context) => (row.parentId ? referredObject(context, row.parentId) : null),
    }),
    root: t.field({
      type: TreeObjectRef,
      description: 'Root of the tree; the object itself if it has no parent.',
      resolve: (row, _, context) => rootOf(row, context),
    }),
    treeCounts: t.field({
      type: TreeCountsRef,
      description:
        'Counts of the objects of its tree, the same for each of them: how far the tree has come. All are 0 once the tree is gone.',
      complexity: 5,
      resolve: async ({ rootId }, _, context) => (await treeCountsLoader(context).load(rootId)) ?? GONE,
    }),
    children: t.field({
      type: TreeObjectConnection,
      description: 'Direct children, by `ordinal`.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'children', row, args),
    }),
    dependsOn: t.field({
      type: TreeObjectConnection,
      description: 'Siblings that must be done before the object starts. In a deletion they are deleted after it.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'dependsOn', row, args),
    }),
    dependents: t.field({
      type: TreeObjectConnection,
      description: 'Siblings that depend on the object.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => relatedOf(context, 'dependents', row, args),
    }),
    history: t.field({
      type: PhaseChangeConnection,
      description: 'Phase changes of the object that the log still holds, oldest first.',
      args: {
        ...t.arg.connectionArgs(),
        includeRejected: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: 'True if requests that the state machine refused are listed too.',
        }),
      },
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => historyOf(context, row, args),
    }),
    logs: t.field({
      type: LogLineConnection,
      description: 'Output and steps that agents have captured and that are still kept, oldest first.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: (row, args, context) => logsOf(context, row, args),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the object was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the object was last written.' }),
  }),
})
