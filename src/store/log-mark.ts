import { hash } from 'node:crypto'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { Client } from './client.ts'
import { array, bigint, nullable, text } from './column-types.ts'
import { statement } from './statement.ts'

/**
 * Marks distinguish logs: a change's mark is a digest of fields that only this change has. A restored copy of the
 * database gives its lost sequences to other changes, with other marks.
 */

/** 72 bits in base64url: nobody guesses one, and no two changes with the same sequence share one. */
const LENGTH = 12

const digest = (fields: readonly (string | number)[]): string =>
  hash('sha256', fields.join(' '), 'base64url').slice(0, LENGTH)

export const markOf = (change: Pick<PhaseChangeRecord, 'batchId' | 'idx' | 'objectId' | 'to' | 'at'>): string =>
  digest([change.batchId, change.idx, change.objectId, change.to, change.at.getTime()])

/** The fields of a mark as `markSql` reads them; null: there is no such change, or not any more. */
export const markOfFields = (fields: readonly string[] | null): string | null => fields && digest(fields)

/**
 * The fields of the mark of the change at a sequence, as text[].
 * @param sequence a bigint expression
 */
export const markSql = (sequence: string): string => `(
    select array[b.id::text, b.idx::text, p.object_ids[b.idx + 1]::text, p."to"[p.steps[b.idx + 1]]::text,
      (extract(epoch from p.at[p.steps[b.idx + 1]]) * 1000)::bigint::text]
    from (
      select l.id, l.n, least(${sequence} - l.first_seq, l.n)::int as idx from log_batch l
      where l.first_seq <= ${sequence} order by l.first_seq desc limit 1
    ) b join log_content p on p.batch_id = b.id where b.idx < b.n
  )`

const READ_MARK = statement({
  text: `select ${markSql('$1::bigint')} as fields, case when $1 = floor_seq then floor_mark end as floor_mark from log_meta`,
  params: [bigint],
  row: { fields: nullable(array(text)), floor_mark: nullable(text) },
})

/** The mark of the change at a sequence, or of the last pruned one; null: neither exists. */
export async function readMark(client: Client, sequence: number): Promise<string | null> {
  const { rows } = await READ_MARK.query(client, [sequence])
  const [row] = rows
  return row ? (markOfFields(row.fields) ?? row.floor_mark) : null
}

/** The last sequence that is numbered. Numbered is what is committed, so no snapshot ever sees one beyond it. */
export const HEAD = `greatest((select floor_seq from log_meta), coalesce((
    select l.first_seq + l.n - 1 from log_batch l where l.first_seq is not null order by l.first_seq desc limit 1
  ), 0))`

/**
 * Identifies the running server and the database, as the function log_instance() does, which costs more than the rest
 * of a short statement. Values of this text and of the function are never compared with each other.
 */
export const INSTANCE = `(select concat_ws('.', (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint,
    d.oid, 'log_meta'::regclass::oid) from pg_database d where d.datname = current_database())`
