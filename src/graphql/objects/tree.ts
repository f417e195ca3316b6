import DataLoader from 'dataloader'
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
import { builder } from '../schema/builder.ts'
import { type Connection, type CursorCodec, connect, type PageArgs } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { MAX_TREE_PAGE, pageCost } from '../schema/limits.ts'
import { TreeObjectConnection } from '../schema/refs.ts'

/** All that one operation asks about trees is read in one transaction, so that it belongs to one sequence. */
const snapshots = perOperation(
  ({ pool }) =>
    new DataLoader<SnapshotRequest, Snapshot, string>((requests) => readSnapshots(pool, requests), {
      cacheKeyFn: (request) => JSON.stringify(request),
    }),
)

const TreeRelationKind = builder.enumType('TreeRelationKind', { values: ['PARENT', 'DEPENDS_ON'] as const })
const TreeRelationRef = builder.objectRef<RelationRow>('TreeRelation').implement({
  description: 'PARENT: `to` is the parent of `from`. DEPENDS_ON: `from` depends on `to`.',
  fields: (t) => ({
    from: t.exposeID('from'),
    to: t.exposeID('to'),
    kind: t.expose('kind', { type: TreeRelationKind }),
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
    // With the sequence that it was read at: later pages find out from it whether the tree has moved.
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

async function relationsOf(context: GraphQLContext, rootId: string, args: PageArgs): Promise<Connection<RelationRow>> {
  let readAt = 0
  return await connect<RelationRow, RelationPlace>(args, {
    cursor: relationCursor,
    position: ({ kind, from, to }) => [readAt, kind, from, to],
    maxPage: MAX_TREE_PAGE,
    load: async ({ after, limit }) => {
      const place = after && placeOf(after)
      const { sequence, relations } = await snapshots(context).load({ part: 'relations', rootId, limit, after: place })
      readAt = sequence
      return relations
    },
    count: async () => (await countTree(context.pool, rootId)).relations,
  })
}

const placeOf = ([sequence, kind, from, to]: RelationPlace) => ({
  sequence,
  kind: kind === 'DEPENDS_ON' ? ('DEPENDS_ON' as const) : ('PARENT' as const),
  from,
  to,
})

export const TreeRef = builder.objectRef<TreeValue>('Tree').implement({
  fields: (t) => ({
    rootId: t.exposeID('rootId'),
    sequence: t.field({
      type: 'Sequence',
      description:
        'Subscribe to phaseChanges with `after: sequence` and nothing is missed; drop a change whose revision you already have.',
      resolve: async ({ rootId }, _, context) => (await snapshots(context).load({ part: 'head', rootId })).sequence,
    }),
    cursor: t.string({
      description: 'The place in the log at `sequence`: subscribe to phaseChanges with `after: cursor`.',
      resolve: async ({ rootId }, _, context) => encodeCursor(await snapshots(context).load({ part: 'head', rootId })),
    }),
    objects: t.field({
      type: TreeObjectConnection,
      description: 'Pages of up to 5,000; all pages belong to the one `sequence`d read or say that it has moved on.',
      args: { first: t.arg.int({ required: true, defaultValue: 1_000 }), after: t.arg.string() },
      complexity: (args) => pageCost(args),
      resolve: ({ rootId }, args, context) => objectsOf(context, rootId, args),
    }),
    relations: t.field({
      type: TreeRelationConnection,
      args: { first: t.arg.int({ required: true, defaultValue: 2_000 }), after: t.arg.string() },
      complexity: (args) => pageCost(args),
      resolve: ({ rootId }, args, context) => relationsOf(context, rootId, args),
    }),
  }),
})

builder.queryField('tree', (t) =>
  t.field({
    type: TreeRef,
    nullable: true,
    description: 'The tree as it is, flat. A later page whose `sequence` differs from the first one’s has moved on.',
    args: { rootId: t.arg.id({ required: true }) },
    resolve: async (_, { rootId }, context) => {
      const root = await objectLoader(context).load(rootId)
      return root?.parentId === null ? { rootId: root.id } : null
    },
  }),
)
