import type { Node } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { array, nothing, nullable, text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'

const LOCK_NAMES_SHARED = statement({
  name: 'lock-names-shared',
  text: `select pg_advisory_xact_lock_shared(hashtextextended($1::text || '/' || n.name, 0))
      from (select name from unnest($2::text[]) as u(name) order by name) n`,
  params: [text, array(text)],
  row: { pg_advisory_xact_lock_shared: nothing },
})

/**
 * Locks on the names of exports. An importer reads an export under a shared lock on its name. A transaction that changes
 * exports, or searches for their importers, holds the lock exclusively until it commits. So each of two sees the other's
 * decision. The locks are taken in the order of the names, after every other lock but the log's.
 * In the same way, a root that asks for a success of another one and the run that ends with it see each other.
 */
export async function lockNames(client: Client, projectId: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await LOCK_NAMES_SHARED.query(client, [projectId, names])
}

/** The name under which the successes of a root are locked; no export has such a name. */
export const runsOf = (root: string): string => `/${root}`

const LOCK_OWN = statement({
  name: 'lock-own-names',
  text: `select name, pg_advisory_xact_lock(hashtextextended($2::uuid::text || '/' || name, 0)) from (
    select name from root_export where exporter_id = $1
    union select name from data_object where project_id = $2::uuid and exporter_id = $1
    union select $3::text where $3 is not null
    order by name
  ) n`,
  params: [uuid, uuid, nullable(text)],
  row: { name: text, pg_advisory_xact_lock: nothing },
})

/**
 * Locks the present and earlier exports of a root exclusively, in one statement that others can be pipelined with.
 * @param root with its name: locks its successes as well
 */
export async function lockOwnNames(
  client: Client,
  { id, projectId, name }: Pick<Node['row'], 'id' | 'projectId'> & { readonly name?: string },
): Promise<readonly string[]> {
  const { rows } = await LOCK_OWN.query(client, [id, projectId, name === undefined ? null : runsOf(name)])
  return rows.map(({ name }) => name)
}
