import { request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createApi } from '../graphql/api.ts'
import { startTestApp } from '../testkit/app.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { post, refusals } from './call.ts'

/** Queries that take too long, and those for which nobody waits any more. */

const SLOW = '{ projects(first: 1) { edges { node { name dataObjects(first: 1) { edges { node { name } } } } } } }'

/** The searches of an engine would wait for the lock for as long as it is held. */
const GATEWAY = { PHASELINE_ROLES: 'gateway' }

/** For as long as the test takes: by itself Postgres would end the session after ten idle seconds. */
const hold = (table: 'project' | 'object') =>
  `begin; set local idle_in_transaction_session_timeout = 0; lock table ${table} in access exclusive mode`

test('a query ends in time, and Postgres ends its statement', async () => {
  await using database = await createTestDatabase(2)
  const env = { ...GATEWAY, DATABASE_URL: database.url, PHASELINE_OPERATION_TIMEOUT_MS: '2000' }
  await using app = await startTestApp({ env })
  const port = Number(new URL(app.origin).port)
  const isAnswered = async () => (await post(port, app.token, SLOW)).json().errors === undefined
  // The first one loads what reads.
  await until(isAnswered, { what: 'the query is answered' })
  const client = await database.pool.connect()
  const waiting = async () => {
    const { rows } = await database.pool.query(
      `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'project'`,
    )
    return rows.length
  }
  try {
    await client.query(hold('project'))
    const answered = post(port, app.token, SLOW)
    let isOver = false
    void answered.finally(() => {
      isOver = true
    })
    // On a busy machine its time is over before this has seen it.
    await until(async () => isOver || (await waiting()) > 0, { what: 'the statement waits' })
    const { status, json } = await answered
    expect([status, json().data, json().errors[0].extensions.code]).toEqual([200, null, 'TIMEOUT'])
    await until(async () => (await waiting()) === 0, { what: 'the statement is cancelled, while the lock is held' })
  } finally {
    await client.query('rollback')
    client.release()
  }
  await until(isAnswered, { what: 'the query is answered again' })
  expect(await refusals({ port }, app.token, 'TIMEOUT')).toBeGreaterThanOrEqual(1)
})

test('the answer is the same when Postgres is the first to end the statement', async () => {
  await using api = await createApi()
  const token = await api.token()
  const { port } = await api.serve()
  const client = await api.world.pool.connect()
  onTestFinished(() => client.release())
  await client.query(hold('project'))
  const answered = post(port, token, SLOW)
  const cancelWaiting = () =>
    api.world.pool.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  await until(async () => ((await cancelWaiting()).rowCount ?? 0) > 0, { what: 'the statement has waited' })
  const { status, json } = await answered
  await client.query('rollback')
  expect(status).toBe(200)
  expect(json()).toEqual({
    data: null,
    errors: [{ message: expect.stringContaining('took more than 30000 ms'), extensions: { code: 'TIMEOUT' } }],
  })
})

test('when a client has gone, Postgres ends what runs for it at once; others have connections of their own meanwhile', async () => {
  await using database = await createTestDatabase(2)
  await using app = await startTestApp({ env: { ...GATEWAY, DATABASE_URL: database.url } })
  const port = Number(new URL(app.origin).port)
  const query = '{ objects(first: 1) { edges { node { id } } } }'
  expect((await post(port, app.token, query)).json().errors).toBeUndefined()
  const create =
    'mutation { created: createToken(input: { name: "bob", role: READER }) { ... on CreatedToken { secret } } }'
  const bob: string = (await post(port, app.token, create)).json().data.created.secret
  const client = await database.pool.connect()
  const waiting = async () => {
    const { rows } = await database.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length
  }
  const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' }
  try {
    await client.query(hold('object'))
    const before = performance.now()
    const impatient = Array.from({ length: CONNECTIONS }, () => {
      const sent = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers })
      sent.on('error', () => {})
      sent.end(JSON.stringify({ query }))
      return sent
    })
    await until(async () => (await waiting()) >= OF_ONE, { what: 'the statements wait' })
    const projects = '{ projects(first: 1) { edges { node { name } } } }'
    // One principal does not get all connections.
    expect((await post(port, bob, projects)).json().data.projects.edges).toHaveLength(1)
    expect(await waiting()).toBe(OF_ONE)
    for (const sent of impatient) sent.destroy()
    await until(async () => (await waiting()) < OF_ONE, { what: 'they are cancelled, while the lock is held' })
    const { status } = await post(port, app.token, projects)
    expect(status).toBe(200)
    // By itself each would have had to wait for its time limit.
    expect(performance.now() - before).toBeLessThan(OPERATION_TIMEOUT_MS)
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await post(port, app.token, query)).json().errors).toBeUndefined()
})
/** All that queries have, and those of one principal. */
const CONNECTIONS = 8
const OF_ONE = 6
const OPERATION_TIMEOUT_MS = 30_000

test('later resolvers of a query that has ended do not run, nor of one whose client has gone', async () => {
  await using api = await createApi()
  const token = await api.token()
  const server = await api.serve({ limits: { operationTimeoutMs: 200 } })
  const patient = await api.serve()
  expect((await post(server.port, token, SLOW)).status).toBe(200)
  const client = await api.world.pool.connect()
  onTestFinished(() => client.release())
  const lock = () => client.query(hold('project'))
  const blocked = async () => {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }

  await lock()
  const late = await post(server.port, token, SLOW)
  expect(late.json().errors[0].extensions.code).toBe('TIMEOUT')
  const statements = await api.statements(async () => {
    await client.query('rollback')
    await post(server.port, token, '{ viewer { name } }')
  })
  expect(statements).toBe(0)

  await lock()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const impatient = request({ host: '127.0.0.1', port: patient.port, path: '/graphql', method: 'POST', headers })
  impatient.on('error', () => {})
  impatient.end(JSON.stringify({ query: SLOW }))
  await until(blocked, { what: 'the statement waits' })
  impatient.destroy()
  const more = await api.statements(async () => {
    await post(patient.port, token, '{ viewer { name } }')
    await client.query('rollback')
    await post(patient.port, token, '{ viewer { name } }')
  })
  expect(more).toBe(0)
})
