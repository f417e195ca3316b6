import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, copyFile, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client as DriverClient, type Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { createClient } from '../../src/client/index.ts'
import { MIGRATIONS_FOLDER } from '../../src/start/package-folder.ts'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createPool } from '../../src/store/pool.ts'
import { commandLine, documents } from '../cli/command.ts'
import { ask, payloadOf } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { type MachinePostgres, majorOf, startMachinePostgres } from '../testkit/machine-postgres.ts'
import { create, items } from '../testkit/mutations.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { readCatalog } from '../upgrade/catalog.ts'
import { playAgent, reach } from '../upgrade/played.ts'

/**
 * `phaseline backup` and `phaseline restore` on a server of the version of this machine's pg_dump. On a machine without one,
 * they must say what to install.
 */

const token = 'backup-administrator-token'
const PASSWORD = 'pa55-in-the-url'
const MARKER = 'c0nfid3ntial-value'
const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { answer: claimWork(input: $input) {
  ... on ClaimedWork { items { fence targetCredentials { generation secret } } } ... on Error { message }
} }`)
const LIMIT = gql('mutation { createLimit(input: { name: "one", max: 1 }) { __typename } }')
const LOG = gql('{ log { epoch head endCursor } }')

const shared = new AsyncDisposableStack()
let machine: MachinePostgres | null = null
let folder: string
beforeAll(async () => {
  folder = shared.adopt(await mkdtemp(join(tmpdir(), 'phaseline-backup-')), (path) => rm(path, { recursive: true }))
  const started = await startMachinePostgres()
  if (!started) return console.warn('Tests of backups are left out: no Postgres with its pg_dump is installed')
  machine = shared.use(started)
})
afterAll(() => shared.disposeAsync())

interface Database extends AsyncDisposable {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  /** One connection, of a pool that is ended again. */
  read<T>(work: (pool: Pool) => Promise<T>): Promise<T>
}

async function createDatabase(postgres: MachinePostgres): Promise<Database> {
  const { host, port, user } = postgres
  const name = `backup_${randomBytes(6).toString('hex')}`
  const administer = async (sql: string): Promise<void> => {
    const client = new DriverClient({ host, port, user, database: 'postgres' })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await administer(`create database "${name}"`)
  const url = `postgresql://${user}:${PASSWORD}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
  return {
    url,
    env: { DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY, PATH: process.env.PATH ?? '' },
    async read(work) {
      const pool = createPool({ connectionString: url }, { max: 1, logger: pino({ level: 'silent' }) })
      return await work(pool).finally(() => pool.end())
    },
    [Symbol.asyncDispose]: () => administer(`drop database "${name}" with (force)`),
  }
}
const migrated = async (postgres: MachinePostgres): Promise<Database> => {
  const database = await createDatabase(postgres)
  await database.read((pool) => migrate(pool, MIGRATIONS_FOLDER))
  return database
}
let files = 0
const newFile = (): string => join(folder, `${++files}.backup`)

async function firstAfter(client: Client, after: string): Promise<PhaseChange | undefined> {
  for await (const { changes } of client.followPhases({ after })) return changes[0]
  return undefined
}
const rowsOf = (database: Database, table: string) =>
  database.read(async (pool) => (await pool.query<{ n: number }>(`select count(*) as n from ${table}`)).rows[0]?.n)

test('a drill: work runs, is backed up and goes on; it is restored, driven to its end, and readers are told', async ({
  skip,
}) => {
  if (!machine) return skip()
  await using original = await createDatabase(machine)
  await using target = await createDatabase(machine)
  const file = newFile()
  const serverOf = (database: Database) =>
    startServer({ token, env: { ...database.env, PHASELINE_TOKEN: token, PHASELINE_ROLES: 'gateway,engine' } })

  await using before = await serverOf(original)
  const deployer = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['mock', 'later', 'far'] } as const
  const { secret } = await ask(before.client, MUTATIONS.createToken, deployer)
  await using agent = playAgent({ url: before.url, token: secret, types: ['mock'] })
  await before.client.query(LIMIT, {})
  // One of both holds the limit, and the other one waits for it.
  const limits = [{ limit: 'one' }]
  const waiting = { name: 'waiting', type: 'later', config: {}, limits }
  const far = { name: 'far', type: 'far', target: 'eu', config: {} }
  const deployItems = [...items(1).deployItems.map((one) => ({ ...one, limits })), waiting, far]
  await create(before.client, 'tree', { deployItems })
  await ask(before.client, MUTATIONS.setTarget, { name: 'eu', type: 'own', credentials: MARKER })
  await ask(before.client, MUTATIONS.setSecret, { project: 'default', name: 'KEY', value: MARKER })
  const held = await agent.take('item-0', 'RECONCILE')
  const kept = await before.client.query(LOG)

  let ended = false
  const load = (async () => {
    for (let n = 0; !ended; n++) await create(before.client, `load-${n}`, {})
  })()
  const made = await commandLine(original.env)(`backup ${file} --json`).finally(() => {
    ended = true
  })
  await load
  expect(made).toMatchObject({ code: 0, err: '' })
  const [{ manifest }] = documents(made.out) as [{ manifest: { log: { head: number; epoch: number } } }]
  expect(manifest).toMatchObject({ log: { epoch: 1 }, secretKeys: [{ keyId: expect.any(String), count: 2 }] })
  expect(manifest.log.head).toBeGreaterThanOrEqual(kept.log.head)
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  // The restore loses a tree, the end of claimed work, and the position of a reader who has seen both.
  await agent.report(held.fence, { phase: 'SUCCEEDED' })
  const lost = await create(before.client, 'lost', {})
  await until(async () => (await before.client.query(LOG)).log.head > manifest.log.head, { what: 'it is in the log' })
  await reach(before.client, 'INSTALLATION', 'default:lost', 'SUCCEEDED')
  const reader = await before.client.query(LOG)
  const catalog = await original.read(readCatalog)
  await before.stop()

  const restored = await commandLine(target.env)(`restore ${file}`)
  expect(restored).toMatchObject({ code: 0, err: '' })
  expect(restored.out).toContain('Epoch 2 of the log begins.')
  expect(await target.read(readCatalog)).toEqual(catalog)

  await using after = await serverOf(target)
  expect((await after.client.query(LOG)).log.epoch).toBe(2)
  await using back = playAgent({ url: after.url, token: secret, types: ['later'] })
  // The agent that holds it does not know of the restore.
  await back.report(held.fence, { phase: 'SUCCEEDED' })
  const second = await back.take('waiting', 'RECONCILE')
  await back.report(second.fence, { phase: 'SUCCEEDED' })
  await using deployerOf = createClient({ url: after.url, token: secret })
  const input = { instance: 'far', types: ['far'], targetSelector: { type: 'own' }, waitMs: 10_000 }
  const [there] = payloadOf((await deployerOf.query(CLAIM, { input })).answer).items
  expect(there?.targetCredentials).toMatchObject({ generation: 1, secret: MARKER })
  await back.report(there?.fence ?? '', { phase: 'SUCCEEDED' })
  await reach(after.client, 'INSTALLATION', 'default:tree', 'SUCCEEDED')
  await create(after.client, 'new', {})
  await reach(after.client, 'INSTALLATION', 'default:new', 'SUCCEEDED')

  expect(await rowsOf(target, `object where id = '${lost}'`)).toBe(0)
  await expect(firstAfter(after.client, reader.log.endCursor)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
  expect(await firstAfter(after.client, kept.log.endCursor)).toMatchObject({ sequence: kept.log.head + 1 })
})

describe('with a backup', () => {
  let source: Database
  let file: string
  beforeAll(async () => {
    if (!machine) return
    source = shared.use(await migrated(machine))
    file = newFile()
    expect(await commandLine(source.env)(`backup ${file}`)).toMatchObject({ code: 0, err: '' })
  })

  test('no secret is in it or in an argument, and who lacks its keys is told', async ({ skip }) => {
    if (!machine) return skip()
    await using server = await startServer({
      token,
      env: { ...source.env, PHASELINE_TOKEN: token, PHASELINE_ROLES: 'gateway,engine' },
    })
    await ask(server.client, MUTATIONS.setSecret, { project: 'default', name: 'KEY', value: MARKER })
    await ask(server.client, MUTATIONS.setTarget, { name: 'eu', type: 'own', credentials: MARKER })
    expect(await commandLine(source.env)(`restore ${file} --replace`)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/in use by \d+ connections \(phaseline\): stop the servers/),
    })
    await server.stop()
    // A program that notes what it was started with, and becomes the real one.
    const note = join(folder, 'note')
    for (const name of ['pg_dump', 'pg_restore']) {
      const script = `#!/bin/sh\n[ "$1" = --version ] || { echo "$@"; echo --; env; } >> ${note}\nexec /usr/bin/env PATH=${process.env.PATH} ${name} "$@"\n`
      await writeFile(join(folder, name), script, { mode: 0o755 })
    }
    const secretive = newFile()
    expect(await commandLine(source.env)(`backup ${secretive} --tools ${folder}`)).toMatchObject({ code: 0, err: '' })
    await using target = await createDatabase(machine)
    const env = { ...target.env, PHASELINE_SECRET_KEY: Buffer.alloc(32, 'o').toString('base64') }
    const restored = await commandLine(env)(`restore ${secretive} --tools ${folder}`)
    const keyId = createHash('sha256').update(Buffer.from(SECRET_KEY, 'base64')).digest('hex').slice(0, 8)
    expect(restored).toMatchObject({ code: 0, err: expect.stringContaining(`lack the keys ${keyId}`) })

    const [args = '', environment = ''] = (await readFile(note, 'utf8')).split('--\n')
    expect(args).toContain('--format=custom')
    expect(args).not.toContain(PASSWORD)
    expect(environment).not.toContain(PASSWORD)
    const passFile = /^PGPASSFILE=(.+)$/m.exec(environment)?.[1] ?? ''
    expect(existsSync(passFile), 'it goes with the program').toBe(false)
    expect(passFile).not.toBe('')
    expect(environment).not.toMatch(/DATABASE_URL|PHASELINE_|SECRET/)
    const archive = join(folder, 'archive')
    await promisify(execFile)('sh', ['-c', `tail -n +3 ${secretive} | head -c -73 > ${archive}`])
    const { stdout } = await promisify(execFile)('pg_restore', ['--file=-', archive], { maxBuffer: 2 ** 26 })
    expect(stdout).toContain('COPY public.secret')
    expect(stdout).toContain('COPY public.target')
    expect(stdout).not.toContain(MARKER)
  })

  test('files that are cut off, damaged, foreign or of a newer schema are refused, and nothing is touched', async ({
    skip,
  }) => {
    if (!machine) return skip()
    await using target = await createDatabase(machine)
    const refuse = async (path: string, code: number, message: RegExp) => {
      const refused = await commandLine(target.env)(`restore ${path}`)
      expect(refused).toMatchObject({ code, out: '', err: expect.stringMatching(message) })
      expect(refused.err.trimEnd().split('\n')).toHaveLength(1)
    }
    const copy = async (change: (path: string) => Promise<void>): Promise<string> => {
      const path = newFile()
      await copyFile(file, path)
      await change(path)
      return path
    }
    const { size } = await stat(file)
    for (const length of [size - 1, size - 74, size >> 1, 40])
      await refuse(await copy((path) => truncate(path, length)), 2, /is cut off/)
    await refuse(await copy((path) => appendFile(path, 'more')), 2, /is cut off/)
    await refuse(await copy((path) => overwrite(path, size >> 1)), 2, /is damaged/)
    await refuse(await copy((path) => truncate(path, 0)), 2, /is no backup of Phaseline/)
    await refuse(await copy((path) => writeFile(path, 'create table t ();\n')), 2, /is no backup of Phaseline/)
    await refuse(await copy((path) => writeFile(path, 'phaseline-backup 2\n{}\n')), 2, /has the format 2/)
    await refuse(join(folder, 'absent'), 2, /There is no file/)
    await refuse(folder, 2, /is not a file/)
    const newer = { migrations: ['20261124040000_schema_range', '99990101000000_next'], oldest: '99990101000000_next' }
    await refuse(await rewritten(file, newer), 3, /This version cannot work with/)
    expect(await rowsOf(target, `pg_class where relnamespace = 'public'::regnamespace`)).toBe(0)
  })

  test('a database that has objects or is in use is refused, and replaced on request, wholly or not at all', async ({
    skip,
  }) => {
    if (!machine) return skip()
    await using target = await migrated(machine)
    const phaseline = commandLine(target.env)
    await target.read((pool) => pool.query('create table mine (n int); insert into mine values (7)'))
    expect(await phaseline(`restore ${file}`)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/is not empty.*--replace/),
    })

    const other = new DriverClient({ connectionString: target.url, application_name: 'somebody' })
    await other.connect()
    expect(await phaseline(`restore ${file} --replace`)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/in use by 1 connections \(somebody\)/),
    })
    // One that fails after all was written: the counts are not what the manifest says.
    const wrong = await rewritten(file, { rows: { schema_range: 2 } })
    expect(await phaseline(`restore ${wrong} --replace --while-in-use`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/differs from the backup/),
    })
    expect(await rowsOf(target, 'mine')).toBe(1)
    expect(await rowsOf(target, `pg_namespace where nspname = 'phaseline_replaced'`)).toBe(0)

    expect(await phaseline(`restore ${file} --replace --while-in-use --yes`)).toMatchObject({
      ...{ code: 0, err: '', out: expect.stringContaining('phaseline automation release') },
    })
    expect(await rowsOf(target, `automation_hold where by = 'restore'`)).toBe(1)
    expect(await phaseline(`restore ${file} --replace --while-in-use --keep-automation`)).toMatchObject({ code: 0 })
    expect(await rowsOf(target, 'automation_hold')).toBe(0)
    await other.end()
    expect(await target.read(readCatalog)).toEqual(await source.read(readCatalog))
    const rights = `select nspowner::regrole::text as owner, nspacl::text as rights from pg_namespace where nspname = 'public'`
    const rightsOf = (database: Database) => database.read(async (pool) => (await pool.query(rights)).rows)
    expect(await rightsOf(target)).toEqual(await rightsOf(source))

    // As a restore leaves it that was killed.
    await target.read((pool) => pool.query('create schema phaseline_replaced'))
    expect(await phaseline(`restore ${file} --replace`)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/was cut off, and the schema phaseline_replaced has what was there before/),
    })

    await using foreign = await createDatabase(machine)
    await foreign.read((pool) => pool.query('create table theirs ()'))
    expect(await commandLine(foreign.env)(`restore ${file} --replace`)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/not of Phaseline/),
    })
    expect(await commandLine(foreign.env)(`backup ${newFile()}`)).toMatchObject({ code: 3 })
  })

  test('a backup overwrites nothing, leaves nothing that is not complete, and says what is missing', async ({
    skip,
  }) => {
    if (!machine) return skip()
    const phaseline = commandLine(source.env)
    expect(await phaseline(`backup ${file}`)).toMatchObject({ code: 3, err: expect.stringContaining('exists') })
    const { length } = await readdir(folder)
    const empty = shared.adopt(await mkdtemp(join(tmpdir(), 'phaseline-tools-')), (path) =>
      rm(path, { recursive: true }),
    )
    expect(await phaseline(`backup ${newFile()} --tools ${empty}`)).toMatchObject({
      code: 4,
      err: expect.stringMatching(/has none: install postgresql-client-\d+/),
    })
    await writeFile(
      join(empty, 'pg_dump'),
      `#!/bin/sh\n[ "$1" = --version ] && exec /usr/bin/env pg_dump "$@"\nhead -c 100000 /dev/zero; echo 'pg_dump: error: the disk is gone' >&2; exit 1\n`,
      { mode: 0o755 },
    )
    expect(await phaseline(`backup ${newFile()} --tools ${empty}`)).toMatchObject({
      code: 1,
      err: 'pg_dump has failed: the disk is gone\n',
    })
    expect(await phaseline(`backup ${newFile()} --tools ${empty}/absent`)).toMatchObject({ code: 2 })
    expect(await commandLine({ PHASELINE_DATA: join(folder, 'absent') })(`backup ${newFile()}`)).toMatchObject({
      code: 2,
    })
    const away = { ...source.env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }
    expect(await commandLine(away)(`backup ${newFile()}`)).toMatchObject({ code: 4 })
    expect(await readdir(folder)).toHaveLength(length)
  })
})

test('the embedded database is backed up beside its server, with programs of its version', async () => {
  const dataDir = shared.adopt(await mkdtemp(join(tmpdir(), 'phaseline-embedded-')), (path) =>
    rm(path, { recursive: true }),
  )
  const logger = pino({ level: 'silent' })
  const settings = { fsync: 'off', shared_buffers: '16MB' }
  await using postgres = await startEmbeddedPostgres({ dataDir, logger, settings })
  const pool = createPool(postgres.connection, { max: 1, logger })
  await migrate(pool, MIGRATIONS_FOLDER)
  const { rows } = await pool.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  )
  await pool.end()
  const major = rows[0]?.major ?? 0
  const made = await commandLine({ PHASELINE_DATA: dataDir, PATH: process.env.PATH ?? '' })(`backup ${newFile()}`)
  expect(made).toMatchObject(
    majorOf('pg_dump') === major
      ? { code: 0, err: '' }
      : { code: 4, err: expect.stringContaining(`pg_dump of Postgres ${major} is needed`) },
  )
})

/** Changes one byte. */
async function overwrite(path: string, at: number): Promise<void> {
  await using handle = await open(path, 'r+')
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at)
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 0xff]), 0, 1, at)
}

/** A backup with another manifest, whose checksum is right. */
async function rewritten(
  path: string,
  change: { readonly rows?: Readonly<Record<string, number>> } & object,
): Promise<string> {
  const bytes = await readFile(path)
  const first = bytes.indexOf('\n') + 1
  const second = bytes.indexOf('\n', first) + 1
  const manifest = JSON.parse(bytes.toString('utf8', first, second)) as { readonly rows: object }
  const changed = { ...manifest, ...change, rows: { ...manifest.rows, ...change.rows } }
  const body = Buffer.concat([
    bytes.subarray(0, first),
    Buffer.from(`${JSON.stringify(changed)}\n`),
    bytes.subarray(second, -73),
  ])
  const to = newFile()
  await writeFile(to, body)
  await appendFile(to, `\nsha256 ${createHash('sha256').update(body).digest('hex')}\n`)
  return to
}
