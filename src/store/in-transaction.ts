import type { Pool, PoolClient } from 'pg'

/** Runs statements in one transaction, for the few writes that are not of a tree or a project. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    broken = false
    return result
  } finally {
    // After a failure the connection may still be in the transaction, so it is closed.
    client.release(broken)
  }
}
