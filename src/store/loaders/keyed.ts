import type { Client } from '../client.ts'
import { type AnyType, array, required, uuid } from '../column-types.ts'
import { columnOf } from '../columns.ts'
import { type RowOf, statement } from '../statement.ts'

type Loader<C extends Readonly<Record<string, AnyType>>> = (
  client: Client,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, RowOf<C> & { readonly key: string }>>

/**
 * One statement for many objects: `text` takes their ids as $1 and returns the id of each row's object as `key`. An object
 * without a row has no entry.
 */
export function keyed<C extends Readonly<Record<string, AnyType>>>(text: string, row: C): Loader<C> {
  const rowsOf = statement({ text, params: [array(uuid)], row: { key: required(uuid), ...row } })
  return async (client, ids) => {
    const { rows } = await rowsOf.query(client, [ids])
    return new Map(rows.map((found) => [found.key as string, found as never]))
  }
}

/** The names of all details of a kind, from those of a new object, without those that are large and seldom asked for. */
export const keysOf = <T extends object, const Without extends keyof T & string = never>(
  details: T,
  ...without: readonly Without[]
): readonly Exclude<keyof T & string, Without>[] =>
  (Object.keys(details) as Exclude<keyof T & string, Without>[]).filter((key) => !without.includes(key as never))

/** The same for columns of a side table, by their properties. */
export const keyedDetails = <C extends Readonly<Record<string, AnyType>>, const K extends keyof C & string>(
  table: string,
  columns: C,
  properties: readonly K[],
): Loader<Pick<C, K>> => {
  const selected = properties.map((name) => (columnOf(name) === name ? name : `${columnOf(name)} as "${name}"`))
  const row = Object.fromEntries(properties.map((name) => [name, columns[name]])) as Pick<C, K>
  return keyed(`select object_id as key, ${selected.join(', ')} from ${table} where object_id = any($1::uuid[])`, row)
}
