import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { array, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

// One by one, by the index, even by a plan that was made when there were none.
const neighbours = (of: string, neighbour: string): string => `select wanted.id, e.${neighbour} as neighbour
  from unnest($1::uuid[]) wanted(id) cross join lateral (select * from edge where ${of} = wanted.id offset 0) e`
const EDGES = {
  dependents: statement({
    name: 'load-dependents',
    text: neighbours('to_id', 'from_id'),
    params: [array(uuid)],
    row: { id: uuid, neighbour: table.edge.fromId },
  }),
  dependencies: statement({
    name: 'load-dependencies',
    text: neighbours('from_id', 'to_id'),
    params: [array(uuid)],
    row: { id: uuid, neighbour: table.edge.toId },
  }),
}

/** Ids of the neighbours on one side of each object. An id that is given twice has its neighbours once. */
export async function loadEdges(
  client: Client,
  side: 'dependents' | 'dependencies',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>(ids.map((id) => [id, []]))
  const { rows } = await EDGES[side].query(client, [binaryUuids([...found.keys()])])
  for (const { id, neighbour } of rows) found.get(id)?.push(neighbour)
  return found
}

const LOAD_SPECS = statement({
  name: 'load-specs',
  text: 'select object_id, spec from object_spec where object_id = any($1::uuid[])',
  params: [array(uuid)],
  row: { object_id: table.objectSpec.objectId, spec: table.objectSpec.spec },
})

export async function loadSpecs(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const { rows } = await LOAD_SPECS.query(client, [binaryUuids(ids)])
  return new Map(rows.map((row) => [row.object_id, row.spec]))
}
