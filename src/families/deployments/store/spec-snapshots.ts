import type { ObjectRow } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { integer, json, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { SnapshotKey } from '../rules/observed-spec.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** Specs that running jobs use and that edits have replaced. Read and written under the root's lock. */

const KEEP_SPEC = statement({
  name: 'keep-spec',
  text: `insert into spec_snapshot (object_id, generation, spec)
      select object_id, $2, spec from object_spec where object_id = $1
      on conflict (object_id) do update set generation = excluded.generation, spec = excluded.spec`,
  params: [uuid, integer],
})

/** Called before the new spec is written. */
export async function keepSpec(client: Client, { id, generation }: ObjectRow): Promise<void> {
  await KEEP_SPEC.query(client, [id, generation])
}

const FIND_SPEC_SNAPSHOT = statement({
  name: 'find-spec-snapshot',
  text: 'select spec from spec_snapshot where object_id = $1 and generation = $2',
  params: [uuid, integer],
  row: { spec: json<InstallationSpec>() },
})

export async function findSnapshot(client: Client, { id, generation }: SnapshotKey): Promise<InstallationSpec | null> {
  const { rows } = await FIND_SPEC_SNAPSHOT.query(client, [id, generation])
  return rows[0]?.spec ?? null
}

const DROP_SPEC_SNAPSHOT = statement({
  name: 'drop-spec-snapshot',
  text: 'delete from spec_snapshot where object_id = $1',
  params: [uuid],
})

export async function dropSnapshot(client: Client, { id }: Pick<ObjectRow, 'id'>): Promise<void> {
  await DROP_SPEC_SNAPSHOT.query(client, [id])
}
