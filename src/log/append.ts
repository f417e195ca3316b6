import type { Change, WrittenBatch } from '../core/ports.ts'
import type { Client } from '../store/client.ts'
import { quoted, type RowColumn, RowStatement } from '../store/rows.ts'

const COLUMNS: readonly RowColumn<Change>[] = [
  { column: 'object_id', type: 'uuid', of: (c) => c.objectId },
  { column: 'root_id', type: 'uuid', of: (c) => c.rootId },
  { column: 'parent_id', type: 'uuid', of: (c) => c.parentId },
  { column: 'project_name', type: 'text', of: (c) => c.projectName },
  { column: 'kind', type: 'object_kind', of: (c) => c.kind },
  { column: 'name', type: 'text', of: (c) => c.name },
  { column: 'machine', type: 'text', of: (c) => c.machine },
  { column: 'from', type: 'phase', of: (c) => c.from },
  { column: 'to', type: 'phase', of: (c) => c.to },
  { column: 'actor', type: 'actor', of: (c) => c.actor },
  { column: 'by', type: 'text', of: (c) => c.by },
  { column: 'reason', type: 'text', of: (c) => c.reason },
  { column: 'message', type: 'text', of: (c) => c.message },
  { column: 'job_id', type: 'uuid', of: (c) => c.jobId },
  { column: 'revision', type: 'integer', of: (c) => c.revision },
  { column: 'rejected', type: 'boolean', of: (c) => c.rejected },
  { column: 'at', type: 'timestamptz', of: (c) => c.at },
]

const APPEND = new RowStatement<Change>(
  'log_append',
  COLUMNS,
  ({ list, numbered, next }) => `with batch as (
      insert into log_batch (id, n) values (nextval('log_batch_id_seq'), $${next}) returning id
    ), changes as (
      insert into phase_change (batch_id, idx, ${quoted(COLUMNS)})
      select batch.id, u.n - 1, ${list} from batch, ${numbered}
    )
    select id from batch`,
)

/**
 * Writes one batch of the log, in the given order, in one statement. Call it at most once in a transaction, as its
 * last statement, with the root row locked: that is what makes batch ids grow in commit order within a tree.
 * All changes must be of that one tree. No changes: nothing is written. Returns what is to be told after the commit.
 */
export async function appendChanges(client: Client, changes: readonly Change[]): Promise<readonly WrittenBatch[]> {
  if (changes.length === 0) return []
  const { rows } = await client.query<{ id: string | number | bigint }>(APPEND.of(changes, [changes.length]))
  return rows.map(({ id }) => ({ id: String(id), changes }))
}
