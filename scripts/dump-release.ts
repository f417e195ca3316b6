import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { createClient } from '../src/client/index.ts'
import { startEmbeddedPostgres } from '../src/store/embedded/index.ts'
import { type Connection, createPool } from '../src/store/pool.ts'
import { until } from '../test/testkit/wait.ts'
import { writeDump } from '../test/upgrade/dump.ts'
import { fillReleased } from '../test/upgrade/released-world.ts'

/** Writes the dump and keeps the schema of a release: `dump-release.ts <release> [--from <checkout>]`. Fills a database of its own for it. */

const FOLDER = new URL('../test/upgrade/', import.meta.url)
/** The tests of upgrades open secrets with this key. */
const SECRET_KEY = Buffer.alloc(32, 'k').toString('base64')
const ADMIN = 'administrator-of-the-release'
const logger = pino({ level: 'silent' })

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string', default: resolve(import.meta.dirname, '..') } },
})
const [release] = positionals
if (!release) throw new Error('Which release? E.g. npm run dump:release -- 0.2.0')

await using stack = new AsyncDisposableStack()
const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-dump-')), (path) => rm(path, { recursive: true }))
const postgres = stack.use(await startEmbeddedPostgres({ dataDir: folder, logger, settings: { fsync: 'off' } }))
const pool = stack.adopt(createPool(postgres.connection, { max: 2, logger }), (open) => open.end())
const port = await freePort()
const url = `http://127.0.0.1:${port}/graphql`
const client = stack.use(createClient({ url, token: ADMIN }))
let stop = await startServer(values.from, postgres.connection)
// In case a step fails.
stack.defer(() => stop())

const filled = await fillReleased({
  url,
  client,
  async age() {
    await stop()
    await pool.query(`update log_content set "at" = array(select one - interval '100 days' from unnest("at") as one)`)
    stop = await startServer(values.from, postgres.connection)
    const forgotten = async () => (await pool.query('select from log_meta where floor_seq > 0')).rowCount
    await until(forgotten, { what: 'the log is pruned' })
  },
})
await until(isQuiet, { what: 'nothing is left to do' })
await stop()
const notes = { admin: ADMIN, secretKey: SECRET_KEY, ...filled }
const head = { release, made: new Date().toISOString(), notes }
const text = await writeDump(pool, join(values.from, 'prisma/migrations'), head)
await writeFile(new URL(`${release}.sql`, FOLDER), text)
await copyFile(join(values.from, 'schema.graphql'), new URL(`${release}.graphql`, FOLDER))
process.stdout.write(`test/upgrade/${release}.sql: ${Math.round(text.length / 1024)} KiB\n`)

/** A database in the middle of its work would continue by itself, and a test could not say what to expect of it. */
async function isQuiet(): Promise<boolean> {
  const { rowCount } = await pool.query(`select from wake union all select from root_queue where wake_at <= now()
    union all select from log_batch where first_seq is null`)
  return rowCount === 0
}

/** Starts a server without built-in agents: this script plays them. Returns a function that stops it. */
async function startServer(checkout: string, { host, user, database, port: socket }: Connection) {
  const child = spawn(process.execPath, [join(checkout, 'src/cli/main.ts'), 'serve', '--no-example'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: String(port),
      PHASELINE_DATA: folder,
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_TOKEN: ADMIN,
      PHASELINE_SECRET_KEY: SECRET_KEY,
      PHASELINE_LOG_LEVEL: 'warn',
      DATABASE_URL: `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(`${host}`)}&port=${socket}`,
    },
  })
  const ended = new Promise((exit) => child.once('exit', exit))
  const ready = async () => {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok
  }
  await until(ready, { what: 'the server is ready', timeoutMs: 60_000 })
  return async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
