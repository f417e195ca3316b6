import type { Client } from '../../../store/client.ts'
import { integer, json, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** Specs of a root that later ones have replaced, for comparisons and the way back. Written under the root's lock. */

export const MAX_GENERATIONS = 20

const KEEP = statement({
  name: 'keep-spec-generation',
  text: `with old as (delete from spec_generation where object_id = $1 and generation <= $2 - ${MAX_GENERATIONS})
    insert into spec_generation (object_id, generation, spec, replaced_at, replaced_by)
      select object_id, $2, spec, $3, $4 from object_spec where object_id = $1`,
  params: [uuid, integer, timestamptz, text],
})

/** Called before the new spec is written. */
export async function keepGeneration(
  client: Client,
  { id, generation }: { readonly id: string; readonly generation: number },
  replaced: { readonly at: Date; readonly by: string },
): Promise<void> {
  await KEEP.query(client, [id, generation, replaced.at, replaced.by])
}

const FIND = statement({
  text: 'select spec from spec_generation where object_id = $1 and generation = $2',
  params: [uuid, integer],
  row: { spec: json<InstallationSpec>() },
})

/** Null: it is not kept, or is the present one. */
export async function findGeneration(client: Client, id: string, generation: number): Promise<InstallationSpec | null> {
  const { rows } = await FIND.query(client, [id, generation])
  return rows[0]?.spec ?? null
}
