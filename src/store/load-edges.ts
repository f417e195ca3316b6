import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'

const DEPENDENTS = 'select to_id as id, from_id as neighbour from edge where to_id = any($1::uuid[])'
const DEPENDENCIES = 'select from_id as id, to_id as neighbour from edge where from_id = any($1::uuid[])'

/** Ids of the neighbours on one side of each object. */
export async function loadEdges(
  client: Client,
  side: 'dependents' | 'dependencies',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = side === 'dependents' ? DEPENDENTS : DEPENDENCIES
  const { rows } = await client.query<{ id: string; neighbour: string }>({
    name: `load-${side}`,
    text,
    values: [binaryUuids(ids)],
  })
  const found = new Map<string, string[]>(ids.map((id) => [id, []]))
  for (const { id, neighbour } of rows) found.get(id)?.push(neighbour)
  return found
}

export async function loadSpecs(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const { rows } = await client.query<{ object_id: string; spec: unknown }>({
    name: 'load-specs',
    text: 'select object_id, spec from object_spec where object_id = any($1::uuid[])',
    values: [binaryUuids(ids)],
  })
  return new Map(rows.map((row) => [row.object_id, row.spec]))
}
