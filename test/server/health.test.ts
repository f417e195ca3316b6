import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, startTestProcess, type TestApp, type TestProcess } from '../testkit/app.ts'
import { create, items } from '../testkit/mutations.ts'
import { type Switch, startSwitch } from '../testkit/own-postgres.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** A gateway, and an engine without one whose way to the database can be cut. */

const TOKEN = 'a-token-of-the-administrator'
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
  const env = { PHASELINE_ADMIN_PORT: '0', PHASELINE_LOG_LEVEL: 'info' }
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
async function get(path: string, headers: Record<string, string> = {}, of: TestProcess = engine): Promise<Answer> {
  const response = await fetch(`${of.app.adminOrigin}${path}`, { headers })
  return { status: response.status, text: await response.text() }
}
const JSON_TYPE = { accept: 'application/json' }
/** Reasons against it, when there are any. */
const whyNot = async (of: TestProcess = engine): Promise<string | null> => {
  const { status, text } = await get('/readyz', {}, of)
  return status === 200 ? null : text
}

test('an engine alone answers probes on the port for operators, whatever they call it', async () => {
  expect(engine.app.origin).toBeNull()
  for (const path of ['/livez', '/healthz']) expect(await get(path)).toEqual({ status: 200, text: 'ok\n' })
  expect(await get('/readyz')).toEqual({ status: 200, text: 'ready\n' })
  const names = ['started', 'draining', 'database', 'writable', 'numberer', 'pool', 'engine', 'clock']
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

test('a process says what has started, once and without a password', async () => {
  const lines = engine.output().trim().split('\n')
  const [line, ...more] = lines.filter((one) => one.includes('Phaseline has started')).map((one) => JSON.parse(one))
  expect(more).toEqual([])
  expect(line).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    roles: ['engine'],
    database: { host: new URL(way.url).host, name: database.name },
    schema: expect.stringMatching(/^\d{14}_\w+$/),
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

test('a full disk is not ready until there is space, though nobody sends writes meanwhile', async () => {
  const { pool } = database
  await pool.query(`
    create function full_disk() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create function full_disk_for_tables() returns event_trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger full_disk before insert on object execute function full_disk();
    create event trigger full_disk_for_tables on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function full_disk_for_tables();`)
  await expect(create(gateway.client, 'refused', items(1))).rejects.toThrow()
  const reason = await until(() => whyNot(gateway), { what: 'that is seen' })
  expect(reason).toBe('writable: the database has no space left\n')
  await pool.query('drop event trigger full_disk_for_tables; drop trigger full_disk on object')
  await until(async () => (await whyNot(gateway)) === null, { what: 'it is ready again' })
  await create(gateway.client, 'accepted', items(1))
})

test('a process that drains is not ready at once, and works on meanwhile', async () => {
  expect(await whyNot(gateway)).toBeNull()
  await gateway.app.drain()
  expect(await whyNot(gateway)).toBe('draining: the process is shutting down\n')
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503)
  await create(gateway.client, 'late', items(1))
})
