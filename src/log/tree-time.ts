import { CursorExpired } from '../core/ports/log.ts'
import type { Client } from '../store/client.ts'
import { bigint, joined, nullable, timestamptz, uuid } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import { HEAD_ROW, HEAD_SQL, toHead } from './head.ts'
import { batchAt } from './search.ts'

// Times grow with the changes of one tree, since its transactions are serial. The oldest change of the whole log shows
// whether everything pruned is before the time.
const AT_TIME = statement({
  name: 'tree_at_time',
  text: `with m as materialized (${HEAD_SQL})
  select m.*, last.sequence, oldest.at as "oldestAt" from m
  left join lateral (
    select b.first_seq + c.idx as sequence
    from phase_change c cross join lateral (select l.first_seq from log_batch l where l.id = c.batch_id offset 0) b
    where c.root_id = $1::uuid and c.at <= $2::timestamptz and b.first_seq + c.idx > m.floor_seq
    order by c.batch_id desc, c.idx desc limit 1
  ) last on true
  left join lateral (
    select c."at"[1] as at from log_content c where c.batch_id = ${batchAt('id', 'm.floor_seq + 1')}
  ) oldest on true`,
  params: [uuid, timestamptz],
  row: { ...HEAD_ROW, sequence: nullable(bigint), oldestAt: nullable(timestamptz) },
})

/** The last sequence of a tree at a time. Throws CursorExpired when the log does not reach back to it. */
export async function sequenceAt(client: Client, rootId: string, time: Date): Promise<number> {
  const { rows } = await AT_TIME.query(client, [rootId, time])
  const [first] = rows
  if (!first) throw new Error('log_meta has no row: the database was not migrated.')
  const { floor, head } = toHead(first)
  if (first.sequence !== null) return first.sequence
  if (floor > 0 && (first.oldestAt === null || time < first.oldestAt)) throw new CursorExpired(floor + 1, head)
  return floor
}

const TIME_OF = statement({
  name: 'time_of_sequence',
  text: `select c."at" from log_batch b join phase_change c on c.batch_id = b.id
    where b.id = ${batchAt('id', '$1::bigint')} and b.first_seq + c.idx <= $1 order by c.idx desc limit 1`,
  params: [bigint],
  row: { at: joined(timestamptz) },
})

/** When the change at a sequence was made; the beginning of time before the first one. */
export async function timeAt(client: Client, sequence: number): Promise<Date> {
  const { rows } = await TIME_OF.query(client, [sequence])
  return rows[0]?.at ?? new Date(0)
}
