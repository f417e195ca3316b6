import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { flood, refusals } from './call.ts'

/** Attacks that need no token, only access to the port. */

const KIB = 1024

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve({ limits: { initTimeoutMs: 60_000 } })
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

async function open({ port }: RunningServer = server, headers = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { headers })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}
const ended = async (socket: WebSocket): Promise<readonly [number, string]> => {
  const [code, reason] = await once(socket, 'close')
  return [code, String(reason)]
}
const init = (secret = token): string =>
  JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${secret}` } })
async function authenticate(socket: WebSocket): Promise<void> {
  socket.send(init())
  await once(socket, 'message')
}

/** The head of a frame that announces so many bytes, unmasked. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}
const PING = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(1_000) } })

test.each([
  [
    'an unfinished frame',
    (socket: WebSocket) =>
      streamOf(socket).write(Buffer.concat([frameHead(15 * KIB * KIB), Buffer.alloc(200 * KIB, 'x')])),
  ],
  ['one message', (socket: WebSocket) => socket.send(init().padEnd(200 * KIB))],
  ['many messages', (socket: WebSocket) => Array.from({ length: 200 }, () => socket.send(PING))],
  [
    'fragments',
    (socket: WebSocket) => Array.from({ length: 200 }, () => socket.send('x'.repeat(1_000), { fin: false })),
  ],
])('before its token a socket may send 64 KB: %s', async (_, send) => {
  const before = await refusals(server, token, 'TOO_LARGE')
  const socket = await open()
  send(socket)
  expect(await ended(socket)).toEqual([1009, 'Too many bytes before the token'])
  expect(await refusals(server, token, 'TOO_LARGE')).toBe(before + 1)
})
const streamOf = (socket: WebSocket): Socket => (socket as unknown as { readonly _socket: Socket })._socket

test('before its token is accepted, a socket on which 64 messages wait is closed by a further one', async () => {
  const before = await refusals(server, token, 'TOO_MANY')
  const closed = await flood(await Promise.all(Array.from({ length: 24 }, () => open())))
  expect(closed.length).toBeGreaterThan(0)
  for (const end of closed) expect(end).toEqual([1013, 'Too many messages at a time'])
  expect(await refusals(server, token, 'TOO_MANY')).toBe(before + closed.length)
})

test('with its token it may send as much as ever', async () => {
  const socket = await open()
  await authenticate(socket)
  const query = `{ viewer { name } } # ${'x'.repeat(200 * KIB)}`
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
  const [answer] = await once(socket, 'message')
  expect(JSON.parse(String(answer))).toMatchObject({ id: '1', type: 'next', payload: { data: { viewer: {} } } })
})

test('a socket that says nothing is closed soon, one that has sent its token is not', async () => {
  const quick = await api.serve({ limits: { initTimeoutMs: 500 } })
  // On a busy machine its token comes too late, too.
  const speaking = await until(
    async () => {
      const socket = await open(quick)
      const isClosed = once(socket, 'close').then(() => false)
      return (await Promise.race([authenticate(socket).then(() => true), isClosed])) ? socket : null
    },
    { what: 'a socket has sent its token in time' },
  )
  const before = await refusals(quick, token, 'INIT_TIMEOUT')
  expect(await ended(await open(quick))).toEqual([4408, 'Connection initialisation timeout'])
  expect(await refusals(quick, token, 'INIT_TIMEOUT')).toBe(before + 1)
  expect(speaking.readyState).toBe(WebSocket.OPEN)
})

test('one address has few sockets without a token at a time: for one too many the longest silent one goes', async () => {
  const small = await api.serve({ limits: { initTimeoutMs: 60_000, unauthenticatedSocketsPerAddress: 2 } })
  const [first, second] = [await open(small), await open(small)]
  const gone = ended(first)
  const third = await open(small)
  expect(await gone).toEqual([1013, 'Too many connections'])
  expect(await refusals(small, token, 'TOO_MANY_SOCKETS', 'address')).toBe(1)
  // However many say nothing, whoever says who it is gets in.
  for (let i = 0; i < 5; i++) {
    await open(small)
    await authenticate(await open(small))
  }
  await until(() => second.readyState === second.CLOSED && third.readyState === third.CLOSED, {
    what: 'the silent ones have made room',
  })
})

test('where there are too many altogether, one of the address goes that has the most', async () => {
  const limits = { initTimeoutMs: 60_000, unauthenticatedSockets: 4, unauthenticatedSocketsPerAddress: 3 }
  const small = await api.serve({ limits, trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => open(small, { 'x-forwarded-for': address })
  const [one] = [await from('192.0.2.1')]
  const many = [await from('192.0.2.2'), await from('192.0.2.2'), await from('192.0.2.2')]
  const gone = ended(many[0] as WebSocket)
  await authenticate(await from('192.0.2.3'))
  expect(await gone).toEqual([1013, 'Too many connections'])
  expect(one.readyState).toBe(WebSocket.OPEN)
})

test.each([
  [
    'deep JSON in a ping',
    `{"type":"ping","payload":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
    [4400, 'Invalid message'],
  ],
  ['no JSON', '{', [4400, 'Invalid message received']],
  ['a message of servers', '{"type":"connection_ack"}', [4400, 'Invalid message']],
  ['an operation', '{"id":"1","type":"subscribe","payload":{"query":"{a}"}}', [4401, 'Unauthorized']],
  ['a wrong token', init('nonsense'), [4403, 'Forbidden']],
])('a stranger learns nothing from an error: %s', async (_, message, end) => {
  const socket = await open()
  socket.send(message)
  expect(await ended(socket)).toEqual(end)
})

test('while tokens cannot be checked, a client is told to come again', async () => {
  await api.world.pool.query('alter table token rename to token_away')
  onTestFinished(async () => void (await api.world.pool.query('alter table token_away rename to token')))
  const socket = await open()
  socket.send(init('unknown-to-the-cache'))
  expect(await ended(socket)).toEqual([1013, 'Try again later'])
})
