import { expect, test } from 'vitest'
import { create, items, remove, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const PATIENCE = '2s'

test('a server that is frozen within a transaction holds a tree up for a while, not for as long as it is frozen', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  // The URL shortens the product's own timeouts, since it has precedence.
  const options = encodeURIComponent(`-c idle_in_transaction_session_timeout=${PATIENCE}`)
  const env = { DATABASE_URL: `${database.url}&options=${options}`, PHASELINE_SECRET_KEY: SECRET_KEY }
  await using freezes = await startServer({ env })
  await using other = await startServer({ env, token: freezes.token })
  const id = await create(other.client, 'tree', items(3))
  await until(async () => (await show(other.client, id))?.phase === 'SUCCEEDED', { what: 'the tree is there' })

  // The server is frozen while it is about to continue with the tree's lock.
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from object where id = $1 for no key update', [id])
  const interrupted = remove(freezes.client, id).catch((error: unknown) => error)
  const waiting = `select pid from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  const pid = await until(async () => (await pool.query<{ pid: number }>(waiting)).rows[0]?.pid, {
    what: 'the deletion waits for the tree',
  })
  const thaw = freezes.freeze()
  await using _ = { [Symbol.asyncDispose]: async () => thaw() }
  await holder.query('commit')
  holder.release()
  // Or has been: Postgres ends its connection when that has waited for long enough.
  const busy = `select from pg_stat_activity where pid = $1 and state <> 'idle in transaction'`
  await until(async () => (await pool.query(busy, [pid])).rowCount === 0, { what: 'its transaction is open' })

  await remove(other.client, id)
  await until(async () => (await show(other.client, id)) === null, { what: 'the tree is gone' })

  thaw()
  expect(await interrupted).toBeInstanceOf(Error)
  expect(await show(freezes.client, id)).toBeNull()
  const next = await create(freezes.client, 'tree', items(1))
  await until(async () => (await show(other.client, next))?.phase === 'SUCCEEDED', { what: 'it works again' })
})
