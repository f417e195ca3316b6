import type { ObjectRow } from '../../core/tree.ts'
import type { Client } from '../../store/client.ts'
import type { SnapshotKey } from './observed-spec.ts'
import type { InstallationSpec } from './spec.ts'

/** Specs that jobs work from and that edits have replaced. Read and written under the root's lock. */

/** Before the new spec is written. */
export async function keepSpec(client: Client, { id, generation }: ObjectRow): Promise<void> {
  await client.query({
    name: 'keep-spec',
    text: `insert into spec_snapshot (object_id, generation, spec)
      select object_id, $2, spec from object_spec where object_id = $1
      on conflict (object_id) do update set generation = excluded.generation, spec = excluded.spec`,
    values: [id, generation],
  })
}

export async function findSnapshot(client: Client, { id, generation }: SnapshotKey): Promise<InstallationSpec | null> {
  const { rows } = await client.query<{ spec: InstallationSpec }>({
    name: 'find-spec-snapshot',
    text: 'select spec from spec_snapshot where object_id = $1 and generation = $2',
    values: [id, generation],
  })
  return rows[0]?.spec ?? null
}

export async function dropSnapshot(client: Client, { id }: Pick<ObjectRow, 'id'>): Promise<void> {
  await client.query({
    name: 'drop-spec-snapshot',
    text: 'delete from spec_snapshot where object_id = $1',
    values: [id],
  })
}
