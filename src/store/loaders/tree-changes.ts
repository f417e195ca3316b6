import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'

/** What has been written in trees of late, with or without a phase change. */

export interface WatchedTree {
  readonly rootId: string
  readonly since: Date
  /** The last batch of this tree whose ends have been told. */
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

/** For each tree what was written at or after `since`, and what has gone after `batchId`, in the order asked. */
export async function loadTreeChanges(
  client: Client,
  trees: readonly WatchedTree[],
): Promise<readonly (readonly ChangedObject[])[]> {
  const { rows } = await client.query<{ place: number } & ChangedObject>({
    text: `select k.place::int as place, p.* from unnest($1::uuid[], $2::timestamptz[], $3::bigint[])
        with ordinality k(root_id, since, batch_id, place) cross join lateral (
          (select o.id as "objectId", o.kind, o.revision, o.updated_at as "updatedAt", null::text as "batchId"
            from object o where o.root_id = k.root_id and o.updated_at >= k.since)
          union all
          (select c.object_id, c.kind, c.revision, null, c.batch_id::text from phase_change c
            where c.root_id = k.root_id and c.batch_id > k.batch_id and c."to" = 'GONE' and not c.rejected)
        ) p order by k.place`,
    values: [trees.map(({ rootId }) => rootId), trees.map(({ since }) => since), trees.map(({ batchId }) => batchId)],
  })
  const found = trees.map((): ChangedObject[] => [])
  for (const { place, ...change } of rows) found[place - 1]?.push(change)
  return found
}

/** The last batch of a tree: what is told of its ends begins after it. */
export async function loadLastBatch(client: Client, rootId: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>({
    text: 'select coalesce(max(batch_id), 0)::text as id from log_content where root_id = $1',
    values: [rootId],
  })
  return rows[0]?.id ?? '0'
}
