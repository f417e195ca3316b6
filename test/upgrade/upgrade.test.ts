import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient, type PhaseChange } from '../../src/client/index.ts'
import { step } from '../../src/core/machine.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { allMachines } from '../../src/families/machines.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { readCatalog, readRows } from './catalog.ts'
import { type Dump, readDump, restoreDump } from './dump.ts'
import { connectCrm, find, type PlayedAgent, playAgent, reach } from './played.ts'
import { CRM, JOB, TEMPLATE } from './released-world.ts'

const MIGRATIONS = readdirSync(join(import.meta.dirname, '../../prisma/migrations')).filter((name) => /^\d/.test(name))

interface OldObject {
  readonly id: string
  readonly rootId: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly revision: number
}
type OldChange = Omit<PhaseChange, 'at' | 'cursor'>
const OBJECTS = 'select id, root_id as "rootId", kind, name, phase, revision from object order by id'
const LOG = `select (b.first_seq + c.idx)::int as sequence, c.object_id as "objectId", c.kind, c.name, c.root_id as "rootId",
    c.project_name as "projectName", c.machine, c."from", c."to", c.actor, c."by", c.reason, c.message, c.job_id as "jobId",
    coalesce(c.revision, 0) as revision, c.rejected
  from phase_change c join log_batch b on b.id = c.batch_id
  where b.first_seq + c.idx > (select floor_seq from log_meta) order by 1`

const TREE_AT = gql(`query ($rootId: ID!, $sequence: Sequence!) {
  treeAt(rootId: $rootId, sequence: $sequence) { objects { objectId phase } }
}`)
const NEXT_PAGES = gql(`query ($phaseChanges: String!, $objects: String!) {
  phaseChanges(after: $phaseChanges, first: 1, filter: { includeRejected: true }) { edges { node { sequence } } }
  objects(after: $objects, first: 500) { edges { node { id } } }
}`)

const FOLDER = import.meta.dirname
const releases = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'))

const DAY_MS = 86_400_000

interface Restored {
  readonly database: TestDatabase
  /** As the release left it. */
  readonly objects: readonly OldObject[]
  readonly log: readonly OldChange[]
  readonly floor: number
}
async function restore(dump: Dump, leftMs?: number): Promise<Restored> {
  const database = await createTestDatabase()
  const { pool } = database
  await pool.query('drop schema public cascade; create schema public')
  await restoreDump(pool, dump, leftMs)
  const floors = await pool.query<{ floor: number }>('select floor_seq::int as floor from log_meta')
  const [objects, log] = [await pool.query<OldObject>(OBJECTS), await pool.query<OldChange>(LOG)]
  return { database, objects: objects.rows, log: log.rows, floor: floors.rows[0]?.floor ?? 0 }
}
/** The present one; agents are played. */
const serve = ({ database }: Restored, { notes }: Dump): Promise<TestServer> =>
  startServer({
    token: notes.admin,
    env: {
      DATABASE_URL: database.url,
      PHASELINE_SECRET_KEY: notes.secretKey,
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_LOG_RETENTION: 'never',
    },
  })

describe.each(releases)('the database of %s', (file) => {
  let stack: AsyncDisposableStack
  let dump: Dump
  let restored: Restored
  let server: TestServer
  let admin: Client

  beforeAll(async () => {
    stack = new AsyncDisposableStack()
    dump = await readDump(join(FOLDER, file))
    restored = await restore(dump)
    stack.use(restored.database)
    server = stack.use(await serve(restored, dump))
    admin = clientOf(dump.notes.admin)
  })
  afterAll(() => stack.disposeAsync())

  const clientOf = (token: string): Client => stack.use(createClient({ url: server.url, token }))
  const play = (name: keyof Dump['notes']['tokens'], types: readonly string[]): PlayedAgent =>
    stack.use(playAgent({ url: server.url, token: dump.notes.tokens[name], types }))
  const fence = (name: string): string => dump.notes.fences[name] ?? `there is no fence of ${name}`
  const end = () => restored.log.at(-1)?.sequence ?? 0

  test('has all migrations, and the very schema of a new one', async () => {
    const { rows } = await restored.database.pool.query<{ name: string }>(
      'select migration_name as name from _prisma_migrations where finished_at is not null order by 1',
    )
    expect(rows.map(({ name }) => name)).toEqual(MIGRATIONS.sort())
    await using fresh = await createTestDatabase()
    expect(await readCatalog(restored.database.pool)).toEqual(await readCatalog(fresh.pool))
  })

  test('has every object in its phase, and the log of before', async () => {
    const { objects, log, floor } = restored
    const { objects: page } = await admin.query(
      gql('{ objects(first: 500) { edges { node { id kind name phase revision } } } }'),
    )
    const listed = present(page).edges.map(({ node }) => node)
    expect(listed.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(objects.map(({ rootId: _, ...rest }) => rest))
    expect(new Set(objects.map(({ kind }) => kind)).size).toBe(11)

    const heard = await readLog(admin, floor, end())
    expect(heard.map(({ at: _at, path: _path, ...change }) => change)).toEqual(log)
    // Paths of nested objects were not recorded then.
    expect(heard.filter(({ path, objectId, rootId }) => path.startsWith('…/') !== (objectId !== rootId))).toEqual([])
    expect(heard.map(({ sequence }) => sequence)).toEqual(heard.map((_, i) => floor + 1 + i))
    expect(floor).toBeGreaterThan(0)
    expect(heard.filter((change) => !change.rejected && !isLegal(change))).toEqual([])
  })

  test('tells histories, and trees as they are and as they were', async () => {
    const { objects, log } = restored
    const treeAt = async (rootId: string, sequence: number): Promise<ReadonlyMap<string, string>> => {
      const { treeAt: tree } = await admin.query(TREE_AT, { rootId, sequence })
      return new Map(present(tree).objects.map(({ objectId, phase }) => [objectId, phase]))
    }
    for (const rootId of new Set(objects.map((object) => object.rootId))) {
      const now = objects.filter((object) => object.rootId === rootId)
      expect(await treeAt(rootId, end())).toEqual(new Map(now.map(({ id, phase }) => [id, phase])))
      const changes = log.filter((change) => change.rootId === rootId && !change.rejected)
      const half = changes.slice(0, Math.ceil(changes.length / 2))
      // A tree that is older than the log has no changes.
      const last = half.at(-1)
      const then = new Map(half.map(({ objectId, to }) => [objectId, to]))
      if (last) expect(await treeAt(rootId, last.sequence)).toEqual(then)
    }
    const { id: platform } = present(await find(admin, 'INSTALLATION', 'default:platform'))
    const { object } = await admin.query(
      gql('query ($id: ID!) { object(id: $id) { history(first: 100) { edges { node { to } } } } }'),
      { id: platform },
    )
    const own = log.filter((change) => change.objectId === platform && !change.rejected)
    expect(object?.history.edges.map(({ node }) => node.to)).toEqual(own.map(({ to }) => to))
    expect(own.at(-1)?.to).toBe('SUCCEEDED')
  })

  test('turns the pages that were begun before', async () => {
    const { turned, ...after } = dump.notes.pages
    const next = await admin.query(NEXT_PAGES, after)
    expect(next.phaseChanges?.edges).toEqual([{ node: { sequence: restored.floor + turned + 1 } }])
    expect(next.objects?.edges).toHaveLength(restored.objects.length - turned)
  })

  test('stays as it is when the server starts once more', async () => {
    await server.stop()
    const before = await readRows(restored.database.pool)
    await server.start()
    expect(await readRows(restored.database.pool)).toEqual(before)
  })

  test('lets readers go on from the sequences that they have kept, and refuses what is pruned', async () => {
    const { log, floor } = restored
    const { log: state } = await admin.query(gql('{ log { epoch head oldest } }'))
    expect(state).toEqual({ epoch: 1, head: end(), oldest: floor + 1 })
    const middle = Math.floor((floor + end()) / 2)
    for (const after of [floor, middle, end() - 1])
      expect((await readLog(admin, after, end())).map(({ sequence }) => sequence)).toEqual(
        log.filter(({ sequence }) => sequence > after).map(({ sequence }) => sequence),
      )
    await expect(readLog(admin, floor - 1, end())).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })

    const live = readLog(admin, end(), end() + 1)
    await ask(admin, MUTATIONS.createInstallation, { name: 'afterwards', spec: {} })
    expect((await live)[0]).toMatchObject({ sequence: end() + 1, name: 'afterwards' })
  })

  test('knows the tokens and keys of before', async () => {
    const { once, reader, worker } = dump.notes
    expect(await clientOf(reader).query(gql('{ viewer { name role projects } }'))).toEqual({
      viewer: { name: 'reader', role: 'READER', projects: ['default'] },
    })
    expect(await clientOf(worker).query(gql('{ viewer { role projects } }'))).toEqual({
      viewer: { role: 'WORKER', projects: ['shop'] },
    })
    expect((await ask(admin, MUTATIONS.createInstallation, once.input)).id).toBe(once.id)
    // The same job, as long as its spec is understood as it was.
    expect((await ask(clientOf(worker), MUTATIONS.createJob, { name: 'build', spec: JOB })).id).toBe(
      (await find(admin, 'JOB', 'shop:event-2/worker/build'))?.id,
    )
  })

  test('goes on with installations where they were', async () => {
    const deployer = play('deployer', ['mock'])
    const late = play('deployer', ['later'])
    const installation = (name: string, phase: Phase) => reach(admin, 'INSTALLATION', `default:${name}`, phase)

    // The holder of a claim reports it, and its dependents come up.
    await deployer.report(fence('taken'), { phase: 'SUCCEEDED' })
    await deployer.report((await deployer.take('after', 'RECONCILE')).fence, { phase: 'SUCCEEDED' })
    await late.report((await late.take('offered', 'RECONCILE')).fence, { phase: 'SUCCEEDED' })
    await installation('held', 'SUCCEEDED')

    await ask(admin, MUTATIONS.setDataObject, { name: 'licence', value: 'granted' })
    const licensed = await deployer.take('licensed', 'RECONCILE')
    expect(licensed.config).toEqual({ given: 'granted' })
    await deployer.report(licensed.fence, { phase: 'SUCCEEDED' })
    await installation('waiting', 'SUCCEEDED')

    await late.report((await late.take('remains', 'DELETE')).fence, { phase: 'GONE' })
    await until(async () => !(await find(admin, 'INSTALLATION', 'default:parting')), { what: 'it is gone' })

    await deployer.report(fence('busy'), { phase: 'SUCCEEDED' })
    await deployer.report((await deployer.take('busy', 'RECONCILE')).fence, { phase: 'SUCCEEDED' })
    await installation('again', 'SUCCEEDED')

    await deployer.report(fence('halt'), { phase: 'ABORTED' })
    await installation('stopped', 'ABORTED')
  })

  test('ends a job whose spec was edited meanwhile, and takes the edit in with the next', async () => {
    const deployer = play('deployer', ['mock'])
    await deployer.report(fence('slow'), { phase: 'SUCCEEDED' })
    const { id, error } = await reach(admin, 'INSTALLATION', 'default:edited', 'FAILED')
    expect(error?.code).toBe('SPEC_CHANGED')
    await ask(admin, MUTATIONS.reconcileInstallation, { id })
    for (const name of ['slow', 'more'])
      await deployer.report((await deployer.take(name, 'RECONCILE')).fence, { phase: 'SUCCEEDED' })
    await reach(admin, 'INSTALLATION', 'default:edited', 'SUCCEEDED')
  })

  test('undoes, cleans up and lets in whoever waited', async () => {
    const runner = play('runner', ['gadget-job'])
    const job = (name: string, phase: Phase) => reach(admin, 'GADGET_JOB', `ops:${name}/${name}-job`, phase)
    const retry = async (name: string) => {
      const { id } = await job(name, 'UNDO_FAILED')
      await ask(admin, MUTATIONS.resolveUndo, { id, decision: 'RETRY' })
    }
    const entries = async (name: string): Promise<string> => {
      const { id } = present(await find(admin, 'GADGET_JOB', `ops:${name}/${name}-job`))
      const { object } = await admin.query(
        gql('query ($id: ID!) { object(id: $id) { ... on GadgetJob { journal { entry } } } }'),
        { id },
      )
      return present(object?.journal)
        .map(({ entry }) => entry)
        .join(' ')
    }
    await runner.report(fence('turning-job'), { phase: 'DONE', exports: {} })
    await reach(admin, 'TASK', 'ops:turning', 'SUCCEEDED')
    expect(await entries('undoing')).toBe('START UNDO_STARTED')
    await runner.report(fence('undoing-job'), { phase: 'FAILED' })
    await job('undoing', 'FAILED')
    expect(await entries('undoing')).toBe('START UNDO_STARTED UNDO FAILED')

    // An event created this task.
    await runner.report((await runner.take('nightly-job', 'GET_LOCKS')).fence, { phase: 'WAITING', locks: [] })
    await runner.report((await runner.take('nightly-job', 'RUN')).fence, { phase: 'DONE', exports: {} })

    await retry('stuck')
    await runner.report((await runner.take('stuck-job', 'UNDO')).fence, { phase: 'FAILED' })
    await runner.report((await runner.take('queued-job', 'RUN')).fence, { phase: 'DONE', exports: {} })
    await reach(admin, 'TASK', 'ops:queued', 'SUCCEEDED')

    for (const name of ['dirty', 'crashed']) {
      await retry(name)
      await runner.report((await runner.take(`${name}-job`, 'ABORT')).fence, { phase: 'ABORTED' })
      await reach(admin, 'TASK', `ops:${name}`, 'ABORTED')
    }
    const { locks } = await admin.query(gql('{ locks(first: 10) { edges { node { resource } } } }'))
    expect(locks?.edges).toEqual([])
  })

  test('hands out secrets, and goes on with workers and jobs', async () => {
    const runtime = play('runtime', [TEMPLATE.runtime])
    const { secret } = dump.notes
    const succeed = (of: string) => runtime.report(of, { phase: 'SUCCEEDED', exports: { exitCode: 0, signal: null } })
    const run = async (name: string): Promise<void> => {
      const { fence: started } = await runtime.take(name, 'START')
      await runtime.report(started, { phase: 'RUNNING' })
      await succeed(started)
    }
    await succeed(fence('build'))
    await run('publish')
    await runtime.report(fence('bundle'), { phase: 'RUNNING' })
    await succeed(fence('bundle'))
    await succeed(fence('shop:event-2/worker'))
    await reach(admin, 'EVENT', 'shop:event-2', 'SUCCEEDED')

    await runtime.report(fence('shop:event-3/worker'), { phase: 'RUNNING' })
    // Its turn has come.
    const worker = await runtime.take('worker', 'START')
    expect(worker.config).toMatchObject({ event: { name: 'event-4' }, secrets: { [secret.name]: secret.value } })
    await runtime.report(worker.fence, { phase: 'RUNNING' })
    await succeed(worker.fence)
    await reach(admin, 'EVENT', 'shop:event-4', 'SUCCEEDED')

    const { id } = present(await find(admin, 'WORKER', 'shop:event-1/worker'))
    const { object } = await admin.query(
      gql('query ($id: ID!) { object(id: $id) { logs(first: 10) { edges { node { text } } } } }'),
      { id },
    )
    expect(object?.logs.edges.map(({ node }) => node.text)).toEqual(['first', 'second', 'größer als 3'])
  })

  test('keeps the session of a CRM, and what it was asked for', async () => {
    const { client } = play('crm', [])
    const { id: cloudletId } = await reach(admin, 'CLOUDLET', 'edge:north', 'READY')
    const report = (name: string, phase: Phase) =>
      ask(client, MUTATIONS.reportPhases, { reports: [{ fence: fence(name), phase }] })
    await report('edge:north/one/web', 'READY')
    await reach(admin, 'APP_INST', 'edge:north/one/web', 'READY')
    const objects = [
      { kind: 'CLUSTER_INST', path: ['north', 'one'], phase: 'READY', specRevision: 1 },
      { kind: 'APP_INST', path: ['north', 'one', 'web'], phase: 'READY', specRevision: 2 },
    ] as const
    const session = await connectCrm(client, { ...CRM, cloudletId, objects })
    expect(session).toMatchObject({ epoch: 1, requests: [{ fence: fence('edge:north/two'), action: 'CREATE' }] })
    await report('edge:north/two', 'READY')
    await reach(admin, 'CLUSTER_INST', 'edge:north/two', 'READY')
  })
})

describe.each(releases)('the database of %s, left for a day', (file) => {
  test('offers again what was held, and asks for what was lost', async () => {
    await using stack = new AsyncDisposableStack()
    const dump = await readDump(join(FOLDER, file))
    const restored = await restore(dump, DAY_MS)
    stack.use(restored.database)
    // It was killed in the moment between a commit and its numbering.
    await restored.database.pool.query(
      'update log_batch set first_seq = null where first_seq = (select max(first_seq) from log_batch)',
    )
    const { url } = stack.use(await serve(restored, dump))
    const { tokens, fences, admin: token } = dump.notes
    const admin = stack.use(createClient({ url, token }))
    const play = (name: keyof typeof tokens, types: readonly string[]): PlayedAgent =>
      stack.use(playAgent({ url, token: tokens[name], types, instance: 'another' }))

    const deployer = play('deployer', ['mock'])
    const taken = await deployer.take('taken', 'RECONCILE')
    expect(taken.attempt).toBe(2)
    await expect(deployer.report(fences.taken ?? '', { phase: 'SUCCEEDED' })).rejects.toThrow('StaleReportError')
    await deployer.report(taken.fence, { phase: 'SUCCEEDED' })

    const runner = play('runner', ['gadget-job'])
    await runner.report((await runner.take('turning-job', 'UNDO')).fence, { phase: 'RUNNING' })
    await runner.report((await runner.take('turning-job', 'RUN')).fence, { phase: 'DONE', exports: {} })
    await reach(admin, 'TASK', 'ops:turning', 'SUCCEEDED')

    const { id: cloudletId } = await reach(admin, 'CLOUDLET', 'edge:north', 'OFFLINE')
    const crm = play('crm', []).client
    await connectCrm(crm, { ...CRM, cloudletId, objects: [] })
    await reach(admin, 'CLOUDLET', 'edge:north', 'READY')

    const { log } = await admin.query(gql('{ log { head } }'))
    const heard = await readLog(admin, restored.floor, present(log).head)
    expect(heard.map(({ sequence }) => sequence)).toEqual(heard.map((_, i) => restored.floor + 1 + i))
    const before = heard.slice(0, restored.log.length).map(({ at: _at, path: _path, ...change }) => change)
    expect(before).toEqual(restored.log)
    expect(heard.filter((change) => !(change.rejected || isLegal(change)))).toEqual([])
  })
})

/** From after a sequence through another one. */
async function readLog(client: Client, after: number, through: number): Promise<readonly PhaseChange[]> {
  const changes: PhaseChange[] = []
  for await (const batch of client.followPhases({ after, filter: { includeRejected: true } })) {
    changes.push(...batch.changes)
    if (batch.through >= through) break
  }
  return changes
}

function isLegal({ machine: name, from, to, actor }: PhaseChange): boolean {
  const machine = allMachines.find((one) => one.name === name)
  if (!machine) return false
  return from === null ? to === machine.initial : step(machine, from, actor, to).ok
}
