import type { Ambient } from '../core/ports.ts'
import type { Client } from './client.ts'

/** Nothing happens when there is one. */
export async function ensureProject(client: Client, name: string, ambient: Ambient): Promise<void> {
  await client.query({
    name: 'ensure-project',
    text: 'insert into project (id, name, created_at, updated_at) values ($1, $2, $3, $3) on conflict (name) do nothing',
    values: [ambient.id(), name, ambient.now()],
  })
}
