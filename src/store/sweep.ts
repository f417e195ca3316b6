import type { Client } from './client.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Removes what has outlived its use: keys and finished work of objects that are gone, both after a day. */
export async function sweep(client: Client, now: Date): Promise<void> {
  const dayAgo = new Date(now.getTime() - DAY_MS)
  await client.query({
    name: 'sweep-keys',
    text: 'delete from idempotency_key where created_at < $1',
    values: [dayAgo],
  })
  await client.query({
    name: 'sweep-work',
    text: `delete from work w where w.state = 2 and w.done_at < $1
      and not exists (select 1 from object o where o.id = w.object_id)`,
    values: [dayAgo],
  })
}
