import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseManifests } from '../../../src/manifest/index.ts'
import { type AddressServer, startAddresses } from '../../testkit/addresses.ts'
import { startTestApp, startTestProcess, type TestApp, type TestProcess } from '../../testkit/app.ts'
import { ask, present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { create, show } from '../../testkit/mutations.ts'
import { createTestDatabase, type TestDatabase } from '../../testkit/postgres.ts'
import { until } from '../../testkit/wait.ts'

/** Gates that addresses open, on two whole servers, and addresses that answer in all ways. */

let database: TestDatabase
let app: TestApp
let other: TestProcess
let addresses: AddressServer
beforeAll(async () => {
  database = await createTestDatabase(4)
  addresses = await startAddresses()
  const env = { DATABASE_URL: database.url, PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' }
  app = await startTestApp({ env })
  other = await startTestProcess({ env: { ...env, PHASELINE_ROLES: 'engine' }, token: app.token })
  await app.client.query(PREPARE, { secret: `${addresses.url}api\nauthorization: Bearer hush` })
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
  await addresses[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const PREPARE = gql(`mutation ($secret: String!) {
  createProject(input: { name: "website" }) { __typename }
  main: setSecret(input: { project: "default", name: "CI", value: $secret }) { __typename }
  website: setSecret(input: { project: "website", name: "CI", value: $secret }) { __typename }
}`)
const TREE = gql(`query ($id: ID!) { tree(rootId: $id) { objects(first: 20) { edges { node {
  id name phase error { code message }
  blockedBy { reason message ... on GateBlocker { asksAt signal opensAt } }
  history(last: 3) { edges { node { to reason message by } } }
  ... on DeployItem { gate { address { url condition answer answeredAt asksAt } } }
} } } } }`)
const PAUSE = gql(`mutation ($id: ID!) { pause(input: { id: $id }) { __typename } }`)
const RESUME = gql(`mutation ($id: ID!) { resume(input: { id: $id }) { __typename } }`)
const PLAN = gql(`query ($input: PlanInstallationInput!) { planInstallation(input: $input) { __typename } }`)

const node = async (root: string, name: string) =>
  present(
    present((await app.client.query(TREE, { id: root })).tree).objects.edges.find(({ node: one }) => one.name === name),
  ).node
const phaseOf = async (root: string, name = 'go') => (await node(root, name)).phase
const messageOf = async (root: string) => (await node(root, 'go')).blockedBy[0]?.message ?? ''

const OK = 'status == 200'
const specOf = (path: string, http: object = {}, more: object = {}) => ({
  deployItems: [
    {
      ...{ name: 'go', type: 'gate', ...more },
      config: { http: { url: `${addresses.url}${path}`, until: OK, every: '1s', ...http } },
    },
    { name: 'ship', type: 'mock', dependsOn: ['go'], config: {} },
  ],
})
const atGate = (name: string, http: object = {}, more: object = {}) =>
  create(app.client, name, specOf(`${name}?token=abc`, http, more) as never)
const opened = (root: string) => until(async () => (await phaseOf(root)) === 'SUCCEEDED', { what: 'the gate is open' })
const said = (root: string, answer: RegExp) =>
  until(async () => answer.test(await messageOf(root)), { what: `${answer}`, instead: () => messageOf(root) })

test('an address is asked until its answer fulfils the condition', async () => {
  addresses.answer('flips', () => [200, {}, JSON.stringify({ state: 'pending' })])
  const root = await atGate('flips', { until: 'status == 200 && body.state == "success"' })
  await said(root, /It has answered 200\./)
  const go = await node(root, 'go')
  expect(go).toMatchObject({ phase: 'INIT', blockedBy: [{ reason: 'GATE', signal: null, opensAt: null }] })
  expect(go.blockedBy[0]?.message).toMatch(
    new RegExp(
      `^Asks ${addresses.url}flips every 1s until status == 200 && body.state == "success". Its last answer, at \\S+Z: It has answered 200. It is asked next at \\S+Z.$`,
    ),
  )
  expect(go.history.edges[1]?.node).toMatchObject({
    reason: 'HTTP',
    message: expect.stringContaining('every 1s until'),
  })
  expect(go).toMatchObject({
    gate: {
      address: { url: `${addresses.url}flips`, answer: 'It has answered 200.', asksAt: go.blockedBy[0]?.asksAt },
    },
  })
  addresses.answer('flips', () => [200, {}, JSON.stringify({ state: 'success' })])
  await opened(root)
  const open = await node(root, 'go')
  expect(open).toMatchObject({ gate: { address: { asksAt: null } } })
  expect(open.history.edges.at(-1)?.node).toMatchObject({ to: 'SUCCEEDED', by: null, message: 'It has answered 200.' })
  await until(async () => (await phaseOf(root, 'ship')) !== 'PENDING', { what: 'what stands behind it begins' })
})

test('an answer that is none, late, long, elsewhere or garbage opens nothing, and says so', async () => {
  addresses.answer('fails', () => [500, {}, 'down'])
  addresses.answer('moved', () => [302, { location: `${addresses.url}elsewhere` }, ''])
  addresses.answer('elsewhere', () => [200, {}, ''])
  addresses.answer('huge', () => [200, {}, 'x'.repeat(300 * 1_024)])
  addresses.answer('endless', () => 'endless')
  addresses.answer('garbage', () => [200, {}, '{"state": '])
  addresses.answer('lost', () => null)
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ['fails', {}, /It has answered 500\./],
    ['moved', {}, /It has answered 302\./],
    ['huge', {}, /It has answered 200, and not to the end/],
    ['endless', {}, /It has answered 200, and not to the end/],
    ['garbage', { until: 'body.state == "success"' }, /It has answered 200, and the condition fails: /],
    ['odd', { until: 'status' }, /the condition is neither true nor false/],
    ['lost', {}, /socket hang up/],
    ['private', { url: 'http://10.0.0.1/' }, /10\.0\.0\.1 is an address of a private network/],
    ['foreign', { secret: 'CI' }, /The secret CI is for another address\./],
    ['missing', { secret: 'NOBODY' }, /The project has no secret NOBODY that this server can open\./],
  ]
  const roots = await Promise.all(
    cases.map(async ([name, http, answer]) => [await atGate(name, http), answer] as const),
  )
  for (const [root, answer] of roots) {
    await said(root, answer)
    expect(await phaseOf(root)).toBe('INIT')
    await ask(app.client, MUTATIONS.cancelInstallation, { id: root })
  }
  expect(addresses.asked('elsewhere')).toEqual([])
  expect(addresses.asked('foreign')).toEqual([])
})

test('the example of the documentation opens, and its secret is nowhere to be read', async () => {
  const [, text = ''] = /## An address\n\n```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/gates.md', 'utf8')) ?? []
  const parsed = parseManifests(text.replaceAll('https://ci.example/', addresses.url))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed))
  const [manifest] = parsed.manifests as unknown as readonly { project: string; name: string; spec: never }[]
  const { project, name, spec } = present(manifest)
  addresses.answer('api/builds/12', () => [200, {}, JSON.stringify({ state: 'success' })])
  const { id } = await ask(app.client, MUTATIONS.createInstallation, { project, name, spec })
  await until(async () => (await phaseOf(id, 'checks')) === 'SUCCEEDED', { what: 'the gate is open' })
  expect(addresses.asked('api/builds/12')).toMatchObject([{ headers: { authorization: 'Bearer hush' } }])
  const { rows } = await database.pool.query<{ text: string }>(
    `select string_agg(t::text, '') as text from (select row_to_json(g)::text as t from gate_poll g
      union all select row_to_json(d)::text from deploy_item d union all select row_to_json(l)::text from log_content l) x`,
  )
  expect(rows[0]?.text).not.toContain('hush')
  expect(app.output() + other.output()).not.toContain('hush')
})

test('a paused tree asks nothing, and neither does a plan', async () => {
  const input = { create: { name: 'planned', spec: specOf('planned') } }
  expect((await app.client.query(PLAN, { input: input as never })).planInstallation?.__typename).toBe(
    'InstallationPlan',
  )
  addresses.answer('paused', () => [404, {}, ''])
  addresses.answer('runs', () => [404, {}, ''])
  const [paused, runs] = [await atGate('paused'), await atGate('runs')]
  await until(() => addresses.asked('paused').length > 0, { what: 'it is asked' })
  await app.client.query(PAUSE, { id: paused })
  // One may be under way.
  const before = () => addresses.asked('paused').length
  const others = addresses.asked('runs').length
  await until(() => addresses.asked('runs').length > others + 1, { what: 'another one is asked' })
  const asked = before()
  await until(() => addresses.asked('runs').length > others + 4, { what: 'another one is asked' })
  expect(before()).toBe(asked)
  addresses.answer('paused', () => [200, {}, ''])
  await app.client.query(RESUME, { id: paused })
  await opened(paused)
  expect(addresses.asked('planned')).toEqual([])
  await ask(app.client, MUTATIONS.cancelInstallation, { id: runs })
})

test('two engines ask an address once at a time, and a host four times within a second', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `each-${i}`)
  for (const name of names) addresses.answer(name, () => [404, {}, ''])
  const roots = await Promise.all(names.map((name) => atGate(name)))
  await until(() => names.every((name) => addresses.asked(name).length > 1), { what: 'each is asked twice' })
  const times = names.flatMap((name) => addresses.asked(name).map(({ atMs }) => atMs)).toSorted((a, b) => a - b)
  // All of them, since a single one may be long on its way.
  const leastMs = (Math.ceil(times.length / 4) - 1) * 1_000
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(leastMs - 1_000)
  for (const name of names) {
    const [first, second] = addresses.asked(name)
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(500)
  }
  for (const id of roots) await ask(app.client, MUTATIONS.cancelInstallation, { id })
})

test('an answer to a question of an earlier job opens nothing', async () => {
  const release = Promise.withResolvers<void>()
  addresses.answer('slow', async () => {
    await release.promise
    return [200, {}, '']
  })
  const root = await atGate('slow')
  await until(() => addresses.asked('slow').length > 0, { what: 'it is asked' })
  addresses.answer('slow', () => [404, {}, ''])
  await ask(app.client, MUTATIONS.reconcileInstallation, { id: root })
  await said(root, /It has answered 404\./)
  const asked = addresses.asked('slow').length
  release.resolve()
  await until(() => addresses.asked('slow').length > asked + 1, { what: 'it is asked again' })
  expect(await phaseOf(root)).toBe('INIT')
  addresses.answer('slow', () => [200, {}, ''])
  await opened(root)
})

test('a gate that expires, or ends with its tree, is asked no more', async () => {
  addresses.answer('late', () => [404, {}, ''])
  const late = await atGate('late', {}, { timeouts: { pickup: { ms: 1_500 } } })
  await until(async () => (await show(app.client, late))?.finished, { what: 'it has ended' })
  expect(await node(late, 'go')).toMatchObject({ phase: 'FAILED', error: { code: 'GATE_EXPIRED' } })
  const gone = await atGate('late-gone', { url: `${addresses.url}late` })
  await said(gone, /404/)
  await ask(app.client, MUTATIONS.deleteInstallation, { id: gone })
  const rows = async () =>
    (await database.pool.query(`select from gate_poll where root_id = any($1)`, [[late, gone]])).rows.length
  await until(async () => (await rows()) === 0, { what: 'nothing is kept of both', instead: rows })
  const asked = addresses.asked('late').length
  await delay(1_100)
  expect(addresses.asked('late').length).toBe(asked)
})

const PROJECT = gql(`mutation ($template: WorkerTemplateInput!) {
  createProject(input: { name: "gated", workerTemplate: $template, subscriptions: [{ source: "test", types: ["*"] }] }) { __typename ... on Error { message } }
  createEvent(input: { project: "gated", source: "test", type: "push" }) { ... on CreatedEvents { events { id worker { id } } } ... on Error { message } }
}`)
const OBJECT = gql(
  `query ($id: ID!) { object(id: $id) { phase blockedBy { reason message } history(last: 5) { edges { node { reason message } } } } }`,
)

test('workers and jobs of tasks wait for addresses, too', async () => {
  addresses.answer('worker', () => [404, {}, ''])
  const http = (path: string) => ({ http: { url: `${addresses.url}${path}`, until: OK, every: '1s' } })
  const { createEvent } = await app.client.query(PROJECT, {
    template: { command: ['true'], gate: http('worker') } as never,
  })
  const worker = (createEvent && 'events' in createEvent && createEvent.events?.[0]?.worker?.id) || ''
  const job = { name: 'restore', gadget: 'pg-restore', gate: http('task') }
  const { id: task } = await ask(app.client, MUTATIONS.createTask, { name: 'copy', jobs: [job] } as never)
  const see = async (id: string) => present((await app.client.query(OBJECT, { id })).object)
  for (const id of [worker, task])
    await until(async () => /Asks .* It has answered 404/.test((await see(id)).blockedBy[0]?.message ?? ''), {
      what: 'it waits',
      instead: () => see(id),
    })
  addresses.answer('worker', () => [200, {}, ''])
  addresses.answer('task', () => [200, {}, ''])
  await until(async () => (await see(worker)).phase === 'STARTING', { what: 'the worker starts' })
  expect((await see(worker)).history.edges.map(({ node: one }) => one)).toContainEqual({
    reason: 'gate opened',
    message: 'It has answered 200.',
  })
  await until(async () => (await see(task)).blockedBy[0]?.reason !== 'GATE', { what: 'the job begins' })
})
