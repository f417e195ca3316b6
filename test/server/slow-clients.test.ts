import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { metric, post, refusals } from './call.ts'

/** Clients that send or read too slowly, or not at all, are cut off, and what waits for them is bounded. */

const MB = 1024 * 1024
/** More than the kernel buffers of both ends of a connection. */
const ANSWER = 14 * MB

let api: Api
let token: string
beforeAll(async () => {
  api = await createApi()
  token = await api.token()
  await api.world.pool.query(
    `insert into data_object (project_id, name, value, updated_at)
      select id, 'large', to_jsonb(repeat('x', $1)), now() from project where name = 'default'`,
    [ANSWER],
  )
})
afterAll(() => api[Symbol.asyncDispose]())

const LARGE = '{ project(name: "default") { dataObjects(first: 1) { edges { node { value } } } } }'
const headersOf = ({ port }: RunningServer, length: number): string =>
  `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

async function open({ port }: RunningServer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
/** Asks for the large answer and reads nothing of it. */
async function openDeaf(server: RunningServer): Promise<Socket> {
  const socket = await open(server)
  socket.pause()
  const body = JSON.stringify({ query: LARGE })
  socket.write(headersOf(server, body.length) + body)
  return socket
}
const unread = (server: RunningServer) => metric(server, token, 'phaseline_unread_bytes')
const isCut = (server: RunningServer, count = 1) =>
  until(async () => (await refusals(server, token, 'TOO_SLOW')) >= count, { what: 'slow clients are cut off' })

test('a client that reads nothing of its answer is cut off', async () => {
  const server = await api.serve({ limits: { stalledAfterMs: 500 } })
  await openDeaf(server)
  await isCut(server)
  await until(async () => (await unread(server)) === 0, { what: 'nothing waits any more' })
})

test('a client that reads late gets all of its answer', async () => {
  const server = await api.serve()
  const socket = await openDeaf(server)
  await until(async () => (await unread(server)) >= ANSWER, { what: 'the answer waits' })
  let read = 0
  for await (const chunk of socket) {
    read += (chunk as Buffer).length
    if (read >= ANSWER) break
  }
  expect(read).toBeGreaterThanOrEqual(ANSWER)
  expect(await refusals(server, token, 'TOO_SLOW')).toBe(0)
})

test('what waits for all of them is bounded; those who read are not concerned', async () => {
  const server = await api.serve({ limits: { stalledAfterMs: 60_000, unreadBytes: 2.5 * ANSWER } })
  for (const waiting of [1, 2]) {
    await openDeaf(server)
    await until(async () => (await unread(server)) >= waiting * ANSWER, { what: 'it waits' })
  }
  for (const cut of [1, 2]) {
    await openDeaf(server)
    await isCut(server, cut)
  }
  expect(await unread(server)).toBeLessThan(2.5 * ANSWER)
  expect((await post(server.port, token, LARGE)).body.length).toBeGreaterThan(ANSWER)
})

test('a WebSocket whose answers are not read is closed', async () => {
  const server = await api.serve({ limits: { stalledAfterMs: 500 } })
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  await once(socket, 'message')
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: LARGE } }))
  socket.pause()
  await isCut(server)
  await until(async () => (await metric(server, token, 'phaseline_websockets')) === 0, { what: 'it is closed' })
  await until(async () => (await unread(server)) === 0, { what: 'nothing waits any more' })
})

test.each([
  ['headers', 50],
  ['a body', undefined],
])('a request that takes too long to arrive is answered with 408: %s', async (_, length) => {
  const server = await api.serve({ limits: { requestTimeoutMs: 200 } })
  const socket = await open(server)
  socket.write(headersOf(server, 1_000).slice(0, length))
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 408 Request Timeout/)
  await once(socket, 'close')
  expect(await refusals(server, token, 'REQUEST_TIMEOUT')).toBe(1)
})

test.each([
  ['no HTTP', 'HELLO\r\n\r\n', 400],
  ['large headers', `GET / HTTP/1.1\r\nhost: x\r\nlarge: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('what cannot be parsed is answered: %s', async (_, text, status) => {
  const socket = await open(await api.serve())
  socket.write(text)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(`HTTP/1.1 ${status} `)
})
