import { once } from 'node:events'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createNumberer } from '../../src/log/numberer.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { change, createRoot, oneTo, write } from '../log/writer.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { redisUrl } from '../testkit/redis.ts'
import { startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const DEAF = 24
const READERS = 2
const CHANGES = 20_000
const BATCH = 100
/** Text of each change, so that all changes together exceed by far what sockets hold. */
const MESSAGE = 'x'.repeat(1_000)
const MB = 2 ** 20
/** Bounds the bytes that wait for one client, in addition to the kernel's buffers. */
const WAITING = MB
/** A process that kept everything for everybody would need this several times. */
const GROWTH = 300 * MB

async function metric(server: TestServer, name: string): Promise<number> {
  const response = await fetch(`${server.origin}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })
  const line = (await response.text()).split('\n').find((text) => text.startsWith(`${name} `))
  if (!line) throw new Error(`there is no ${name}`)
  return Number(line.split(' ')[1])
}

/** Subscribes to everything, and never reads again. */
async function openDeaf(server: TestServer, id: string): Promise<WebSocket> {
  const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws')
  socket.on('error', () => undefined)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${server.token}` } }))
  await once(socket, 'message')
  const query = gql('subscription { phaseChanges(after: 0) { id sequence objectId name message from to at } }')
  socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }))
  socket.pause()
  return socket
}

test('subscribers that never read cost bounded memory and are sent away; the others hear everything meanwhile', async () => {
  await using database = await createTestDatabase()
  const token = 'slow-subscriber-administrator'
  const env = { DATABASE_URL: database.url, REDIS_URL: redisUrl(), PHASELINE_TOKEN: token, PHASELINE_ROLES: 'gateway' }
  await using server = await startServer({ env, token })
  const logger = pino({ level: 'silent' })
  const signal = createRedisSignal({ url: redisUrl(), logger })
  const { pool } = database
  const numberer = createNumberer({ pool, signal, logger })
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    await numberer[Symbol.asyncDispose]()
    await signal.close()
  })

  const stop = new AbortController()
  const readers = Array.from({ length: READERS }, () => {
    const seen: number[] = []
    const done = (async () => {
      for await (const { changes } of server.client.followPhases({ after: 0, signal: stop.signal })) {
        for (const { sequence } of changes) seen.push(sequence)
      }
    })()
    return { seen, done }
  })
  const deaf = await Promise.all(Array.from({ length: DEAF }, (_, i) => openDeaf(server, `deaf-${i}`)))
  stack.defer(() => {
    for (const socket of deaf) socket.terminate()
  })

  const root = await createRoot(pool)
  const before = await metric(server, 'process_resident_memory_bytes')
  let most = { waiting: 0, memory: 0 }
  for (let written = 0; written < CHANGES; written += BATCH) {
    await write(
      pool,
      root,
      Array.from({ length: BATCH }, () => change(root, { message: MESSAGE })),
    )
    numberer.committed()
    if (written % 2_000 > 0) continue
    most = {
      waiting: Math.max(most.waiting, await metric(server, 'phaseline_websocket_buffered_bytes')),
      memory: Math.max(most.memory, await metric(server, 'process_resident_memory_bytes')),
    }
  }
  await until(() => readers.every(({ seen }) => seen.length >= CHANGES), {
    what: 'the others have heard everything',
  })
  for (const { seen } of readers) expect(seen).toEqual(oneTo(CHANGES))
  most.memory = Math.max(most.memory, await metric(server, 'process_resident_memory_bytes'))
  expect(most.waiting).toBeLessThan(DEAF * WAITING)
  expect(most.memory - before).toBeLessThan(GROWTH)

  // The readers share one socket.
  await until(async () => (await metric(server, 'phaseline_websockets')) === 1, {
    what: 'those who do not read are sent away',
  })
  stop.abort()
  await Promise.all(readers.map(({ done }) => done))
})
