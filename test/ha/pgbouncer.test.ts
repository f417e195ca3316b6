import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { StartProblem } from '../../src/serve.ts'
import { createPool } from '../../src/store/pool.ts'
import { DatabaseServers } from '../../src/store/servers.ts'
import { startTestApp } from '../testkit/app.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { areProgramsThere, ownedFolder, startProgram } from './programs.ts'

interface Bouncer {
  readonly mode: 'session' | 'transaction'
  /** It drops our settings; otherwise it refuses connections that have some. */
  readonly ignores: boolean
  readonly database: string
}

/** A PgBouncer before the Postgres of this run; its URL. */
async function startBouncer({ mode, ignores, database }: Bouncer): Promise<string> {
  const { host, port, user } = inject('postgres')
  const folder = await ownedFolder()
  const own = await freePort()
  const file = join(folder.path, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${host} port=${port} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
${ignores ? 'ignore_startup_parameters = options' : ''}
`,
  )
  const bouncer = startProgram('pgbouncer', [file], folder.path)
  onTestFinished(async () => {
    await bouncer[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  await until(() => bouncer.output().includes('process up'), { what: 'PgBouncer listens' })
  return `postgresql://${user}@127.0.0.1:${own}/${database}`
}

const SHOWN = `select name, setting from pg_settings
  where name in ('enable_seqscan', 'idle_in_transaction_session_timeout', 'lock_timeout', 'work_mem') order by name`

test.runIf(areProgramsThere()).each([{ ignores: false }, { ignores: true }])(
  'a server works behind PgBouncer in session mode, with its settings (dropped silently: $ignores)',
  async ({ ignores }) => {
    await using database = await createTestDatabase(1)
    const url = await startBouncer({ mode: 'session', ignores, database: database.name })
    const connectionString = `${url}?options=${encodeURIComponent('-c work_mem=7MB')}`
    await using app = await startTestApp({
      env: { DATABASE_URL: connectionString, PHASELINE_ROLES: 'gateway,engine,agents' },
    })
    const id = await create(app.client, 'behind-a-pooler', items(3))
    await until(async () => (await show(app.client, id))?.finished, { what: 'the tree is done' })
    expect(app.output()).not.toContain('"level":50')

    const servers = new DatabaseServers({ connection: { connectionString } })
    servers.isPooled = true
    const pool = createPool(servers, { max: 2, logger: pino({ level: 'silent' }) })
    onTestFinished(() => pool.end())
    expect((await pool.query(SHOWN)).rows).toEqual([
      { name: 'enable_seqscan', setting: 'off' },
      { name: 'idle_in_transaction_session_timeout', setting: '10000' },
      { name: 'lock_timeout', setting: '35000' },
      { name: 'work_mem', setting: '7168' },
    ])
    // So a connection that a network has swallowed is found there, too.
    const client = await pool.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    expect(client).toMatchObject({ backendPid: rows[0]?.pid })
    client.release()
  },
)

test.runIf(areProgramsThere())('a server refuses PgBouncer in transaction mode, and says what to do', async () => {
  await using database = await createTestDatabase(1)
  const DATABASE_URL = await startBouncer({ mode: 'transaction', ignores: true, database: database.name })
  const failed = await startTestApp({ env: { DATABASE_URL } }).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(StartProblem)
  expect(failed).toMatchObject({ message: expect.stringContaining('set pool_mode=session for this database') })
})
