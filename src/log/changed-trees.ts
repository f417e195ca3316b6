import { CursorExpired } from '../core/ports/log.ts'
import type { Phase } from '../core/vocabulary.ts'
import type { Client } from '../store/client.ts'
import { array, bigint, integer, nullable, text, timestamptz, uuid } from '../store/column-types.ts'
import type { PhaseChangeKey } from '../store/loaders/phase-changes.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { HEAD_ROW, HEAD_SQL, toHead } from './head.ts'
import { batchAt } from './search.ts'
import { timeWindow } from './time-window.ts'

/** A tree with objects that differ between two times. */
export interface ChangedTree {
  readonly rootId: string
  readonly name: string
  /** Its creation, if it did not exist at the earlier time; otherwise null. */
  readonly creation: PhaseChangeKey | null
  readonly changedAt: Date
  readonly added: number
  readonly removed: number
  readonly changed: number
  /** The objects among them that were in a failed phase at the later time. */
  readonly failed: number
}
export interface ChangeWindow {
  readonly projectId: string
  /** Null: all trees. */
  readonly rootId: string | null
  readonly since: Date
  readonly until: Date
}

/** Changes of the whole log that one answer reads. */
export const MOST_CHANGES = 500_000

const REACH = statement({
  name: 'log_reach',
  text: `with m as materialized (${HEAD_SQL})
  select m.*, (select c."at"[1] from log_content c where c.batch_id = ${batchAt('id', 'm.floor_seq + 1')}) as "oldestAt" from m`,
  params: [],
  row: { ...HEAD_ROW, oldestAt: nullable(timestamptz) },
})

// Within a tree, batch ids are in the order of the log. An object that came and went in between makes no difference.
const CHANGED_TREES = statement({
  name: 'log_changed_trees',
  text: `select moved.root_id as "rootId", max(moved.name) as name,
    (max(moved.batch_id) filter (where moved.object_id = moved.root_id))::text as "batchId",
    max(moved.idx) filter (where moved.object_id = moved.root_id) as idx,
    max(moved.at) as "changedAt",
    (count(*) filter (where moved.created))::int as added,
    (count(*) filter (where moved."to" = 'GONE'))::int as removed,
    (count(*) filter (where not moved.created and moved."to" <> 'GONE'))::int as changed,
    (count(*) filter (where moved."to" = any ($5::phase[])))::int as failed
  from (
    select c.root_id, c.object_id, bool_or(c."from" is null) as created, max(c.at) as at,
      min(c.batch_id) filter (where c."from" is null) as batch_id, min(c.idx) filter (where c."from" is null) as idx,
      (array_agg(c."to" order by c.batch_id desc, c.idx desc))[1] as "to",
      max(case when c.parent_id is null then c.name else split_part(c.parent_path, '/', 1) end) as name
    from log_batch b cross join lateral (
      select * from phase_change c where c.batch_id = b.id and c.project_id = $1::uuid offset 0
    ) c
    where b.first_seq + b.n > $2::bigint and c.at > $3::timestamptz and c.at <= $4::timestamptz
      and b.first_seq + c.idx > (select floor_seq from log_meta)
      and c.revision is not null and not c.rejected and c.machine <> all ($6::text[])
      and ($7::uuid is null or c.root_id = $7)
    group by c.root_id, c.object_id
  ) moved where not (moved.created and moved."to" = 'GONE')
  group by moved.root_id order by max(moved.at) desc, moved.root_id`,
  params: [uuid, bigint, timestamptz, timestamptz, array(table.phase), array(text), nullable(uuid)],
  row: {
    rootId: uuid,
    name: nullable(text),
    batchId: nullable(text),
    idx: nullable(integer),
    changedAt: timestamptz,
    added: integer,
    removed: integer,
    changed: integer,
    failed: integer,
  },
})

/**
 * The trees of a project that differ between two times, those that changed last first; null: the log has more changes since the earlier one
 * than `mostChanges`. Throws CursorExpired when the log does not reach back to it.
 * @param words.secondaryMachines names of machines whose changes say nothing of an object's phase
 */
export async function changedTrees(
  client: Client,
  { projectId, rootId, since, until }: ChangeWindow,
  words: { readonly failed: readonly Phase[]; readonly secondaryMachines: readonly string[] },
  mostChanges = MOST_CHANGES,
): Promise<readonly ChangedTree[] | null> {
  const [reach, window] = await Promise.all([REACH.query(client, []), timeWindow(client, { since })])
  const [row] = reach.rows
  if (!row) throw new Error('log_meta has no row: the database was not migrated.')
  const { floor, head } = toHead(row)
  if (floor > 0 && (row.oldestAt === null || since < row.oldestAt)) throw new CursorExpired(floor + 1, head)
  if (head - window.after > mostChanges) return null
  const { failed, secondaryMachines } = words
  const variables = [projectId, window.after, since, until, failed, secondaryMachines, rootId] as const
  const { rows } = await CHANGED_TREES.query(client, variables)
  return rows.map(({ name, batchId, idx, ...tree }) => ({
    ...tree,
    name: name ?? '',
    creation: batchId === null || idx === null ? null : { batchId, idx },
  }))
}
