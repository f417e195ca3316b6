import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { createContext } from '../../src/graphql/resolver-context.ts'
import { FairTurns } from '../../src/server/limits/fair-turns.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { sharesOf } from '../../src/store/pool-shares.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { createRoot, numbered, write } from '../log/writer.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { until } from '../testkit/wait.ts'
import { call, PING, post } from './call.ts'

/** How one caller is served while another asks for much. */

const MB = 1_024 * 1_024
const VIEWER = '{ viewer { name } }'

let api: Api
let server: RunningServer
let ada: string
let bob: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  ada = await api.token({ name: 'ada', role: 'READER' })
  bob = await api.token({ name: 'bob', role: 'READER' })
})
afterAll(() => api[Symbol.asyncDispose]())

async function openReady(token: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  await once(socket, 'message')
  return socket
}
const operation = (id: string, payload: object = { query: VIEWER }) =>
  JSON.stringify({ id, type: 'subscribe', payload })

test('of two sockets, the one with one operation does not wait for the one with hundreds', async () => {
  const [busy, modest] = [await openReady(ada), await openReady(bob)]
  let answered = 0
  busy.on('message', (data) => {
    if (String(data).includes('"type":"next"')) answered += 1
  })
  for (let i = 0; i < 500; i++) busy.send(operation(String(i)))
  modest.send(operation('one'))
  expect(JSON.parse(String((await once(modest, 'message'))[0]))).toMatchObject({ id: 'one', type: 'next' })
  expect(answered).toBeLessThan(400)
  while (answered < 500) await once(busy, 'message')
})

test('a message of a socket, and a ping of its transport, take a turn of their principal, as a request does', async () => {
  const turns = vi.spyOn(FairTurns.prototype, 'next')
  onTestFinished(() => turns.mockRestore())
  const callersOf = async (act: () => Promise<unknown>) => {
    turns.mockClear()
    await act()
    return new Set(turns.mock.calls.map(([caller]) => caller))
  }
  const ping = (socket: WebSocket) => async () => {
    socket.send(PING)
    await once(socket, 'message')
  }
  const [own, others] = [await openReady(ada), await openReady(bob)]
  const [principal] = await callersOf(ping(own))
  expect(await callersOf(() => post(server.port, ada, VIEWER))).toContain(principal)
  const probe = async () => {
    own.ping()
    await once(own, 'pong')
  }
  expect(await callersOf(probe)).toEqual(new Set([principal]))
  expect(await callersOf(ping(others))).not.toContain(principal)
})

test('one who follows one tree hears of a change before all different subscriptions of another do', async () => {
  const root = await createRoot(api.world.pool)
  const [busy, modest] = [await openReady(ada), await openReady(bob)]
  const fields = Array.from({ length: 200 }, (_, i) => `a${i}: name b${i}: message`).join(' ')
  const query = `subscription ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { ${fields} } }`
  const filterOf = (i: number) => ({ rootId: root, since: new Date(i).toISOString() })
  const told = () => api.services.streams.list().reduce((sum, { messages }) => sum + messages, 0)
  const many = 80
  for (let i = 0; i < many; i++) busy.send(operation(String(i), { query, variables: { filter: filterOf(i) } }))
  const live = (n: number) =>
    until(() => api.services.streams.list().filter(({ state }) => state === 'LIVE').length === n, {
      what: `${n} are live`,
    })
  await live(many)
  modest.send(operation('one', { query, variables: { filter: filterOf(many) } }))
  await live(many + 1)
  await write(api.world.pool, root, numbered(root, 1, 1))
  api.services.log.committed()
  await once(modest, 'message')
  expect(told()).toBeLessThan(many / 2)
  await until(() => told() === many + 1, { what: 'the others hear of it, too' })
})

test('messages of a socket are handled in their order, however long it takes to read them', async () => {
  const socket = await openReady(ada)
  const ids: string[] = []
  socket.on('message', (data) => {
    const { id, type } = JSON.parse(String(data))
    if (type === 'next' || type === 'error') ids.push(id)
  })
  const large = { query: VIEWER, variables: { unused: Array.from({ length: 200_000 }, (_, i) => i) } }
  socket.send(operation('large', large))
  socket.send(operation('small'))
  socket.send(operation('refused', { query: VIEWER, variables: { unused: Array(1_000_001).fill(0) } }))
  socket.send(operation('last'))
  while (ids.length < 4) await once(socket, 'message')
  expect(ids).toEqual(['large', 'small', 'refused', 'last'])
})

test('a large message that is no JSON ends its socket', async () => {
  const socket = await openReady(ada)
  socket.send(`{"id":"1","type":"subscribe","payload":{"variables":[${'1,'.repeat(100_000)}]}}`)
  const [code] = await once(socket, 'close')
  expect(code).toBe(4400)
})

const open = (length: number): ClientRequest => {
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json', 'content-length': length }
  const sent = request({ host: '127.0.0.1', port: server.port, path: '/graphql', method: 'POST', headers })
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  return sent
}

test.each([
  ['nested too deep', '['.repeat(1_000), 'TOO_COMPLEX'],
  ['with too many values', `[${'0,'.repeat(1_000_001)}`, 'TOO_COMPLEX'],
  ['with a text that is too long', `["${'x'.repeat(8 * MB)}`, 'BAD_USER_INPUT'],
])('a body %s is refused before all of it has arrived', async (_, part, code) => {
  const sent = open(15 * MB)
  sent.write(part)
  const [response] = await once(sent, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  expect([response.statusCode, JSON.parse(body).errors[0].extensions.code]).toEqual([400, code])
  // The rest goes through, so that the connection can be used again.
  sent.end(Buffer.alloc(15 * MB - part.length, ' '))
  await once(sent, 'finish')
})

test('what nobody reads of refused bodies arrives slowly, on few connections, and others are served meanwhile', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': 15 * MB }
  let ended = 0
  const send = async (path: string): Promise<'kept' | 'closed'> => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method: 'POST', headers })
    onTestFinished(() => void sent.destroy())
    const closed = once(sent, 'error').then(() => 'closed' as const)
    const finished = once(sent, 'finish').then(() => 'kept' as const)
    sent.once('response', (response) => response.on('error', () => {}).resume())
    sent.end(Buffer.alloc(15 * MB, ' '))
    const how = await Promise.race([finished, closed])
    if (how === 'kept') ended += 1
    return how
  }
  const paths = ['/graphql', '/livez', '/nowhere', '/']
  const bodies = Array.from({ length: 24 }, (_, i) => send(paths[i % paths.length] as string))
  for (let i = 0; i < 10; i++) expect((await post(server.port, bob, VIEWER)).status).toBe(200)
  expect(ended).toBe(0)
  const found = Object.groupBy(await Promise.all(bodies), (how) => how)
  expect(found.kept?.length).toBeGreaterThan(0)
  expect(found.kept?.length).toBeLessThan(12)
})

test.each([
  '',
  '[]',
  'null',
  '1',
  '{',
  `[${'0,'.repeat(100_000)}0]`,
  `{"query":"{a}","variables":[${'0,'.repeat(100_000)}]}`,
])('a body that is no JSON object is refused: %.20s', async (body) => {
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json' }
  const { status, json } = await call(server.port, '/graphql', { method: 'POST', headers, body })
  expect([status, json().errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST'])
})

test('whoever is refused hears of it after those who are served', async () => {
  const answers = async (): Promise<readonly string[]> => {
    const limited = await api.serve({ limits: { requestsPerSecondPerPrincipal: 1 } })
    const order: string[] = []
    const ask = async (name: string, token: string) => {
      const { status } = await post(limited.port, token, VIEWER)
      order.push(`${name}: ${status}`)
    }
    await Promise.all([...Array.from({ length: 12 }, () => ask('ada', ada)), ask('bob', bob)])
    return order
  }
  // Now and then Postgres takes longer for who is served than a refusal waits.
  await until(
    async () => {
      const order = await answers()
      const refused = order.indexOf('ada: 429')
      return refused >= 0 && order.indexOf('bob: 200') < refused && order.includes('bob: 200')
    },
    { what: 'bob is served before ada is refused' },
  )
})

test('a large answer is whole, and counts as several requests', async () => {
  const value = 'x"'.repeat(150_000)
  await api.world.pool.query(
    `insert into data_object (project_id, name, value, updated_at) select id, 'large', $1, now() from project where name = 'default'`,
    [JSON.stringify(value)],
  )
  const limited = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
  const aliases = Array.from({ length: 20 }, (_, i) => `a${i}: dataObjects { edges { node { value } } }`)
  const token = await api.token({ name: 'eager', role: 'READER' })
  const { status, headers, body, json } = await post(
    limited.port,
    token,
    `{ project(name: "default") { ${aliases.join(' ')} } }`,
  )
  expect([status, Number(headers['content-length'])]).toEqual([200, Buffer.byteLength(body)])
  const found = Object.values<any>(json().data.project).map(({ edges }) => edges[0].node.value)
  expect(found).toHaveLength(20)
  expect(new Set(found)).toEqual(new Set([value]))
  expect((await post(limited.port, token, VIEWER)).status).toBe(429)
})

test('what a resolver reads counts for the project of its principal, besides for itself', async () => {
  const { pool } = api.world
  const readAs = (name: string, projectId: string) => {
    const viewer: Viewer = { ...viewerOf('READER', { name }), grants: [{ role: 'VIEWER', projectId }] }
    return createContext({ ...api.services, pool }, viewer).pool.query('select 1')
  }
  const shares = sharesOf(pool)
  let taken = 0
  while (shares.take('busy one') === undefined) taken += 1
  let isRead = false
  const reading = readAs('two', 'busy').then(() => {
    isRead = true
  })
  await readAs('three', 'quiet')
  expect(isRead).toBe(false)
  for (let i = 0; i <= taken; i++) shares.giveBack('busy one')
  await reading
})
