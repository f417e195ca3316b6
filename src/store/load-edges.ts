import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'

// One by one, by the index, even by a plan that was made when there were none.
const neighbours = (of: string, neighbour: string): string => `select wanted.id, e.${neighbour} as neighbour
  from unnest($1::uuid[]) wanted(id) cross join lateral (select * from edge where ${of} = wanted.id offset 0) e`
const DEPENDENTS = neighbours('to_id', 'from_id')
const DEPENDENCIES = neighbours('from_id', 'to_id')

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
