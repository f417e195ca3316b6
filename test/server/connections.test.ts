import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { call, metric, post, refusals } from './call.ts'

/** Connections without a token, and requests that are sent without waiting for answers. */

const NAMED = { allowedHosts: ['phaseline.test'] }

let api: Api
let server: RunningServer
let token: string
let agent: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve(NAMED)
  token = await api.token()
  agent = await api.token({ name: 'agent', role: 'AGENT', actor: 'DEPLOYER' })
})
afterAll(() => api[Symbol.asyncDispose]())

interface Opened {
  readonly socket: Socket
  /** All that has come. */
  readonly received: () => string
}

async function open({ port }: RunningServer = server): Promise<Opened> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return { socket, received: () => received }
}

/** It waits for work that never comes. */
const CLAIM =
  'mutation { claimWork(input: { types: ["none"], instance: "i", leaseMs: 10000, waitMs: 1000 }) { __typename } }'
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: phaseline.test\r\n\r\n`
function mutate(query: string, as = token): string {
  const body = JSON.stringify({ query })
  return [
    ...['POST /graphql HTTP/1.1', 'host: phaseline.test', `authorization: Bearer ${as}`, 'accept: application/json'],
    ...['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, '', body],
  ].join('\r\n')
}
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))
const statuses = (text: string): readonly string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => `${code}`)

const dataNames = async (): Promise<readonly string[]> => {
  const query = '{ project(name: "default") { dataObjects(first: 10) { edges { node { name } } } } }'
  const { data } = (await post(server.port, token, query)).json()
  return data.project.dataObjects.edges.map(({ node }: { readonly node: { readonly name: string } }) => node.name)
}

test('of one connection one request is begun at a time', async () => {
  const { socket, received } = await open()
  const SETS = 'mutation { setDataObject(input: { name: "piped", value: 1 }) { __typename } }'
  socket.write(mutate(CLAIM, agent) + mutate(SETS) + get('/nothing'))
  // Requests of others are answered meanwhile.
  expect(await dataNames()).not.toContain('piped')
  expect(received()).toBe('')
  await until(() => statuses(received()).length === 3, { what: 'all three are answered' })
  expect(statuses(received())).toEqual(['200', '200', '404'])
  expect(await dataNames()).toContain('piped')
})

test('a connection that sends many requests without waiting is closed, and what it had sent is not read', async () => {
  const { socket, received } = await open()
  socket.write(get('/livez').repeat(17))
  await until(() => statuses(received()).length === 17, { what: 'as many as may wait are answered' })
  expect(await refusals(server, token, 'TOO_MANY', 'connection')).toBeNaN()
  socket.write(get('/livez').repeat(2_000))
  await closed(socket)
  expect(await refusals(server, token, 'TOO_MANY', 'connection')).toBe(1)
})

test('after an answer that closes the connection no further request of it is begun', async () => {
  const { socket, received } = await open()
  const ambiguous = 'GET /livez HTTP/1.1\r\nhost: phaseline.test\r\nhost: phaseline.test\r\n\r\n'
  socket.write(ambiguous + mutate('mutation { setDataObject(input: { name: "smuggled", value: 1 }) { __typename } }'))
  await closed(socket)
  expect(statuses(received())).toEqual(['400'])
  expect(await dataNames()).not.toContain('smuggled')
})

test('a WebSocket cannot be asked for while a request before it is being answered', async () => {
  const { socket, received } = await open()
  const upgrade = [
    ...['GET /graphql HTTP/1.1', 'host: phaseline.test', 'connection: upgrade', 'upgrade: websocket'],
    ...['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
  ].join('\r\n')
  socket.write(`${get('/livez')}${upgrade}`)
  await closed(socket)
  expect(statuses(received())).not.toContain('101')
})

test('of the idle connections of one address the one that is idle for longest makes room', async () => {
  const small = await api.serve({ ...NAMED, limits: { idleConnectionsPerAddress: 2 } })
  const [first, second] = [await open(small), await open(small)]
  first.socket.write(get('/livez'))
  await until(() => statuses(first.received()).length === 1, { what: 'the first is answered' })
  const third = await open(small)
  await closed(second.socket)
  expect([first.socket.closed, third.socket.closed]).toEqual([false, false])
  expect(await refusals(small, token, 'TOO_MANY_CONNECTIONS', 'address')).toBeGreaterThan(0)
})

test('one that is busy is not idle: neither a WebSocket, nor one whose request is being answered', async () => {
  const small = await api.serve({ ...NAMED, limits: { idleConnectionsPerAddress: 2 } })
  const socket = new WebSocket(`ws://127.0.0.1:${small.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const waiting = await open(small)
  waiting.socket.write(mutate(CLAIM, agent))
  await until(async () => (await metric(small, token, 'phaseline_waiting_claims')) === 1, { what: 'the claim waits' })
  const crowd: Opened[] = []
  for (let i = 0; i < 5; i++) crowd.push(await open(small))
  await until(() => crowd.filter((each) => !each.socket.closed).length === 2, { what: 'the longest idle have gone' })
  await until(() => statuses(waiting.received()).length === 1, { what: 'the one that waited is answered' })
  expect(socket.readyState).toBe(WebSocket.OPEN)
})

test('newcomers get in, however many connections there are altogether', async () => {
  const small = await api.serve({ ...NAMED, limits: { connections: 16 } })
  const crowd: Opened[] = []
  for (let i = 0; i < 40; i++) crowd.push(await open(small))
  expect((await call(small.port, '/livez')).status).toBe(200)
  await until(() => crowd.filter((each) => !each.socket.closed).length <= 16, { what: 'the longest idle have gone' })
  expect(crowd.at(-1)?.socket.closed).toBe(false)
})

test('a client whose handshake is refused cannot keep its connection', async () => {
  const small = await api.serve({ ...NAMED, limits: { connections: 16 } })
  const upgrade = 'GET /nothing HTTP/1.1\r\nhost: phaseline.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  for (let i = 0; i < 20; i++) {
    // It keeps its side open.
    const socket = connect({ port: small.port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(upgrade)
    await once(socket.resume(), 'end')
  }
  expect((await call(small.port, '/livez')).status).toBe(200)
})

test('a proxy has as many connections as it needs', async () => {
  const proxied = await api.serve({ ...NAMED, limits: { idleConnectionsPerAddress: 1 }, trustedProxies: ['127.0.0.1'] })
  const crowd: Opened[] = []
  for (let i = 0; i < 5; i++) crowd.push(await open(proxied))
  for (const { socket } of crowd) socket.write(get('/livez'))
  await until(() => crowd.every(({ received }) => statuses(received()).length === 1), { what: 'each is answered' })
})
