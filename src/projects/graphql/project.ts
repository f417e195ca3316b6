import { hasRight, RIGHTS } from '../../core/rights.ts'
import { type GraphQLContext, perOperation } from '../../graphql/context.ts'
import { loadCounts, loadPages, objectLoader } from '../../graphql/loaders.ts'
import { addNodeType } from '../../graphql/objects/node.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { connect } from '../../graphql/schema/connection.ts'
import { nameCursor } from '../../graphql/schema/cursors.ts'
import { pageCost } from '../../graphql/schema/limits.ts'
import {
  DataObjectConnection,
  DataObjectRef,
  type DataObjectValue,
  NodeRef,
  ProjectConnection,
  ProjectRef,
  TreeObjectRef,
} from '../../graphql/schema/refs.ts'
import type { PagedDataObjectRow, ProjectRow } from '../../store/loaders/projects.ts'
import {
  countDataObjects,
  countProjects,
  listProjects,
  loadDataObjects,
  loadProjects,
} from '../../store/loaders/projects.ts'
import type { Window } from '../../store/loaders/window.ts'

/** Values are large: the pages of one operation load no more of them than an answer may hold. */
const dataObjects = perOperation(({ pool, answer }) => {
  let left = answer.limit
  return {
    pages: loadPages(async (ids, window: Window<string>) => {
      const loaded = await loadDataObjects(pool, ids, window, left)
      left = loaded.left
      return loaded.pages
    }),
    counts: loadCounts((ids) => countDataObjects(pool, ids)),
  }
})
const readsData = ({ viewer }: GraphQLContext, projectId: string): boolean =>
  hasRight(viewer, RIGHTS.readData, projectId)
const brand = (row: PagedDataObjectRow): DataObjectValue => ({ ...row, __typename: 'DataObject' })

ProjectRef.implement({
  description: 'A scope with a name: its roots see its data, and tokens can be restricted to it.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Unique name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the project was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the project was last changed.' }),
    generation: t.exposeInt('generation', { description: 'Counts the changes of its settings, from 1.' }),
    promotesTo: t.exposeString('promotesTo', {
      nullable: true,
      description: 'Name of the next environment, a project that gets the specs that have succeeded here; null: none.',
    }),
    dataObjects: t.field({
      type: DataObjectConnection,
      description: 'Data that the roots of the project can import, by name. Empty for a worker.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: nameCursor,
          position: ({ name }: DataObjectValue) => name,
          load: async (window) =>
            readsData(context, id) ? (await dataObjects(context).pages.load({ id, window })).map(brand) : [],
          count: async () => (readsData(context, id) ? await dataObjects(context).counts.load(id) : 0),
        }),
    }),
  }),
})

DataObjectRef.implement({
  description: 'A named value in the scope of a project, which installations import.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique in the project.' }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value; null if the value is JSON null.',
      resolve: ({ value, isLoaded }, _, { answer }) => (isLoaded === false ? answer.exceed() : value),
    }),
    exporter: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'Root installation that exports the value; null if a user has set it, or the viewer may not read the installation.',
      resolve: ({ exporterId }, _, context) => (exporterId ? objectLoader(context).load(exporterId) : null),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the value was last written.' }),
  }),
})

addNodeType('Project', RIGHTS.readProjects, (pool, ids, projects) => loadProjects(pool, { ids }, projects))

builder.queryFields((t) => ({
  project: t.field({
    right: RIGHTS.readProjects,
    type: ProjectRef,
    nullable: true,
    description: 'A project by its name; null if there is none that the viewer may read.',
    args: { name: t.arg.string({ required: true, limit: 'reference', description: 'Name of the project.' }) },
    resolve: async (_, { name }, { pool, viewer }) =>
      (await loadProjects(pool, { names: [name] }, viewer.projects))[0] ?? null,
  }),
  projects: t.field({
    right: RIGHTS.readProjects,
    type: ProjectConnection,
    nullable: true,
    description: 'Projects that the viewer may read, by name. Null only together with an entry in `errors`.',
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
