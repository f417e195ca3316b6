import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FamilyDefinition } from '../../src/families/define-family.ts'
import { deployments } from '../../src/families/deployments/index.ts'
import { createLogger } from '../../src/logger.ts'
import { startAgentsAlone } from '../../src/start/agents-alone.ts'
import { SEQUENCES } from '../../src/store/sequences.ts'
import { configOf, startTestApp, startTestProcess, type TestApp, type TestProcess } from '../testkit/app.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { type Switch, startSwitch } from '../testkit/own-postgres.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** A gateway, and an engine without one whose way to the database can be cut. */

const TOKEN = 'a-token-of-the-administrator'
const METRICS_TOKEN = 'a-token-of-prometheus'
let database: TestDatabase
let postgres: { readonly socket: string; readonly connection: TestDatabase['connection'] }
let way: Switch
let engine: TestProcess
let gateway: TestApp
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  database = shared.use(await createTestDatabase())
  const { connection } = database
  postgres = { socket: `${connection.host}/.s.PGSQL.${connection.port}`, connection }
  way = shared.use(await startSwitch(postgres))
  const env = { PHASELINE_ADMIN_PORT: '0', PHASELINE_LOG_LEVEL: 'info', PHASELINE_METRICS_TOKEN: METRICS_TOKEN }
  engine = shared.use(
    await startTestProcess({ token: TOKEN, env: { ...env, DATABASE_URL: way.url, PHASELINE_ROLES: 'engine' } }),
  )
  gateway = shared.use(
    await startTestApp({
      token: TOKEN,
      env: { ...env, DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway', PHASELINE_DRAIN_DELAY_MS: '1' },
    }),
  )
})
afterAll(() => shared.disposeAsync())

interface Answer {
  readonly status: number
  readonly text: string
}
interface Asked {
  readonly app: Pick<TestProcess['app'], 'adminOrigin'>
}
async function get(path: string, headers: Record<string, string> = {}, of: Asked = engine): Promise<Answer> {
  const response = await fetch(`${of.app.adminOrigin}${path}`, { headers })
  return { status: response.status, text: await response.text() }
}
async function post({ url }: TestApp, name: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  const body = JSON.stringify({ query: MUTATIONS.createInstallation, variables: { input: { name, spec: items(1) } } })
  const response = await fetch(url, { method: 'POST', headers, body })
  const { errors } = (await response.json()) as { readonly errors?: readonly object[] }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), errors }
}
const JSON_TYPE = { accept: 'application/json' }
/** Reasons against it, when there are any. */
const whyNot = async (of: Asked = engine): Promise<string | null> => {
  const { status, text } = await get('/readyz', {}, of)
  return status === 200 ? null : text
}

test('an engine alone answers probes on the port for operators, whatever they call it', async () => {
  expect(engine.app.origin).toBeNull()
  for (const path of ['/livez', '/healthz']) expect(await get(path)).toEqual({ status: 200, text: 'ok\n' })
  // On a busy machine a probe of the start may have been late.
  await until(async () => (await whyNot()) === null, { what: 'it is ready' })
  expect(await get('/readyz')).toEqual({ status: 200, text: 'ready\n' })
  const names = ['started', 'draining', 'database', 'schema', 'writable', 'numberer', 'pool', 'engine', 'clock']
  const ready = await get('/readyz', JSON_TYPE)
  const checks = names.map((name) => ({ name, ok: true, reason: null }))
  expect(JSON.parse(ready.text)).toEqual({ ready: true, checks })
  for (const path of ['/', '/graphql']) expect((await get(path)).status).toBe(404)
  expect((await get('/livez', { origin: String(engine.app.adminOrigin) })).status).toBe(403)
})

test('metrics have the same door on each port', async () => {
  expect((await get('/metrics')).status).toBe(401)
  const headers = { authorization: `Bearer ${TOKEN}` }
  const { status, text } = await get('/metrics', headers)
  expect([status, /^phaseline_log_head \d/m.test(text), text.includes('phaseline_websockets')]).toEqual([
    200,
    true,
    false,
  ])
  const ofGateway = await get('/metrics', headers, gateway)
  expect(ofGateway.text).toContain('phaseline_websockets 0')
})

/** The values of metrics, by name and labels, as they are written. */
async function metrics(of: TestProcess = engine): Promise<ReadonlyMap<string, number>> {
  const { status, text } = await get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` }, of)
  expect(status).toBe(200)
  const lines = text.split('\n').filter((line) => line.startsWith('phaseline_'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('metrics tell of trees, work, transitions, transactions and operations', async () => {
  await create(gateway.client, 'measured', items(2))
  const ofGateway = await metrics(gateway)
  const committed = [...ofGateway].filter(([name]) => name.startsWith('phaseline_transitions_total{kind="DEPLOY_ITEM"'))
  expect(committed.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(2)
  expect(ofGateway.get('phaseline_transactions_total{outcome="committed"}')).toBeGreaterThanOrEqual(1)
  const executed = 'phaseline_operation_seconds_count{type="mutation",field="createInstallation",outcome="ok"}'
  expect(ofGateway.get(executed)).toBe(1)
  expect(ofGateway.get('phaseline_database_connections{pool="trees",state="most"}')).toBe(4)
  expect([...ofGateway.keys()].find((name) => name.startsWith('phaseline_build_info{version="'))).toBeDefined()

  // Any process says it, within seconds.
  const work = await until(
    async () => {
      const read = await metrics()
      return read.get('phaseline_work{type="mock",state="offered"}') === 2 ? read : null
    },
    { what: 'the engine tells of the work' },
  )
  expect(work.get('phaseline_work_oldest_seconds{type="mock",state="offered"}')).toBeGreaterThan(0)
  expect(work.get('phaseline_database_up')).toBe(1)
  expect(work.get('phaseline_trees_failing')).toBe(0)
  expect(work.get('phaseline_slots_capacity{pool="WORKER"}')).toBeGreaterThan(0)
  expect(work.has('phaseline_websockets')).toBe(false)
})

test('operations that fail are counted by their code, though they are answered with 200, and not by the names of clients', async () => {
  const ask = async (query: string) =>
    await fetch(`${gateway.origin}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ query }),
    })
  for (const name of ['A', 'B']) {
    const answer = await ask(`query ${name} { other: phaseChanges(first: 1, after: "none") { edges { cursor } } }`)
    expect(answer.status).toBe(200)
  }
  const read = await metrics(gateway)
  const failed = 'phaseline_operation_seconds_count{type="query",field="phaseChanges",outcome="BAD_USER_INPUT"}'
  expect(read.get(failed)).toBe(2)
})

test('the token of the metrics is no key to anything else, nor is a similar one to the metrics', async () => {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: '{ viewer { name } }' })
  expect((await fetch(`${gateway.origin}/graphql`, { method: 'POST', headers, body })).status).toBe(401)
  expect((await fetch(`${gateway.origin}/metrics`, { headers })).status).toBe(200)
  expect((await get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}x` })).status).toBe(401)
})

test('a process says what has started, once and without a password', async () => {
  const lines = engine.output().trim().split('\n')
  const [line, ...more] = lines.filter((one) => one.includes('Phaseline has started')).map((one) => JSON.parse(one))
  expect(more).toEqual([])
  expect(line).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    roles: ['engine'],
    database: { host: new URL(way.url).host, name: database.name },
    schema: expect.stringMatching(/^\d{14}_\w+$/),
    schemaRange: {
      oldestOfPrograms: expect.stringMatching(/^\d{14}_\w+$/),
      ofThisProgram: expect.stringMatching(/^\d{14}_\w+$/),
    },
    epoch: 1,
    gateway: null,
    admin: engine.app.adminOrigin,
  })
})

test('a process without its database is alive and not ready, and says why', async () => {
  way.to(null)
  const reason = await until(() => whyNot(), { what: 'the loss is seen' })
  expect(reason).toBe('database: the database does not answer\n')
  expect((await get('/livez')).status).toBe(200)
  const { status, text } = await get('/readyz', JSON_TYPE)
  expect([status, JSON.parse(text)]).toMatchObject([503, { ready: false }])
  expect(text).not.toMatch(/127\.0\.0\.1|postgres|select|ECONN/)
  const without = await until(
    async () => {
      const read = await metrics()
      return read.get('phaseline_database_up') === 0 ? read : null
    },
    { what: 'the metrics say so' },
  )
  expect(without.has('phaseline_trees_failing')).toBe(false)
  expect(without.has('phaseline_log_head')).toBe(true)
  way.to(postgres)
  await until(async () => (await whyNot()) === null, { what: 'it is ready again' })
})

test('a database that takes no writes is not ready', async () => {
  const alter = async (change: string) => {
    await database.pool.query(`alter database "${database.name}" ${change}`)
    // It holds for new connections.
    await database.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  }
  await alter('set default_transaction_read_only = on')
  expect(await until(() => whyNot(), { what: 'that is seen' })).toMatch(/^writable: the database takes no writes/m)
  await alter('reset default_transaction_read_only')
  for (const each of [engine, gateway])
    await until(async () => (await whyNot(each)) === null, { what: 'it is ready again' })
})

test('a full disk is an outage, told once, and not ready until there is space, though nobody sends writes meanwhile', async () => {
  const before = gateway.output().length
  const { pool } = database
  await pool.query(`
    create function full_disk() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create function full_disk_for_tables() returns event_trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger full_disk before insert on object execute function full_disk();
    create event trigger full_disk_for_tables on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function full_disk_for_tables();`)
  const refused = await Promise.all(Array.from({ length: 10 }, (_, i) => post(gateway, `refused-${i}`)))
  for (const { status, retryAfter, errors } of refused) {
    expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '1' })
    expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } }])
  }
  const lines = gateway
    .output()
    .slice(before)
    .split('\n')
    .filter((line) => line.includes('"shortage":'))
  expect(lines.map((line) => JSON.parse(line).shortage)).toEqual(['the database has no space left'])
  const reason = await until(() => whyNot(gateway), { what: 'that is seen' })
  expect(reason).toBe('writable: the database has no space left\n')
  await pool.query('drop event trigger full_disk_for_tables; drop trigger full_disk on object')
  await until(async () => (await whyNot(gateway)) === null, { what: 'it is ready again' })
  await create(gateway.client, 'accepted', items(1))
})

test('sequences that are behind their tables catch up: by the first write that fails, by a probe, at start', async () => {
  const { pool } = database
  const setBack = () => pool.query(SEQUENCES.map(({ sequence }) => `select setval('${sequence}', 1, false)`).join(';'))
  const behind = async () => {
    const found = SEQUENCES.map(
      ({ sequence, table, column }) => `select '${sequence}' as sequence
      where (select max("${column}") from "${table}") > (select last_value from "${sequence}")`,
    )
    return (await pool.query<{ sequence: string }>(found.join(' union all '))).rows.map(({ sequence }) => sequence)
  }
  await setBack()
  expect(await behind()).toContain('log_batch_id_seq')
  expect(await post(gateway, 'not-yet')).toMatchObject({ status: 503, errors: [{ extensions: { retryable: true } }] })
  expect(await behind()).toEqual([])
  await create(gateway.client, 'not-yet', items(1))

  await setBack()
  await until(async () => (await behind()).length === 0 || (await whyNot(), false), { what: 'a probe has mended it' })
  await until(async () => (await whyNot()) === null, { what: 'it is ready' })

  await setBack()
  await using started = await startTestApp({
    ...{ token: TOKEN, env: { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway' } },
  })
  expect(await behind()).toEqual([])
  expect(started.output()).toContain('"sequence":"log_batch_id_seq"')
  await create(started.client, 'at-once', items(1))
})

test('agents alone work for a gateway elsewhere, and say whether they can', async () => {
  const common = { PHASELINE_ROLES: 'agents', PHASELINE_TOKEN: TOKEN, PHASELINE_ADMIN_PORT: '0' }
  const start = async (url: string, of: readonly FamilyDefinition[]) => {
    const config = await configOf({ ...common, PHASELINE_LOG_LEVEL: 'info', PHASELINE_URL: url })
    let output = ''
    const write = (line: string): void => {
      output += line
    }
    const app = await startAgentsAlone(config, {
      ...{ logger: createLogger(config.logLevel, { write }), gadgetFolders: [], families: of },
    })
    return { app, output: () => output, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
  }
  {
    const url = `${gateway.origin}/graphql`
    await using alone = await start(url, [deployments])
    expect(alone.app.origin).toBeNull()
    const checks = ['started', 'draining', 'agents', 'gateway'].map((name) => ({ name, ok: true, reason: null }))
    // The gateway is in the same process, and has two seconds to answer.
    await until(async () => (await whyNot(alone)) === null, { what: 'the agents are ready' })
    const { text } = await get('/readyz', JSON_TYPE, alone)
    expect(JSON.parse(text)).toEqual({ ready: true, checks })
    const nothing = { database: null, schema: null, epoch: null }
    const told = { roles: ['agents'], gateway: url, admin: alone.app.adminOrigin, ...nothing }
    expect(JSON.parse(alone.output().split('\n')[0] ?? '')).toMatchObject(told)
    const id = await create(gateway.client, 'for-agents', items(1))
    const ended = async () => (await show(gateway.client, id))?.phase === 'SUCCEEDED'
    await until(ended, { what: 'an agent has done it' })
  }
  await using lost = await start('http://127.0.0.1:1/graphql', [])
  expect(await whyNot(lost)).toBe('gateway: the gateway does not answer\n')
})

test('a gateway that no administrator can open says so, as does a process without the token for its agents', async () => {
  const env = { PHASELINE_ROLES: 'gateway,agents' }
  await using bare = await startTestProcess({ token: '', env })
  expect(bare.output()).toContain('no administrator can open this gateway')
  expect(bare.output()).toContain('the built-in agents are not started, since they need PHASELINE_TOKEN')
  expect(gateway.output()).not.toContain('no administrator')
})

test('a process that drains is not ready at once, and works on meanwhile', async () => {
  await until(async () => (await whyNot(gateway)) === null, { what: 'it is ready' })
  await gateway.app.drain()
  expect(await whyNot(gateway)).toBe('draining: the process is shutting down\n')
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503)
  await create(gateway.client, 'late', items(1))
})
