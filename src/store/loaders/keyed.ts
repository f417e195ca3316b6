import type { Client } from '../client.ts'

/** One statement for many objects: `text` takes their ids as $1, and gives each row the id that it is for as `key`. */
export async function loadKeyed<T>(
  client: Client,
  text: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, T>> {
  const { rows } = await client.query<T & { readonly key: string }>({ text, values: [ids] })
  return new Map(rows.map((row) => [row.key, row]))
}
