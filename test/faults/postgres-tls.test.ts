import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Authority, createAuthority } from '../testkit/certificates.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { type OwnPostgres, startOwnPostgres } from '../testkit/own-postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'

/** A Postgres with a certificate of a private authority, and servers that verify it, or do not get in. */

let stack: AsyncDisposableStack
let authority: Authority
let stranger: Authority
let postgres: OwnPostgres
/** The certificate is for 127.0.0.1, where only this stands. */
let proxy: CuttingProxy
/** Postgres itself, which the certificate does not name. */
const LOOPBACK = `127.77.${randomInt(1, 254)}.${randomInt(1, 254)}`

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const folder = async () =>
    stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-tls-')), (path) => rm(path, { recursive: true, force: true }))
  authority = await createAuthority(await folder())
  stranger = await createAuthority(await folder())
  postgres = stack.use(await startOwnPostgres(undefined, { listen_addresses: LOOPBACK }))
  const client = new Client(postgres.connection)
  await client.connect()
  const { rows } = await client.query<{ data: string }>(`select current_setting('data_directory') as data`)
  const data = rows[0]?.data ?? ''
  await cp(await authority.issue('postgres'), data, { recursive: true })
  // The key must be readable by Postgres alone.
  execFileSync('chown', [`--reference=${data}`, join(data, 'tls.key'), join(data, 'tls.crt')])
  execFileSync('chmod', ['600', join(data, 'tls.key')])
  await client.query(`alter system set ssl_cert_file = 'tls.crt'`)
  await client.query(`alter system set ssl_key_file = 'tls.key'`)
  await client.query(`alter system set ssl = on`)
  await client.query('select pg_reload_conf()')
  await client.end()
  proxy = stack.use(await startCuttingProxy([postgres.connection.port ?? 5432], LOOPBACK))
}, 120_000)
afterAll(() => stack.disposeAsync())

const urlOf = (host: string, port: number, caFile: string): string => {
  const { user, database } = postgres.connection
  return `postgresql://${user}@${host}:${port}/${database}?sslmode=verify-full&sslrootcert=${caFile}`
}
const serve = (DATABASE_URL: string) =>
  startServer({ env: { DATABASE_URL, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_DATABASE_WAIT_MS: '3000' } })

test('all connections of a server are encrypted, and it works', async () => {
  await using server = await serve(urlOf('127.0.0.1', proxy.port, authority.caFile))
  const id = await create(server.client, 'encrypted', items(2))
  await until(async () => (await show(server.client, id))?.finished, { what: 'it has ended' })
  const client = new Client(postgres.connection)
  await client.connect()
  const { rows } = await client.query<{ ssl: boolean }>(
    'select ssl from pg_stat_ssl join pg_stat_activity using (pid) where client_addr is not null',
  )
  await client.end()
  expect(rows.length).toBeGreaterThan(1)
  expect(rows.every(({ ssl }) => ssl)).toBe(true)
})

test.each([
  ['a certificate of another authority', () => urlOf('127.0.0.1', proxy.port, stranger.caFile), /certificate/i],
  [
    'a certificate that does not name the host',
    () => urlOf(LOOPBACK, postgres.connection.port ?? 5432, authority.caFile),
    /certificate|altnames/i,
  ],
])('%s is not accepted, and the server says why', async (_, url, why) => {
  await expect(serve(url())).rejects.toThrow(why)
})
