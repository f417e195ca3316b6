import type { DataObjectRow, ProjectRow } from '../../store/loaders/projects.ts'
import {
  countDataObjects,
  countProjects,
  listProjects,
  loadDataObjects,
  loadProjects,
} from '../../store/loaders/projects.ts'
import type { Window } from '../../store/loaders/window.ts'
import { perOperation } from '../context.ts'
import { loadCounts, loadPages, objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { nameCursor } from '../schema/cursors.ts'
import { pageCost } from '../schema/limits.ts'
import {
  DataObjectConnection,
  DataObjectRef,
  type DataObjectValue,
  NodeRef,
  ProjectConnection,
  ProjectRef,
  TreeObjectRef,
} from '../schema/refs.ts'

const dataObjects = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Window<string>) => loadDataObjects(pool, ids, window)),
  counts: loadCounts((ids) => countDataObjects(pool, ids)),
}))
const brand = (row: DataObjectRow): DataObjectValue => ({ ...row, __typename: 'DataObject' })

ProjectRef.implement({
  description: 'A scope: the roots in it see the data in it.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    dataObjects: t.field({
      type: DataObjectConnection,
      description: 'What the roots of the project can import, by name.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: nameCursor,
          position: ({ name }: DataObjectValue) => name,
          load: async (window) => (await dataObjects(context).pages.load({ id, window })).map(brand),
          count: () => dataObjects(context).counts.load(id),
        }),
    }),
  }),
})

DataObjectRef.implement({
  description: "Data in a project's scope.",
  fields: (t) => ({
    name: t.exposeString('name'),
    value: t.expose('value', { type: 'JSON', nullable: true }),
    exporter: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The root installation that exports it; null when a user has set it.',
      resolve: ({ exporterId }, _, context) => (exporterId ? objectLoader(context).load(exporterId) : null),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

builder.queryFields((t) => ({
  project: t.field({
    type: ProjectRef,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: async (_, { name }, { pool, viewer }) =>
      (await loadProjects(pool, { names: [name] }, viewer.projects))[0] ?? null,
  }),
  projects: t.field({
    type: ProjectConnection,
    nullable: true,
    args: t.arg.connectionArgs(),
    complexity: (args) => pageCost(args),
    resolve: (_, args, { pool, viewer }) =>
      connect(args, {
        cursor: nameCursor,
        position: ({ name }: ProjectRow) => name,
        load: (window) => listProjects(pool, viewer.projects, window),
        count: () => countProjects(pool, viewer.projects),
      }),
  }),
}))
