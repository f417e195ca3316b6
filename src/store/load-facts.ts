import type { Client } from './client.ts'
import type { FactsColumns } from './transition.ts'

/** Side rows of one table by object id. */
export async function loadFacts(
  client: Client,
  { table, columns }: FactsColumns,
  ids: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const properties = Object.keys(columns)
  const list = Object.values(columns).map(({ column }) => `"${column}"`)
  const { rows } = await client.query({
    name: `load-${table}`,
    text: `select object_id, ${list.join(', ')} from "${table}" where object_id = any($1::uuid[])`,
    values: [ids],
    rowMode: 'array',
  } as never)
  return new Map(
    (rows as unknown as unknown[][]).map(([id, ...values]) => [
      id as string,
      Object.fromEntries(properties.map((property, i) => [property, values[i]])),
    ]),
  )
}
