import { once } from 'node:events'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { change, createRoot, numbered, oneTo, write } from '../log/writer.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { until } from '../testkit/wait.ts'

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => subscribers(0))

interface Heard {
  readonly events: any[]
  readonly closed: { code?: number }
  stop(): Promise<void>
}

/** A subscriber with a socket of its own, which does not come back by itself. */
function subscribe(query: string, variables: Record<string, unknown> = {}, secret = token): Heard {
  const closed: { code?: number } = {}
  const client = createClient({
    url: `ws://127.0.0.1:${server.port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${secret}` },
    retryAttempts: 0,
    on: { closed: (event) => Object.assign(closed, { code: (event as { code?: number }).code }) },
  })
  const events: any[] = []
  const stop = client.subscribe(
    { query, variables },
    { next: (event) => events.push(event), error: (error) => events.push({ error }), complete: () => undefined },
  )
  const end = async () => {
    stop()
    await client.dispose()
  }
  onTestFinished(end)
  return { events, closed, stop: end }
}

async function metric(name: string): Promise<number> {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const line = (await response.text()).split('\n').find((text) => text.startsWith(`phaseline_${name} `))
  return Number(line?.split(' ')[1])
}

async function tell(rootId: string, from: number, n: number): Promise<void> {
  await write(api.world.pool, rootId, numbered(rootId, from, n))
  api.services.log.committed()
}
const subscribers = (n: number) => until(() => api.services.streams.size === n, { what: `${n} are subscribed` })
const live = (n: number) =>
  until(() => api.services.streams.list().filter(({ state }) => state === 'LIVE').length === n, {
    what: `${n} are live`,
  })
const messages = ({ events }: Heard, field = 'phaseChanges'): readonly number[] =>
  events.map(({ data }) => Number(data[field].message))

test('a change is executed once for all who subscribed to the same, wherever they began', async () => {
  const root = await createRoot(api.world.pool)
  await tell(root, 1, 20)
  await until(async () => (await api.services.log.end('head')).sequence >= 20, { what: 'all is numbered' })
  const BY_ROOT =
    'subscription Watch($root: ID!, $after: Sequence) { phaseChanges(filter: { rootId: $root }, after: $after) { sequence message at } }'
  const all = oneTo(40).map((i) => subscribe(BY_ROOT, { root, after: i % 2 === 0 ? 0 : 20 }))
  await until(() => all.every(({ events }, i) => i % 2 === 0 || events.length === 20), { what: 'the past is told' })
  await live(40)
  const before = await metric('stream_executions_total')
  for (let i = 0; i < 10; i++) await tell(root, 21 + 10 * i, 10)
  await until(() => all.every((one) => messages(one).at(-1) === 120), { what: 'all have heard all' })
  for (const [i, one] of all.entries()) expect(messages(one)).toEqual(oneTo(120).slice(i % 2 === 1 ? 0 : 20))
  expect((await metric('stream_executions_total')) - before).toBe(100)
  expect(await metric('stream_topics')).toBe(1)
  const [first] = api.services.streams.list()
  expect(first).toMatchObject({ operation: 'Watch', field: 'phaseChanges', sharedBy: 40, state: 'LIVE' })
  expect(first?.caller.name).toBe('ada')
  await Promise.all(all.map((one) => one.stop()))
  await subscribers(0)
  expect(await metric('stream_topics')).toBe(0)
})

test('each subscriber gets the changes that match its filter and that its token may read', async () => {
  const [one, other] = [await createRoot(api.world.pool), await createRoot(api.world.pool)]
  const secret = await api.token({ name: 'eve', projects: ['another'] })
  const projectId = (await api.services.tokens.authenticate(secret))?.projects?.[0] ?? ''
  const FILTERED = gql(
    'subscription ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { rootId to message } }',
  )
  const heard = {
    one: subscribe(FILTERED, { filter: { rootId: one } }),
    other: subscribe(FILTERED, { filter: { objectId: other } }),
    failed: subscribe(FILTERED, { filter: { to: ['FAILED', 'SUCCEEDED'] } }),
    kind: subscribe(FILTERED, { filter: { kinds: ['EXECUTION'] } }),
    project: subscribe(FILTERED, { filter: { project: 'another' } }),
    everything: subscribe(FILTERED, {}),
    scoped: subscribe(FILTERED, {}, secret),
  }
  await live(7)
  await write(api.world.pool, one, [
    change(one, { message: '1' }),
    change(one, { message: '2', to: 'FAILED' }),
    change(one, { message: '3', kind: 'EXECUTION' }),
  ])
  await write(api.world.pool, other, [
    change(other, { message: '4', to: 'SUCCEEDED' }),
    change(other, { message: '5' }),
  ])
  // The first belongs to a deleted project of that name, the second to the present one.
  await write(api.world.pool, other, [change(other, { message: '6', projectName: 'another' })])
  await write(api.world.pool, other, [change(other, { message: '7', projectName: 'another', projectId })])
  api.services.log.committed()
  const expected = {
    one: [1, 2, 3],
    other: [4, 5, 6, 7],
    failed: [2, 4],
    kind: [3],
    project: [6, 7],
    everything: [1, 2, 3, 4, 5, 6, 7],
    scoped: [7],
  }
  const received = () =>
    Object.fromEntries(Object.entries(heard).map(([name, one]) => [name, messages(one).toSorted()]))
  await until(() => Object.values(received()).flat().length >= Object.values(expected).flat().length, {
    what: 'all is told',
  })
  expect(received()).toEqual(expected)
})

test('an event shows the current state of its object, as far as the token may read it', async () => {
  const root = await api.world.create('present', {})
  const WITH_OBJECT =
    'subscription ($root: ID!) { phaseChanges(filter: { rootId: $root }) { to object { name phase } } }'
  const heard = subscribe(WITH_OBJECT, { root })
  await live(1)
  await api.world.remove(root)
  api.services.log.committed()
  await until(() => heard.events.at(-1)?.data?.phaseChanges.to === 'GONE', { what: 'the end is told' })
  expect(heard.events.at(-1).data.phaseChanges.object).toBeNull()
})

test('batches tell how far the log has come, though nothing matches', async () => {
  const root = await createRoot(api.world.pool)
  const head = (await api.services.log.end('head')).sequence
  const QUIET =
    'subscription ($after: Sequence!) { phaseLog(filter: { to: [DELETING] }, after: $after) { through changes { message } } }'
  const two = [head, head].map((after) => subscribe(QUIET, { after }))
  await live(2)
  await tell(root, 1, 30)
  await until(() => two.every(({ events }) => events.at(-1)?.data.phaseLog.through === head + 30), {
    what: 'the place moves on',
  })
  for (const { events } of two) {
    const places = events.map(({ data }) => data.phaseLog.through)
    expect(places).toEqual([...new Set(places)])
  }
})

test('a client that reads nothing is paused, then disconnected; others miss nothing meanwhile', async () => {
  const patient = await api.serve({ limits: { stalledAfterMs: 1_500 } })
  const root = await createRoot(api.world.pool)
  const after = (await api.services.log.end('head')).sequence
  const EVERYTHING =
    'subscription ($after: Sequence!) { phaseChanges(after: $after) { id sequence message rootId objectId projectName machine at } }'
  const deaf = new WebSocket(`ws://127.0.0.1:${patient.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => deaf.terminate())
  await once(deaf, 'open')
  deaf.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  await once(deaf, 'message')
  deaf.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: EVERYTHING, variables: { after } } }))
  const other = subscribe(EVERYTHING, { after })
  await live(2)
  deaf.pause()
  const slow = () =>
    api.services.streams.list().find(({ bufferedBytes, state }) => state === 'PAUSED' && bufferedBytes > 0)
  // It stays paused for no longer than a round of the loop may take.
  let waiting: number | undefined
  const paused = until(() => (waiting = slow()?.bufferedBytes), { what: 'it is paused' })
  let written = 0
  while (waiting === undefined) {
    await tell(root, written + 1, 1_000)
    written += 1_000
    await until(() => other.events.length === written, { what: 'the other hears all' })
  }
  // One batch at most goes beyond the limit.
  expect(await paused).toBeLessThan(512 * 1024)
  await subscribers(1)
  await tell(root, written + 1, 10)
  await until(() => other.events.length === written + 10, { what: 'the other hears the rest' })
  expect(messages(other)).toEqual(oneTo(written + 10))
})

test('only an administrator may look at who listens', async () => {
  const QUERY = gql(
    '{ subscriptions { gateway totalCount head gaps duplicates nodes { field viewer state lag sharedBy bufferedBytes } } }',
  )
  const heard = subscribe('subscription { phaseChanges { sequence } }')
  await live(1)
  const admin = (await api.services.tokens.authenticate(token)) as Viewer
  const { subscriptions } = await api.query(QUERY, {}, admin)
  expect(subscriptions?.nodes).toEqual([
    { field: 'phaseChanges', viewer: 'ada', state: 'LIVE', lag: 0, sharedBy: 1, bufferedBytes: 0 },
  ])
  const { errors } = await api.execute(QUERY, {}, viewerOf('USER'))
  expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  await heard.stop()
})

test('a gateway that holds as many sockets as it may sends the next one away for a moment', async () => {
  const small = await api.serve({ limits: { sockets: 1 } })
  const open = () => {
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`ws://127.0.0.1:${small.port}/graphql`, 'graphql-transport-ws', { headers })
    onTestFinished(() => socket.terminate())
    socket.once('open', () => socket.send('{"type":"connection_init"}'))
    return socket
  }
  await once(open(), 'message')
  const [code] = await once(open(), 'close')
  expect(code).toBe(1013)
})
