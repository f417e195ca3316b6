import type { Client } from '../client.ts'
import { type AnyType, array, required, uuid } from '../column-types.ts'
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
