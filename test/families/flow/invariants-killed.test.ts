import { expect, test } from 'vitest'
import { ask } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { createTestDatabase } from '../../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { until } from '../../testkit/wait.ts'

const PROJECT = gql(`mutation ($input: CreateProjectInput!) {
  answer: createProject(input: $input) { ... on Project { name } ... on Error { message } }
}`)
const INVARIANT = gql(`mutation ($input: CreateInvariantInput!) {
  answer: createInvariant(input: $input) { ... on Invariant { id } ... on Error { message } }
}`)
const CREATE = gql(`mutation ($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { ... on Installation { id } ... on Error { message } }
}`)

test.each([
  // The run has ended, and nobody has taken the wake yet: the test holds the tree that is to be woken.
  ['after the end of the run and before the wake', 'select from object where id = $1 for no key update', 'SUCCEEDED'],
  // The run waits for the lock under which it would wake others, and is not ended.
  [
    'within the end of the run',
    `select pg_advisory_xact_lock_shared(hashtextextended($2 || '//shop', 0)) from (select $1::uuid) x`,
    'COMPLETING',
  ],
])('kill -9 %s: the root that waits for it begins', { timeout: 120_000 }, async (_, lock, phase) => {
  await using stack = new AsyncDisposableStack()
  const { url, pool } = stack.use(await createTestDatabase(2))
  const server = stack.use(await startServer({ env: { DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY } }))
  const { client } = server
  for (const name of ['staging', 'production']) await ask(client, PROJECT, { name })
  await ask(client, INVARIANT, { project: 'production', name: 'staging-first', after: { project: 'staging' } })
  const spec = { deployItems: [{ name: 'web', type: 'mock', config: {} }] }
  const wanted = { name: 'shop', spec, reconcile: true }
  const phaseOf = async (id: string) =>
    (await pool.query<{ phase: string }>('select phase from object where id = $1', [id])).rows[0]?.phase
  const { id: shop } = await ask(client, CREATE, { project: 'production', ...wanted })
  await until(async () => (await phaseOf(shop)) === 'PENDING_DEPENDENCIES', { what: 'production waits' })

  const { rows } = await pool.query<{ id: string }>(`select id from project where name = 'staging'`)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(lock, lock.includes('$2') ? [shop, rows[0]?.id] : [shop])
  const { id: before } = await ask(client, CREATE, { project: 'staging', ...wanted })
  if (phase === 'SUCCEEDED') {
    await until(async () => (await phaseOf(before)) === phase, { what: 'the run in staging has ended' })
    const wakes = await pool.query('select from wake where root_id = $1', [shop])
    expect(wakes.rowCount).toBe(1)
  } else
    await until(
      async () => (await pool.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount === 1,
      { what: 'the run is about to end' },
    )
  await server.kill()
  await holder.query('rollback')
  holder.release()
  await server.start()
  await until(async () => (await phaseOf(shop)) === 'SUCCEEDED', { what: 'production follows', timeoutMs: 60_000 })
  expect((await pool.query('select from invariant_wait')).rows).toEqual([])
})
