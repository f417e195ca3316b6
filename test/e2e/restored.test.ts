import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { gql } from '../testkit/gql.ts'
import { create, show } from '../testkit/mutations.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** As older clients ask: a bare sequence number. */
async function resume(client: Client, after: number): Promise<readonly PhaseChange[]> {
  for await (const { changes } of client.followPhases({ after })) return changes
  return []
}
const PAGE = gql('query ($after: String!) { phaseChanges(after: $after, first: 1) { edges { node { sequence } } } }')

async function work(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const id = await create(client, name, {})
    await until(async () => (await show(client, id))?.finished, { what: `${name} is done` })
  }
}
async function headOf({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ n: number }>('select sum(n)::int as n from log_batch')
  return rows[0]?.n ?? 0
}
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i}`)

const token = 'restored-administrator-token'
const environment = (database: TestDatabase) => ({
  DATABASE_URL: database.url,
  PHASELINE_TOKEN: token,
  PHASELINE_SECRET_KEY: SECRET_KEY,
  PHASELINE_ROLES: 'gateway,engine',
})

test('a reader of before a restore does not silently miss what stands in the place of what was lost', async () => {
  await using original = await createTestDatabase(2)
  await using before = await startServer({ env: environment(original), token })
  await work(before.client, names('kept', 3))
  const dumped = await headOf(original)
  await using restored = await copyDatabase(original, 2)
  await until(
    () =>
      work(before.client, ['again']).then(
        () => true,
        () => false,
      ),
    { what: 'the server works on' },
  )
  await work(before.client, names('lost', 3))
  const reader = await headOf(original)
  await before.stop()

  await using after = await startServer({ env: environment(restored), token })
  await work(after.client, names('new', 6))
  expect(await headOf(restored)).toBeGreaterThan(reader)
  await expect(resume(after.client, reader)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
  await expect(after.client.query(PAGE, { after: String(reader) })).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
  expect((await resume(after.client, dumped))[0]?.sequence).toBe(dumped + 1)
})

test('a copy of the database on the same Redis puts nothing into the stream of the original', async () => {
  await using redis = await startRedis()
  await using original = await createTestDatabase(2)
  await using copy = await copyDatabase(original, 2)
  // As a copy of the files would have it.
  await copy.pool.query('update log_meta set log_id = $1', [
    (await original.pool.query<{ log_id: string }>('select log_id from log_meta')).rows[0]?.log_id,
  ])
  const env = { REDIS_URL: redis.url }
  await using production = await startServer({ env: { ...environment(original), ...env }, token })
  await using staging = await startServer({ env: { ...environment(copy), ...env }, token })
  const stop = new AbortController()
  const heard: PhaseChange[] = []
  const done = (async () => {
    for await (const { changes } of production.client.followPhases({ after: 0, signal: stop.signal }))
      heard.push(...changes)
  })()
  await work(staging.client, names('staging', 4))
  await work(production.client, names('production', 2))
  const head = await headOf(original)
  await until(() => heard.length >= head, { what: 'all of its own is told' })
  expect(heard.filter(({ name }) => name.startsWith('staging'))).toEqual([])
  expect(heard.map(({ sequence }) => sequence)).toEqual(heard.map((_, i) => i + 1))
  stop.abort()
  await done
})
