import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { MIGRATIONS_FOLDER } from '../../src/start/package-folder.ts'
import { migrate } from '../../src/store/migrate.ts'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { find } from './played.ts'

/**
 * The version before and the one after on one database, in the order of an upgrade. The one before is the checkout that
 * PHASELINE_TEST_PREVIOUS names, whose `npm ci` is done, and otherwise the present version. The one after is the present version; what a
 * version after that would migrate is added to it.
 */

const { PHASELINE_TEST_PREVIOUS: previous } = process.env
const NEXT = '99990101000000_next'
/** All that may be added while an earlier version works. */
const EXPANSION = `
  alter table "object" add column "next_note" text;
  alter table "work" add column "next_cost" integer not null default 0;
  create table "next_thing" ("object_id" uuid primary key references "object" on delete cascade);
  create index "next_note_idx" on "object" ("next_note");
  alter type "phase" add value 'NEXT_PHASE';`
const LATER = '99990102000000_later'
const CONTRACTION = `drop table "next_thing"; update "schema_range" set "oldest" = '${NEXT}'`

const TOKEN = 'a-token-of-the-administrator'
/** Both versions have cloudlets whose wait for a CRM ends meanwhile. */
const ENV = { PHASELINE_ROLES: 'gateway,engine', PHASELINE_CRM_SILENCE_MS: '2000' }
const shared = new AsyncDisposableStack()
let folder: string
let database: TestDatabase
let before: TestServer
beforeAll(async () => {
  folder = shared.adopt(await mkdtemp(join(tmpdir(), 'phaseline-migrations-')), (path) => rm(path, { recursive: true }))
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true })
  database = shared.use(await createTestDatabase())
  const program = previous && join(previous, 'src/cli/main.ts')
  if (previous) {
    await database.pool.query('drop schema public cascade; create schema public')
    await migrate(database.pool, join(previous, 'prisma/migrations'))
  }
  const env = { DATABASE_URL: database.url, PHASELINE_SECRET_KEY: SECRET_KEY, ...ENV }
  before = shared.use(await startServer({ token: TOKEN, env, ...(program && { program }) }))
})
afterAll(() => shared.disposeAsync())

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name))
  await writeFile(join(folder, name, 'migration.sql'), sql)
}
const readiness = async () => {
  const response = await fetch(`${before.origin}/readyz`)
  return { status: response.status, text: await response.text() }
}

test('they work side by side under load, the one before is killed and starts again, and takes over again', async () => {
  let ended = false
  const created: string[] = []
  /** A client with one retry, which goes to the other one. */
  const create = async (name: string, [first, second]: readonly [Client, Client]): Promise<void> => {
    const input = { name, spec: {}, idempotencyKey: name }
    await ask(first, MUTATIONS.createInstallation, input).catch(() => ask(second, MUTATIONS.createInstallation, input))
    const cloudlet = { project: 'default', name, idempotencyKey: name }
    await ask(first, MUTATIONS.createCloudlet, cloudlet).catch(() => ask(second, MUTATIONS.createCloudlet, cloudlet))
    created.push(name)
  }
  const load = async (user: string, clients: () => readonly [Client, Client]): Promise<void> => {
    for (let n = 0; !ended; n++) await create(`${user}-${n}`, clients())
  }
  const more = (count = 10) => {
    const enough = created.length + count
    return until(() => created.length >= enough, { what: `${count} more are made` })
  }
  let after: TestApp | null = null
  const pair = (): readonly [Client, Client] => [before.client, (after ?? before).client]
  const users = Promise.all([load('a', pair), load('b', () => [pair()[1], pair()[0]])])
  // A user that fails ends the test at once.
  const meanwhile = async (): Promise<void> => {
    await more()
    // The present version migrates while the one before and the one after it work.
    await writeMigration(NEXT, EXPANSION)
    expect((await migrate(database.pool, folder)).at(-1)).toBe(NEXT)
    await more()
    const env = { DATABASE_URL: database.url, ...ENV }
    await using started = await startTestApp({ token: TOKEN, env })
    after = started
    await more()
    await before.kill()
    await more()
    await before.start()
    await more()
    for (const name of [...created])
      await until(async () => (await find(started.client, 'CLOUDLET', `default:${name}`))?.phase === 'OFFLINE', {
        what: `no CRM has connected to ${name}`,
      })
    // And back.
    after = null
    await more(2)
    await started[Symbol.asyncDispose]()
    await more(2)
  }
  await Promise.race([users, meanwhile()]).finally(() => {
    ended = true
  })
  await users
  await before.stop()
  await before.start()
  for (const name of created)
    await until(async () => (await find(before.client, 'INSTALLATION', `default:${name}`))?.phase === 'SUCCEEDED', {
      what: `${name} has succeeded`,
    })
  expect(await readiness()).toEqual({ status: 200, text: 'ready\n' })
})

test('the one before is not ready any more once the database has lost what it needs, and does not start', async () => {
  await writeMigration(LATER, CONTRACTION)
  await migrate(database.pool, folder)
  const text = await until(
    async () => {
      const found = await readiness()
      return found.status === 503 ? found.text : null
    },
    { what: 'it is not ready' },
  )
  const reason = new RegExp(
    `schema to ${LATER}, which works with programs from the schema ${NEXT} on, .*: start a newer version`,
  )
  expect(text).toMatch(/^schema: /)
  expect(text).toMatch(reason)
  // The server logs it once a check of its own finds it, which may be after the check of this test.
  await until(() => reason.test(before.output()), { what: 'its log says why' })
  await before.stop()
  await expect(before.start()).rejects.toThrow(reason)
  expect(before.output()).not.toContain('    at ')
})
