import { createClient } from 'redis'
import { type WebSocket, WebSocketServer } from 'ws'
import { answerReadings, settingOf, topicOf } from '../workloads/fan-out-peer.ts'
import { CHANNEL, FRAME_AT } from './bare-ws-publisher.ts'

/**
 * The ceiling: no GraphQL at all. Redis delivers the bytes of the message as they are, and `ws` sends
 * them to each subscriber. A process.
 */
const topics = new Map<string, Set<WebSocket>>()
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'graphql-transport-ws' })
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data)) as Incoming
    if (type === 'connection_init') socket.send('{"type":"connection_ack"}')
    if (type !== 'subscribe') return
    const topic = topicOf(payload?.variables?.filter?.rootId)
    const sockets = topics.get(topic) ?? new Set()
    topics.set(topic, sockets.add(socket))
    socket.on('close', () => sockets.delete(socket))
  })
})
interface Incoming {
  readonly type: string
  readonly payload?: { readonly variables?: { readonly filter?: { readonly rootId?: string } } }
}

const redis = createClient({ url: settingOf('REDIS_URL') })
await redis.connect()
await redis.subscribe(
  CHANNEL,
  (message) => {
    const topic = message.toString('latin1', 0, FRAME_AT).trimEnd()
    const bytes = message.subarray(FRAME_AT)
    for (const socket of topics.get(topic) ?? []) socket.send(bytes, { binary: false })
  },
  true,
)
answerReadings((server.address() as { port: number }).port)
process.on('disconnect', () => process.exit())
