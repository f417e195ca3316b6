import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** A parent and a project of an object hold as with foreign keys, without a look for each row. */

const VIOLATION = { code: '23503' }
const INSERT = `insert into object (id, root_id, parent_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
  select u.id, $2, u.parent_id, $3, u.kind, u.id::text, 0, 'PENDING', now(), now(), now()
  from unnest($1::uuid[], $4::uuid[], $5::object_kind[]) u(id, parent_id, kind)`

async function world() {
  const database = await createTestDatabase()
  const { pool } = database
  onTestFinished(() => database[Symbol.asyncDispose]())
  const [project, root, child] = [randomUUID(), randomUUID(), randomUUID()]
  await pool.query(`insert into project (id, name, created_at, updated_at) values ($1, 'placed', now(), now())`, [
    project,
  ])
  // The guard of phases would refuse what is to be refused here for another reason.
  await pool.query('alter table object disable trigger user')
  for (const trigger of ['places', 'stays', 'children'])
    await pool.query(`alter table object enable trigger object_${trigger}`)
  const clients: PoolClient[] = []
  for (let i = 0; i < 2; i++) clients.push(await pool.connect())
  onTestFinished(() => {
    for (const client of clients) client.release()
  })
  const [a, b] = clients as [PoolClient, PoolClient]
  const insertAll = (client: PoolClient, rows: readonly (readonly [string, string | null])[], into = project) =>
    client.query(INSERT, [
      rows.map(([id]) => id),
      root,
      into,
      rows.map(([, parent]) => parent),
      rows.map(([, parent]) => (parent === null ? 'INSTALLATION' : 'EXECUTION')),
    ])
  const remove = (client: PoolClient, ...ids: readonly string[]) =>
    client.query('delete from object where id = any($1::uuid[])', [ids])
  const isWaiting = async (client: PoolClient) => {
    const { rows } = await pool.query('select from pg_stat_activity where pid = $1 and wait_event_type = $2', [
      (client as unknown as { processID: number }).processID,
      'Lock',
    ])
    return rows.length > 0
  }
  return { pool, a, b, project, root, child, insertAll, remove, isWaiting }
}

test('an object needs a parent and a project that exist, also those of its own statement', async () => {
  const { pool, a, project, root, child, insertAll, remove } = await world()
  await expect(insertAll(a, [[child, root]])).rejects.toMatchObject(VIOLATION)
  await expect(insertAll(a, [[root, null]], randomUUID())).rejects.toMatchObject(VIOLATION)
  await insertAll(a, [
    [child, root],
    [root, null],
  ])
  await expect(insertAll(a, [[randomUUID(), randomUUID()]])).rejects.toMatchObject(VIOLATION)
  await expect(pool.query('update object set parent_id = $1 where id = $2', [child, root])).rejects.toMatchObject(
    VIOLATION,
  )
  await expect(remove(a, root)).rejects.toMatchObject(VIOLATION)
  await expect(pool.query('delete from project where id = $1', [project])).rejects.toMatchObject(VIOLATION)
  await remove(a, root, child)
  await pool.query('delete from project where id = $1', [project])
})

test('a parent or a project that goes while another transaction refers to it stays, or refuses the reference', async () => {
  const { a, b, project, root, child, insertAll, remove, isWaiting } = await world()
  await insertAll(a, [[root, null]])
  await a.query('begin')
  await insertAll(a, [[child, root]])
  const removed = Promise.allSettled([remove(b, root)])
  await until(() => isWaiting(b), { what: 'the removal waits for the insert' })
  await a.query('commit')
  expect(await removed).toMatchObject([{ status: 'rejected', reason: VIOLATION }])

  await a.query('begin')
  await remove(a, child, root)
  await a.query('delete from project where id = $1', [project])
  const inserted = Promise.allSettled([insertAll(b, [[randomUUID(), root]])])
  await until(() => isWaiting(b), { what: 'the insert waits for the removal' })
  await a.query('commit')
  expect(await inserted).toMatchObject([{ status: 'rejected', reason: VIOLATION }])
})
