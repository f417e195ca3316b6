import DataLoader from 'dataloader'
import { RIGHTS } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { encodeCursor } from '../../log/cursor.ts'
import {
  countTree,
  type RelationRow,
  readSnapshots,
  type Snapshot,
  type SnapshotRequest,
} from '../../store/loaders/tree-snapshot.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import { objectLoader, objectsAtHand } from '../loaders.ts'
import { builder, type Types } from '../schema/builder.ts'
import { type Connection, type CursorCodec, connect, type PageArgs } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { RELAY_DESCRIPTIONS } from '../schema/descriptions.ts'
import { MAX_TREE_PAGE, pageCost } from '../schema/limits.ts'
import { TreeObjectConnection } from '../schema/refs.ts'

/** Reads everything that an operation asks about trees in one transaction, so that it belongs to one sequence. */
const snapshots = perOperation(
  ({ pool }) =>
    new DataLoader<SnapshotRequest, Snapshot, string>((requests) => readSnapshots(pool, requests), {
      cacheKeyFn: (request) => JSON.stringify(request),
    }),
)

const TreeRelationKind = builder.enumType('TreeRelationKind', {
  description: 'How two objects of a tree are related.',
  values: {
    PARENT: { description: '`to` is the parent of `from`.' },
    DEPENDS_ON: { description: '`from` depends on its sibling `to`.' },
  } as const,
})
const TreeRelationRef = builder.objectRef<RelationRow>('TreeRelation').implement({
  description: 'A relation between two objects of a tree.',
  fields: (t) => ({
    from: t.exposeID('from', { description: 'Id of the child, or of the object that depends on another.' }),
    to: t.exposeID('to', { description: 'Id of the parent, or of the object that the other depends on.' }),
    kind: t.expose('kind', { type: TreeRelationKind, description: 'How the two are related.' }),
  }),
})
const TreeRelationConnection = builder.connectionObject({ name: 'TreeRelationConnection', type: TreeRelationRef }, {})

interface TreeValue {
  readonly rootId: string
}
type ObjectPlace = readonly [sequence: number, id: string]
type RelationPlace = readonly [sequence: number, kind: string, from: string, to: string]
const objectCursor: CursorCodec<ObjectPlace> = cursorOf('int', 'uuid')
const relationCursor: CursorCodec<RelationPlace> = cursorOf('int', 'text', 'uuid', 'uuid')

async function objectsOf(context: GraphQLContext, rootId: string, args: PageArgs): Promise<Connection<ObjectRow>> {
  let readAt = 0
  return await connect<ObjectRow, ObjectPlace>(args, {
    cursor: objectCursor,
    // Has the sequence of the read, from which a later page learns whether the tree has changed since.
    position: ({ id }) => [readAt, id],
    maxPage: MAX_TREE_PAGE,
    load: async ({ after, limit }) => {
      const place = after && { sequence: after[0], id: after[1] }
      const { sequence, objects } = await snapshots(context).load({ part: 'objects', rootId, limit, after: place })
      readAt = sequence
      for (const row of objects) objectsAtHand(context).set(row.id, row)
      return objects
    },
    count: async () => (await countTree(context.pool, rootId)).objects,
  })
}

async function relationsOf(
  context: GraphQLContext,
  rootId: string,
  { kind = null, ...args }: PageArgs & { readonly kind?: RelationRow['kind'] | null | undefined },
): Promise<Connection<RelationRow>> {
  let readAt = 0
  return await connect<RelationRow, RelationPlace>(args, {
    cursor: relationCursor,
    position: ({ kind, from, to }) => [readAt, kind, from, to],
    maxPage: MAX_TREE_PAGE,
    load: async ({ after: place, limit }) => {
      const after = place && placeOf(place)
      const { sequence, relations } = await snapshots(context).load({ part: 'relations', rootId, kind, limit, after })
      readAt = sequence
      return relations
    },
    count: async () => {
      const { parents, dependencies } = await countTree(context.pool, rootId)
      return (kind === 'DEPENDS_ON' ? 0 : parents) + (kind === 'PARENT' ? 0 : dependencies)
    },
  })
}

const placeOf = ([sequence, kind, from, to]: RelationPlace) => ({
  sequence,
  kind: kind === 'DEPENDS_ON' ? ('DEPENDS_ON' as const) : ('PARENT' as const),
  from,
  to,
})

/** Trees are read forward only, in larger pages than other lists. */
const pageArgs = (t: FieldBuilder, defaultValue: number) => ({
  first: t.arg.int({
    required: true,
    defaultValue,
    description: `At most this many entries: 0 to ${MAX_TREE_PAGE.toLocaleString('en')}.`,
  }),
  after: t.arg.string({ limit: 'cursor', description: RELAY_DESCRIPTIONS.after }),
})
type FieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<Types, TreeValue>

export const TreeRef = builder.objectRef<TreeValue>('Tree').implement({
  description: 'A tree as a flat list of objects and their relations, all read at one sequence of the log.',
  fields: (t) => ({
    rootId: t.exposeID('rootId', { description: 'Id of the root.' }),
    sequence: t.field({
      type: 'Sequence',
      description:
        'Sequence that the tree was read at. `phaseChanges(after:)` continues from it without a gap; drop changes whose revision you have.',
      resolve: async ({ rootId }, _, context) => (await snapshots(context).load({ part: 'head', rootId })).sequence,
    }),
    cursor: t.string({
      description: 'Place in the log at `sequence`, for `phaseChanges(after:)`. Prefer it to the bare sequence.',
      resolve: async ({ rootId }, _, context) => encodeCursor(await snapshots(context).load({ part: 'head', rootId })),
    }),
    objects: t.field({
      type: TreeObjectConnection,
      description: 'Objects of the tree. All pages belong to the same read if their trees have the same `sequence`.',
      args: pageArgs(t, 1_000),
      complexity: (args) => pageCost(args),
      resolve: ({ rootId }, args, context) => objectsOf(context, rootId, args),
    }),
    relations: t.field({
      type: TreeRelationConnection,
      description: 'Relations between the objects of the tree, in pages like `objects`.',
      args: {
        ...pageArgs(t, 2_000),
        kind: t.arg({ type: TreeRelationKind, description: 'Only those of this kind. Left out or null: of both.' }),
      },
      complexity: (args) => pageCost(args),
      resolve: ({ rootId }, args, context) => relationsOf(context, rootId, args),
    }),
  }),
})

builder.queryField('tree', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: TreeRef,
    nullable: true,
    description:
      'A tree as it is now; null if the id is not that of a root that the viewer may read. The tree has changed between two pages if their `sequence` differs.',
    args: { rootId: t.arg.id({ required: true, description: 'Id of the root.' }) },
    resolve: async (_, { rootId }, context) => {
      const root = await objectLoader(context).load(rootId)
      return root?.parentId === null ? { rootId: root.id } : null
    },
  }),
)
