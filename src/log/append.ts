import type { Change, WrittenBatch } from '../core/ports.ts'
import type { Client } from '../store/client.ts'

type Column = readonly [name: string, type: string, value: (change: Change) => string | null]
const COLUMNS: readonly Column[] = [
  ['object_id', 'uuid', (c) => c.objectId],
  ['root_id', 'uuid', (c) => c.rootId],
  ['parent_id', 'uuid', (c) => c.parentId],
  ['project_name', 'text', (c) => c.projectName],
  ['kind', 'object_kind', (c) => c.kind],
  ['name', 'text', (c) => c.name],
  ['machine', 'text', (c) => c.machine],
  ['from', 'phase', (c) => c.from],
  ['to', 'phase', (c) => c.to],
  ['actor', 'actor', (c) => c.actor],
  ['by', 'text', (c) => c.by],
  ['reason', 'text', (c) => c.reason],
  ['message', 'text', (c) => c.message],
  ['job_id', 'uuid', (c) => c.jobId],
  ['revision', 'integer', (c) => (c.revision === null ? null : String(c.revision))],
  ['rejected', 'boolean', (c) => (c.rejected ? 't' : 'f')],
  ['at', 'timestamptz', (c) => c.at.toISOString()],
]

const names = COLUMNS.map(([name]) => `"${name}"`).join(', ')
const arrays = COLUMNS.map(([, type], i) => `$${i + 2}::${type}[]`).join(', ')

const APPEND_SQL = `with batch as (
    insert into log_batch (id, n) values (nextval('log_batch_id_seq'), $1) returning id
  ), changes as (
    insert into phase_change (batch_id, idx, ${names})
    select batch.id, u.n - 1, ${COLUMNS.map(([name]) => `u."${name}"`).join(', ')}
    from batch, unnest(${arrays}) with ordinality as u (${names}, n)
  )
  select id from batch`

/**
 * Writes one batch of the log, in the given order, in one statement. Call it at most once in a transaction, as its
 * last statement, with the root row locked: that is what makes batch ids grow in commit order within a tree.
 * All changes must be of that one tree. No changes: nothing is written. Returns what is to be told after the commit.
 */
export async function appendChanges(client: Client, changes: readonly Change[]): Promise<readonly WrittenBatch[]> {
  if (changes.length === 0) return []
  const values = COLUMNS.map(([, , value]) => changes.map(value))
  const { rows } = await client.query<{ id: string | number | bigint }>({
    name: 'log_append',
    text: APPEND_SQL,
    values: [changes.length, ...values],
  })
  return rows.map(({ id }) => ({ id: String(id), changes }))
}
