import { afterAll, beforeAll, expect, test } from 'vitest'
import { AuditNotes } from '../../src/audit/notes.ts'
import { createClient } from '../../src/client/index.ts'
import { NO_CALLER, NO_TARGET } from '../../src/core/audit.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { createLogger } from '../../src/logger.ts'
import { createPool } from '../../src/store/pool.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { startTestApp } from '../testkit/app.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { until } from '../testkit/wait.ts'
import { item, USER } from '../testkit/world.ts'

/** Entries of the audit besides mutations and their refusals. */

const LOG = gql(`query ($filter: AuditFilter) { auditLog(filter: $filter) { edges { node {
  operation outcome code principalName projectName objectKind objectName objectId fields count address requestId
} } } }`)
const READ_LOGS = gql('query ($id: ID!) { object(id: $id) { logs { totalCount } } }')
const LISTEN = gql('subscription { phaseChanges { id } }')
const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { claimWork(input: $input) {
  __typename ... on ClaimedWork { items { objectId config } } ... on Error { message }
} }`)
const CREATE_TOKEN = gql(
  'mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) { ... on CreatedToken { secret token { id } } ... on Error { message } } }',
)
const REVOKE = gql(
  'mutation ($input: RevokeTokenInput!) { answer: revokeToken(input: $input) { __typename ... on Error { message } } }',
)

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

async function events(filter: object, viewer: Viewer = USER) {
  const { auditLog } = await api.query(LOG, { filter }, viewer)
  return present(auditLog).edges.map(({ node }) => node)
}

test('a WebSocket is a sign-in: equal ones of a minute are one event', async () => {
  const { url } = await api.serve()
  const token = await api.token({ name: 'watcher', role: 'READER' })
  for (let i = 0; i < 3; i++) {
    await using client = createClient({ url: `${url}/graphql`, token })
    const stop = new AbortController()
    const listening = client.subscribe(LISTEN, {}, { signal: stop.signal, onConnected: () => stop.abort() })
    for await (const _ of listening) stop.abort()
  }
  expect(await events({ operation: 'session.opened' })).toMatchObject([
    { principalName: 'watcher', outcome: 'DONE', address: '127.0.0.1', count: 1 },
  ])
})

test('who reads the output of an object, once a minute', async () => {
  await api.world.create('read', { deployItems: [item('only')] })
  const { id } = await api.world.see('read', 'deploy-items', 'only')
  for (let i = 0; i < 3; i++) await api.query(READ_LOGS, { id })
  const reader = viewerOf('READER', { name: 'another' })
  await api.query(READ_LOGS, { id }, reader)
  const read = await events({ operation: 'logs', objectId: id })
  expect(read.map(({ principalName, count }) => [principalName, count])).toEqual([
    ['another', 1],
    [USER.name, 1],
  ])
  expect(read[0]).toMatchObject({ projectName: 'default', objectName: 'only', objectKind: 'DEPLOY_ITEM' })
})

test('a claim that carries secrets, by their names', async () => {
  const { pipelines, projects } = api.world
  const worker = { runtime: 'noted', image: null, command: ['true'], args: [], env: [], files: [], workspace: false }
  expect(await projects.createProject(USER, { name: 'noted', workerTemplate: worker })).toMatchObject({ ok: true })
  const event = (name: string) =>
    ({ project: 'noted', name, source: 'git', type: 'push', qualifiers: [], labels: [], payload: null }) as never
  expect(await pipelines.createEvent(USER, event('bare'))).toMatchObject({ ok: true })
  for (const name of ['PASSWORD', 'KEY'])
    expect(await projects.setSecret(USER, { project: 'noted', name, value: 'never-shown' })).toMatchObject({
      ok: true,
    })
  expect(await pipelines.createEvent(USER, event('sealed'))).toMatchObject({ ok: true })
  await api.world.settle()
  const runtime = viewerOf('AGENT', { name: 'noted-runtime', actor: 'RUNTIME' })
  const input = { instance: 'one', types: ['noted'], max: 10 }
  const { items } = payloadOf((await api.query(CLAIM, { input }, runtime)).claimWork)
  expect(items).toHaveLength(2)
  const sealed = items.find(({ config }) => JSON.stringify(config).includes('never-shown'))
  const told = await events({ operation: 'claimWork', outcome: 'DONE' })
  expect(told).toMatchObject([
    { principalName: 'noted-runtime', objectId: sealed?.objectId, projectName: 'noted', objectKind: 'WORKER' },
  ])
  expect(new Set(told[0]?.fields)).toEqual(new Set(['PASSWORD', 'KEY']))
})

test('a token that is limited to one project is told to its administrators', async () => {
  await api.token({ name: 'owner-of-one', role: 'ADMIN', projects: ['one'] })
  const create = async (name: string, projects: readonly string[]) => {
    const { answer } = await api.query(CREATE_TOKEN, { input: { name, role: 'READER', projects: [...projects] } })
    return payloadOf(answer).token.id
  }
  await api.token({ name: 'other', projects: ['two'] })
  const id = await create('of-one', ['one'])
  await create('of-both', ['one', 'two'])
  await api.query(REVOKE, { input: { id } })
  const told = (await events({ project: 'one' })).filter(({ objectKind }) => objectKind === 'TOKEN')
  expect(told.map(({ operation, objectName }) => [operation, objectName])).toEqual([
    ['revokeToken', 'of-one'],
    ['createToken', 'of-one'],
  ])
})

test('what could not be written is written as soon as it can be, once', async () => {
  const { pool, audit } = api.world
  await pool.query('alter table audit_event rename column code to gone')
  const reader = viewerOf('READER', { name: 'refused' })
  await api.query(REVOKE, { input: { id: 'x' } }, reader).catch(() => undefined)
  await audit.settle().catch(() => undefined)
  await pool.query('alter table audit_event rename column gone to code')
  const count = () => pool.query("select 1 from audit_event where principal_name = 'refused'")
  await until(async () => (await count()).rowCount, { what: 'it is written, though nothing else happens' })
  expect((await count()).rowCount).toBe(1)
})

test('an event that Postgres refuses is lost alone', async () => {
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line) => void lines.push(line) })
  const { pool } = api.world
  const system = { id: () => crypto.randomUUID() }
  const notes = new AuditNotes({ pool, logger, system, onWritten: () => {} })
  for (const operation of ['before', 'not\0stored', 'after'])
    notes.note({
      ...{ ...NO_CALLER, ...NO_TARGET, principalName: 'one-of-three' },
      ...{ operation, outcome: 'REFUSED', code: null, fields: [], count: 1 },
    })
  await notes[Symbol.asyncDispose]()
  const { rows } = await pool.query("select operation from audit_event where principal_name = 'one-of-three'")
  expect(rows.map(({ operation }) => operation).sort()).toEqual(['after', 'before'])
  const told = lines.map((line) => JSON.parse(line) as { readonly lost?: number; readonly code?: string })
  expect(told).toMatchObject([{ lost: 1, code: '22021' }])
})

test('tokens that a start makes valid, and those that it revokes', async () => {
  await using database = await createTestDatabase(2)
  const start = (token: string) =>
    startTestApp({ token, env: { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway' } })
  const told = async (operation: string) =>
    (await database.pool.query('select object_name, fields from audit_event where operation = $1', [operation])).rows
  await (await start('the-first-administrators-token'))[Symbol.asyncDispose]()
  const first = await told('token.configured')
  expect(first).toContainEqual({ object_name: 'admin', fields: ['PHASELINE_TOKEN'] })
  expect(first.length).toBeGreaterThan(2)
  await (await start('the-first-administrators-token'))[Symbol.asyncDispose]()
  expect(await told('token.configured')).toHaveLength(first.length)
  await (await start('the-second-administrators-token'))[Symbol.asyncDispose]()
  expect(await told('token.configured')).toHaveLength(2 * first.length)
  expect(await told('token.replaced')).toHaveLength(first.length)
})

test('events that could not be written before the end of the process are counted in the log', async () => {
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line) => void lines.push(line) })
  const pool = createPool({ host: '127.0.0.1', port: await freePort(), user: 'ada' }, { max: 1, logger })
  const notes = new AuditNotes({ pool, logger, system: { id: () => crypto.randomUUID() }, onWritten: () => {} })
  for (const code of ['FORBIDDEN', 'NOT_FOUND', 'LIMIT'])
    notes.note({
      ...{ ...NO_CALLER, ...NO_TARGET },
      ...{ operation: 'deleteToken', outcome: 'REFUSED', code, fields: [], count: 2 },
    })
  await notes[Symbol.asyncDispose]()
  await pool.end()
  const told = lines.map((line) => JSON.parse(line) as { readonly msg: string; readonly lost?: number })
  expect(told.filter(({ msg }) => /are lost/.test(msg)).map(({ lost }) => lost)).toEqual([3])
})
