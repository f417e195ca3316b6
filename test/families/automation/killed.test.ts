import { expect, test } from 'vitest'
import { readPages } from '../../../src/client-model/index.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { startShiftedPostgres } from '../../testkit/shifted-postgres.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const CREATE = gql(
  `mutation ($input: CreateScheduleInput!) { answer: createSchedule(input: $input) { ... on Schedule { id } } }`,
)
const PROJECT = gql(
  `mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const READ = gql(`query ($id: ID!, $first: Int!, $after: String) {
  object(id: $id) { ... on Schedule { firings(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { due lastDue times outcome reason started { id } } }
  } } }
}`)
const EVENTS = gql(`query ($first: Int!, $after: String) {
  objects(filter: { project: "ci", kinds: [EVENT] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id ... on Event { payload } } }
  }
}`)

const TOKEN = 'administrator-of-a-shifted-database'

test('whatever is killed, each time has one event or is named as skipped', async () => {
  await using server = await startServer()
  await server.client.query(PROJECT)
  const input = {
    ...{
      project: 'ci',
      name: 'each',
      when: { every: { ms: 1_000 } },
      overlap: 'ALLOW' as const,
      catchUp: 'ALL' as const,
    },
    run: { createEvent: { source: 'cron', type: 'second', payload: '${schedule.due}' } },
  }
  const id = (await server.client.query(CREATE, { input })).answer?.id ?? ''
  const read = async () => {
    const { nodes } = present(
      await readPages(
        100_000,
        async (first, after) => (await server.client.query(READ, { id, first, after })).object?.firings ?? null,
      ),
    )
    return nodes.toReversed()
  }
  for (let round = 0; round < soak(3, 30); round += 1) {
    const before = (await read()).length
    await until(async () => (await read()).length > before + 1, { what: 'it fires' })
    await server.kill()
    await server.start()
  }
  const firings = await until(
    async () => {
      const found = await read()
      return found.every(({ outcome }) => outcome !== 'PENDING') ? found : null
    },
    { what: 'all firings are decided' },
  )
  const told = firings.flatMap(({ due, times }) =>
    Array.from({ length: times ?? 0 }, (_, i) => Date.parse(due) + i * 1_000),
  )
  const first = told[0] ?? 0
  expect(told).toEqual(told.map((_, i) => first + i * 1_000))
  const { nodes } = present(
    await readPages(100_000, async (first, after) => (await server.client.query(EVENTS, { first, after })).objects),
  )
  const events = new Map(nodes.map(({ id, payload }) => [id, payload ?? '']))
  const fired = firings.filter(({ outcome }) => outcome === 'FIRED')
  const started = new Map(fired.map(({ started, due }) => [started?.id ?? '', due]))
  expect(started.size).toBe(fired.length)
  // The server works on while the test reads.
  const last = fired.at(-1)?.due ?? ''
  expect(new Map([...events].filter(([, payload]) => payload <= last))).toEqual(started)
})

test('a database whose clock runs ahead fires early what it fires, once, and not again', async () => {
  await using postgres = await startShiftedPostgres()
  const { host, user, database, port } = postgres.connection
  const url = `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`
  await using server = await startServer({ env: { DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY }, token: TOKEN })
  await server.client.query(PROJECT)
  const create = async (name: string, when: object) => {
    const run = { createEvent: { source: 'cron', type: name, payload: '${schedule.due}' } }
    const input = { project: 'ci', name, when, run, overlap: 'ALLOW' as const, catchUp: 'ALL' as const, maxCaughtUp: 3 }
    return (await server.client.query(CREATE, { input })).answer?.id ?? ''
  }
  const decided = async (id: string) => {
    const { object } = await server.client.query(READ, { id, first: 100 })
    const all = (object?.firings?.edges ?? []).map(({ node }) => node)
    return all.some(({ outcome }) => outcome === 'PENDING') ? [] : all.toReversed()
  }
  await until(() => Date.now() % 60_000 < 45_000, { what: 'no other minute begins soon' })
  const id = await create('minutely', { every: { ms: 60_000 } })
  postgres.setClock('+600s')
  const early = await until(async () => ((found) => (found.length > 0 ? found : null))(await decided(id)), {
    what: 'it fires ten minutes early',
  })
  const fired = early.filter(({ outcome }) => outcome === 'FIRED')
  expect(fired).toHaveLength(3)
  expect(early.filter(({ outcome }) => outcome !== 'FIRED')).toMatchObject([{ outcome: 'SKIPPED', reason: 'MISSED' }])

  // Back: its times come again, and it stays quiet while others fire.
  postgres.setClock('+0s')
  for (const n of [1, 2]) {
    const other = await create(`other-${n}`, { every: { ms: 1_000 } })
    await until(async () => (await decided(other)).length > 0, { what: 'another one fires' })
  }
  expect(await decided(id)).toEqual(early)
  postgres.setClock('+690s')
  const later = await until(async () => ((found) => (found.length > early.length ? found : null))(await decided(id)), {
    what: 'the time after the last one fires',
  })
  expect(later.slice(0, early.length)).toEqual(early)
  const dues = later.map(({ due }) => due)
  expect(new Set(dues).size).toBe(dues.length)
})
