import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { ClientError, createClient } from '../../src/client/index.ts'
import { retryDelay } from '../../src/client/pause.ts'
import { DEFAULT_LIMITS } from '../../src/core/gateway-limits.ts'
import { homeOf } from '../../src/core/rights.ts'
import { Callers } from '../../src/server/limits/callers.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { call, flood, metric, post, refusals } from './call.ts'

/** Bounds the cost of one caller, as a principal and as an address. */

const KIB = 1_024
const VIEWER = '{ viewer { name } }'
const CLAIM =
  'mutation { claimWork(input: { types: ["none"], instance: "i", leaseMs: 10000, waitMs: 20000 }) { __typename } }'

let api: Api
let admin: string
let ada: string
let bob: string
beforeAll(async () => {
  api = await createApi()
  admin = await api.token()
  ada = await api.token({ name: 'ada', role: 'AGENT', actor: 'DEPLOYER' })
  bob = await api.token({ name: 'bob', role: 'AGENT', actor: 'DEPLOYER' })
})
afterAll(() => api[Symbol.asyncDispose]())

const codeOf = (answer: { readonly status: number; json(): any }) => [
  answer.status,
  answer.json().errors?.[0].extensions.code,
]

async function open({ port }: RunningServer, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  return socket
}
async function openReady(server: RunningServer, token: string): Promise<WebSocket> {
  const socket = await open(server, token)
  await once(socket, 'message')
  return socket
}
async function ask(socket: WebSocket, id: string, query: string): Promise<any> {
  const answered = nextOf(socket, id)
  socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }))
  return await answered
}
const nextOf = (socket: WebSocket, id: string): Promise<any> =>
  new Promise((resolve) =>
    socket.on('message', (data) => {
      const message = JSON.parse(String(data))
      if (message.id === id) resolve(message)
    }),
  )

test('a principal that sends too many requests is told when to come again, and others are served', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 1 } })
  const socket = await openReady(server, ada)
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(server.port, ada, VIEWER)))
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5)
  const [refused] = answers.filter(({ status }) => status !== 200)
  if (!refused) throw new Error('none was refused')
  expect(codeOf(refused)).toEqual([429, 'RATE_LIMITED'])
  const { retryAfterMs } = refused.json().errors[0].extensions
  expect(retryAfterMs).toBeGreaterThan(0)
  expect(retryAfterMs).toBeLessThanOrEqual(1_000)
  expect(refused.headers['retry-after']).toBe('1')
  const messages = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(socket, String(i), VIEWER)))
  expect(messages).toContainEqual(
    expect.objectContaining({
      type: 'error',
      payload: [expect.objectContaining({ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } })],
    }),
  )
  expect((await post(server.port, bob, VIEWER)).status).toBe(200)
  expect(await refusals(server, admin, 'RATE_LIMITED', 'principal')).toBeGreaterThanOrEqual(2)
})

test.each([
  [1, true],
  [100_000, false],
])(
  'with %i requests a second, a socket on which 64 messages wait is closed by a further one: %s',
  async (rate, isClosed) => {
    const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: rate } })
    const before = await refusals(server, admin, 'TOO_MANY')
    const closed = await flood(await Promise.all(Array.from({ length: 24 }, () => openReady(server, ada))))
    expect(closed.length > 0).toBe(isClosed)
    for (const end of closed) expect(end).toEqual([1013, 'Too many messages at a time'])
    expect(await refusals(server, admin, 'TOO_MANY')).toBe(before + closed.length)
  },
)

test('a large pong counts as several requests', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
  const socket = await openReady(server, ada)
  socket.send(JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(100 * KIB) } }))
  await once(socket, 'message')
  expect(codeOf(await post(server.port, ada, VIEWER))).toEqual([429, 'RATE_LIMITED'])
})

test('a large request counts as several', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
  const large = JSON.stringify({ query: VIEWER, variables: { unused: 'x'.repeat(1_024 * KIB) } })
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json' }
  expect((await call(server.port, '/graphql', { method: 'POST', headers, body: large })).status).toBe(200)
  expect(codeOf(await post(server.port, ada, VIEWER))).toEqual([429, 'RATE_LIMITED'])
})

test('a document that is not known counts by its length, and once', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
  const long = `${VIEWER} # ${'x'.repeat(40 * 64)}`
  for (let i = 0; i < 5; i++) expect((await post(server.port, ada, long)).status).toBe(200)
  expect((await post(server.port, ada, `${long}y`)).status).toBe(200)
  expect(codeOf(await post(server.port, ada, VIEWER))).toEqual([429, 'RATE_LIMITED'])
})

test('a document that is refused, or named only, counts as any other', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json' }
  const persisted = JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } } })
  for (let i = 0; i < 20; i++) {
    expect(codeOf(await post(server.port, ada, '{ nothing }'))).toEqual([200, 'GRAPHQL_VALIDATION_FAILED'])
    const named = await call(server.port, '/graphql', { method: 'POST', headers, body: persisted })
    expect(codeOf(named)).toEqual([200, 'PERSISTED_QUERY_NOT_SUPPORTED'])
  }
})

test('an address is limited, too, but for the share of each principal there; behind a declared proxy it is the client’s', async () => {
  const limits = { requestsPerSecondPerAddress: 1 }
  const direct = await api.serve({ limits })
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })
  // Ten at once are all there are: five of the address, and five of its own. Some come back with time.
  const refusedFrom = ({ port }: RunningServer, addressOf: (i: number) => string) => {
    let i = 10
    return until(
      async () => {
        const answer = await post(port, bob, VIEWER, from(addressOf(i++)))
        return answer.status === 200 ? null : codeOf(answer)
      },
      { what: 'the address is refused' },
    )
  }
  for (let i = 0; i < 10; i++) expect((await post(direct.port, bob, VIEWER, from(`192.0.2.${i}`))).status).toBe(200)
  expect(await refusedFrom(direct, (i) => `192.0.2.${i % 256}`)).toEqual([429, 'RATE_LIMITED'])
  expect((await post(direct.port, ada, VIEWER)).status).toBe(200)

  const proxied = await api.serve({ limits, trustedProxies: ['127.0.0.0/8', '10.1.0.0/16'] })
  // Entries that the client sends itself stand before the one that the proxy adds.
  const ofOne = from('198.51.100.1, 192.0.2.1, 10.1.2.3')
  for (let i = 0; i < 10; i++) expect((await post(proxied.port, bob, VIEWER, ofOne)).status).toBe(200)
  expect(await refusedFrom(proxied, () => '192.0.2.1')).toEqual([429, 'RATE_LIMITED'])
  expect((await post(proxied.port, bob, VIEWER, from('192.0.2.2'))).status).toBe(200)
})

test('agents of the machine of the server share no address with others there', async () => {
  const server = await api.serve({
    limits: { requestsPerSecondPerAddress: 1 },
    loopback: { port: 0, accepts: ({ name }) => name === 'bob' },
  })
  const agentsPort = Number(new URL(server.loopbackUrl ?? '').port)
  for (const token of [ada, admin]) for (let i = 0; i < 10; i++) await post(server.port, token, VIEWER)
  for (let i = 0; i < 10; i++) expect((await post(agentsPort, bob, VIEWER)).status).toBe(200)
})

test('operations at a time are bounded, over HTTP and sockets together, and end with their caller', async () => {
  const server = await api.serve({ limits: { openOperationsPerPrincipal: 1 } })
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json' }
  const claim = request({ host: '127.0.0.1', port: server.port, path: '/graphql', method: 'POST', headers })
  claim.on('error', () => {})
  claim.end(JSON.stringify({ query: CLAIM }))
  await until(() => api.services.agents.waitingClaims === 1, { what: 'the claim waits' })
  expect(codeOf(await post(server.port, ada, VIEWER))).toEqual([429, 'TOO_MANY'])
  const socket = await openReady(server, ada)
  expect(await ask(socket, '1', VIEWER)).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'TOO_MANY' } }],
  })
  expect((await post(server.port, bob, VIEWER)).status).toBe(200)
  claim.destroy()
  await until(async () => (await post(server.port, ada, VIEWER)).status === 200, { what: 'the operation has ended' })
  expect(await ask(socket, '2', VIEWER)).toMatchObject({ type: 'next', payload: { data: { viewer: { name: 'ada' } } } })
})

test('subscriptions at a time are bounded', async () => {
  const server = await api.serve({ limits: { openSubscriptionsPerPrincipal: 1 } })
  const socket = await openReady(server, ada)
  const subscription = 'subscription { phaseLog(after: 0) { through } }'
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: subscription } }))
  await until(() => api.services.streams.list().length === 1, { what: 'the subscription runs' })
  const refused = { type: 'error', payload: [{ extensions: { code: 'TOO_MANY' } }] }
  expect(await ask(socket, '2', subscription)).toMatchObject(refused)
  const events = { accept: 'text/event-stream' }
  expect(codeOf(await post(server.port, ada, subscription, events))).toEqual([429, 'TOO_MANY'])
  expect(await ask(socket, '3', VIEWER)).toMatchObject({ type: 'next' })
  socket.send(JSON.stringify({ id: '1', type: 'complete' }))
  await until(() => api.services.streams.list().length === 0, { what: 'it has ended' })
  socket.send(JSON.stringify({ id: '4', type: 'subscribe', payload: { query: subscription } }))
  await until(() => api.services.streams.list().length === 1, { what: 'another one runs' })
})

test('different subscriptions that a change may concern are bounded; equal ones, and those to other trees, are not', async () => {
  const server = await api.serve({ limits: { differentSubscriptionsPerPrincipal: 2 } })
  const socket = await openReady(server, ada)
  let ids = 0
  const subscribe = (filter: object): string => {
    ids += 1
    const query = 'subscription ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { sequence } }'
    socket.send(JSON.stringify({ id: `s${ids}`, type: 'subscribe', payload: { query, variables: { filter } } }))
    return `s${ids}`
  }
  const open = (n: number) => until(() => api.services.streams.list().length === n, { what: `${n} are open` })
  const since = (year: number) => ({ since: `${year}-01-01T00:00:00Z` })
  const first = subscribe(since(2021))
  for (let i = 0; i < 5; i++) subscribe(since(2022))
  for (const rootId of [1, 2, 3].map((n) => `00000000-0000-0000-0000-00000000000${n}`)) subscribe({ rootId })
  await open(9)
  const refused = await nextOf(socket, subscribe(since(2023)))
  const message = expect.stringMatching(
    /^One principal has at most 2 different subscriptions .*share one, or end some.$/,
  )
  expect(refused.payload.errors).toMatchObject([{ message, extensions: { code: 'TOO_MANY', retryAfterMs: 1_000 } }])
  expect(await refusals(server, admin, 'TOO_MANY', 'principal')).toBe(1)
  socket.send(JSON.stringify({ id: first, type: 'complete' }))
  await open(8)
  subscribe(since(2023))
  await open(9)
})

test('sockets at a time are bounded', async () => {
  const server = await api.serve({ limits: { openSocketsPerPrincipal: 1 } })
  const first = await openReady(server, ada)
  const [code] = await once(await open(server, ada), 'close')
  expect(code).toBe(1013)
  await openReady(server, bob)
  first.close()
  await once(first, 'close')
  await until(
    async () => {
      const socket = await open(server, ada)
      const ready = await Promise.race([
        once(socket, 'message').then(() => true),
        once(socket, 'close').then(() => false),
      ])
      socket.terminate()
      return ready
    },
    { what: 'there is room again' },
  )
})

test('bytes of requests that have not arrived yet are bounded', async () => {
  const server = await api.serve({ limits: { requestBytesPerPrincipal: 300 * KIB } })
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/json', 'content-length': 10_000 * KIB }
  const send = () => {
    const slow = request({ host: '127.0.0.1', port: server.port, path: '/graphql', method: 'POST', headers })
    slow.on('error', () => {})
    slow.write(`{"query":"${'x'.repeat(200 * KIB)}`)
    return slow
  }
  const slow = send()
  onTestFinished(() => void slow.destroy())
  const [answer] = await once(send(), 'response')
  expect(answer.statusCode).toBe(429)
  slow.destroy()

  const unfinished = Buffer.concat([frameHead(15 * KIB * KIB), Buffer.alloc(400 * KIB, 'x')])
  const socket = await openReady(server, bob)
  streamOf(socket).write(unfinished)
  const [code, reason] = await once(socket, 'close')
  expect([code, String(reason)]).toEqual([1013, 'Too many bytes at a time'])
  // A closed connection frees the bytes that it had sent.
  const sockets = () => metric(server, admin, 'phaseline_websockets')
  await until(async () => (await sockets()) === 0, { what: 'the connection is gone' })
  const other = await openReady(server, bob)
  const large = JSON.stringify({
    id: '1',
    type: 'subscribe',
    payload: { query: VIEWER, variables: { a: 'x'.repeat(250 * KIB) } },
  })
  const answered = nextOf(other, '1')
  other.send(large)
  expect(await answered).toMatchObject({ type: 'next' })
})
const streamOf = (socket: WebSocket): Socket => (socket as unknown as { readonly _socket: Socket })._socket
/** The head of a frame that announces so many bytes, unmasked. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

test('our client waits as long as the server says, and goes on', async () => {
  const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 1 } })
  const client = createClient({ url: `${server.url}/graphql`, token: bob })
  onTestFinished(() => client.close())
  const asked = Array.from({ length: 12 }, () => client.query(VIEWER).catch((thrown: unknown) => thrown))
  const error = (await Promise.all(asked)).find((answer) => answer instanceof Error)
  expect(error).toBeInstanceOf(ClientError)
  const { retryable, retryAfterMs } = error as ClientError
  expect(retryable).toBe(true)
  expect(retryDelay(0, error)).toBeGreaterThan(retryAfterMs ?? Number.NaN)
  const first = client.subscribe('subscription { nothing }')[Symbol.asyncIterator]().next()
  await expect(first).rejects.toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' })
})

test.each([
  ['pings', (socket: WebSocket) => socket.send('{"type":"ping"}'), 'message'],
  ['pings of the transport', (socket: WebSocket) => socket.ping(), 'pong'],
] as const)(
  'messages that are no operations count as requests, and are answered all the same: %s',
  async (_, send, event) => {
    const server = await api.serve({ limits: { requestsPerSecondPerPrincipal: 10 } })
    const socket = await openReady(server, ada)
    let answers = 0
    socket.on(event, () => {
      answers += 1
    })
    for (let i = 0; i < 60; i++) send(socket)
    const { type, payload } = await ask(socket, 'q', VIEWER)
    expect([type, payload[0]?.extensions.code]).toEqual(['error', 'RATE_LIMITED'])
    await until(() => answers >= 60, { what: 'each ping is answered' })
    expect(await refusals(server, admin, 'RATE_LIMITED', 'principal')).toBeGreaterThan(5)
  },
)

test('principals whose rights are those of projects count for the first of them, and others for themselves', () => {
  const grant = (projectId: string | null) => ({ role: 'EDITOR' as const, projectId })
  expect(homeOf([grant('b'), grant('a'), grant('b')])).toBe('a')
  expect(homeOf([grant('a'), grant(null)])).toBeNull()
  expect(homeOf([])).toBeNull()
  const callers = new Callers(DEFAULT_LIMITS)
  const shareOf = (principalId: string, ...projects: readonly (string | null)[]) =>
    callers.as({ principalId, grants: projects.map(grant) }, '::').principal.share
  expect(shareOf('ada', 'a')).toBe(shareOf('bob', 'b', 'a'))
  expect(shareOf('eve', 'b')).not.toBe(shareOf('ada', 'a'))
  expect(shareOf('root', null)).not.toBe(shareOf('other root', null))
})
