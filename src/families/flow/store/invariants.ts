import type { Client } from '../../../store/client.ts'
import { uuid } from '../../../store/column-types.ts'
import { projectRecords, type RecordOf } from '../../../store/project-records.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'

/** Invariants as people see them; the family whose roots begin judges them. */

const { description, afterProjectId, afterProject, afterName, sameValues } = table.invariant
export const invariantRecords = projectRecords({
  table: 'invariant',
  columns: { description, afterProjectId, afterProject, afterName, sameValues },
})
export type InvariantRow = RecordOf<typeof invariantRecords>

const LOCK = statement({
  name: 'lock-invariant',
  text: 'select id from invariant where id = $1 for update',
  params: [uuid],
  row: { id: uuid },
})
const WAITING = statement({
  name: 'waiting-for-invariant',
  text: 'select root_id as "rootId" from invariant_wait where invariant_id = $1',
  params: [uuid],
  row: { rootId: uuid },
})
/**
 * The roots that wait for it. Transactions that let a root wait have committed by then, and later ones see what this transaction
 * makes of the record.
 */
export async function lockWaiting(client: Client, id: string): Promise<readonly string[]> {
  await LOCK.query(client, [id])
  return (await WAITING.query(client, [id])).rows.map(({ rootId }) => rootId)
}

const MARK = statement({
  name: 'mark-invariants',
  text: `update project set has_invariants = exists (select from invariant where project_id = $1) where id = $1`,
  params: [uuid],
})
/** Called after each write, under the project's lock. */
export async function markInvariants(client: Client, projectId: string): Promise<void> {
  await MARK.query(client, [projectId])
}
