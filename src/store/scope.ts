import type { Client } from './client.ts'

/** Serialises the specs of a project's roots. Taken first, and by mutations only. Null: there is no such project. */
export async function lockScope(client: Client, project: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'lock-scope',
    text: 'select id from project where name = $1 for no key update',
    values: [project],
  })
  return rows[0]?.id ?? null
}
