import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import { array, bigint, integer, nullable, text, timestamptz, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'

/** Recent writes in trees, with or without a phase change. */

export interface WatchedTree {
  readonly rootId: string
  readonly since: Date
  /** The last batch of this tree whose deletions have been reported. */
  readonly batchId: string
}
export interface ChangedObject {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly revision: number
  readonly updatedAt: Date | null
  /** Set when the object ended: the batch that says so. */
  readonly batchId: string | null
}

const LOAD_TREE_CHANGES = statement({
  text: `select k.place::int as place, p.* from unnest($1::uuid[], $2::timestamptz[], $3::bigint[])
        with ordinality k(root_id, since, batch_id, place) cross join lateral (
          (select o.id as "objectId", o.kind, o.revision, o.updated_at as "updatedAt", null::text as "batchId"
            from object o where o.root_id = k.root_id and o.updated_at >= k.since)
          union all
          (select c.object_id, c.kind, c.revision, null, c.batch_id::text from phase_change c
            where c.root_id = k.root_id and c.batch_id > k.batch_id and c."to" = 'GONE' and not c.rejected)
        ) p order by k.place`,
  params: [array(uuid), array(timestamptz), array(bigint)],
  row: {
    place: integer,
    objectId: uuid,
    kind: table.objectKind,
    revision: integer,
    updatedAt: nullable(timestamptz),
    batchId: nullable(text),
  },
})

/**
 * For each tree, in the order of the request: its objects written at or after `since`, and those deleted after
 * `batchId`.
 */
export async function loadTreeChanges(
  client: Client,
  trees: readonly WatchedTree[],
): Promise<readonly (readonly ChangedObject[])[]> {
  const { rows } = await LOAD_TREE_CHANGES.query(client, [
    trees.map(({ rootId }) => rootId),
    trees.map(({ since }) => since),
    trees.map(({ batchId }) => batchId),
  ])
  const found = trees.map((): ChangedObject[] => [])
  for (const { place, ...change } of rows) found[place - 1]?.push(change)
  return found
}

const LOAD_LAST_BATCH = statement({
  text: 'select coalesce(max(batch_id), 0)::text as id from log_content where root_id = $1',
  params: [uuid],
  row: { id: text },
})

/** The last batch of a tree: reports of its deletions begin after it. */
export async function loadLastBatch(client: Client, rootId: string): Promise<string> {
  const { rows } = await LOAD_LAST_BATCH.query(client, [rootId])
  return rows[0]?.id ?? '0'
}
