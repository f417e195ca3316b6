import type { Client } from './client.ts'
import { nullable, uuid } from './column-types.ts'
import { statement } from './statement.ts'

const CREATOR = statement({
  name: 'find-creator',
  text: 'select by_id as id from object_phase_change where object_id = $1 and "from" is null limit 1',
  params: [uuid],
  row: { id: nullable(uuid) },
})
/** The principal that has created an object; null: the log does not say. */
export async function findCreator(client: Client, id: string): Promise<string | null> {
  return (await CREATOR.query(client, [id])).rows[0]?.id ?? null
}
