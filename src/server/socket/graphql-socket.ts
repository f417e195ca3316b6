import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { handleProtocols } from 'graphql-ws'
import { WebSocketServer } from 'ws'
import { MAX_BODY } from '../../graphql/schema/limits.ts'
import { secretOf } from '../auth/credentials.ts'
import { sealedIn } from '../auth/sign-in-cookie.ts'
import type { Drain } from '../limits/drain.ts'
import { traceOf } from '../operation/trace-of.ts'
import { requestIdOf } from '../replies/request-id.ts'
import { CLOSE } from './close-codes.ts'
import { dismiss } from './dismiss.ts'
import { createProtocol, type ProtocolParts } from './socket-protocol.ts'
import { type SessionParts, SocketSession } from './socket-session.ts'
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts'

const OPTIONS = {
  noServer: true,
  maxPayload: MAX_BODY,
  // One message in each turn of the event loop, of the thousands that may have arrived in one piece.
  allowSynchronousEvents: false,
  // A session answers pings in its turns.
  autoPong: false,
  // Milliseconds in which a client must answer the close frame before it is disconnected.
  closeTimeout: 1_000,
  handleProtocols,
}

export interface GraphQLSocket {
  /** Takes over a connection with an allowed host and origin. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
  readonly size: number
  /** Bytes that wait for all clients together. */
  readonly bufferedBytes: number
  /** Lets operations end but subscriptions, and closes each socket then with SERVICE_RESTART. */
  close(): Promise<void>
}

interface SocketParts extends ProtocolParts, SessionParts {
  readonly drain: Drain
}

/** The WebSockets of a gateway: few of them from strangers, and not too many altogether. */
export function createGraphQLSocket(parts: SocketParts): GraphQLSocket {
  const { limits, refusals, callers, drain } = parts
  const sessions = new Set<SocketSession>()
  const server = new WebSocketServer(OPTIONS)
  const protocol = createProtocol(parts)
  const unauthenticated = new UnauthenticatedSockets(limits, refusals)
  return {
    upgrade: (request, stream, head) =>
      server.handleUpgrade(request, stream, head, (socket) => {
        const address = callers.addressOf(request)
        const origin = { address, requestId: requestIdOf(request), ...traceOf(request.headers) }
        const newcomer = unauthenticated.admit(socket, stream, address)
        if (!newcomer) {
          refusals.count('TOO_MANY_SOCKETS', 'address')
          return dismiss(socket, stream, CLOSE.TOO_MANY_SOCKETS)
        }
        const { headers } = request
        const credentials = { secret: secretOf(headers), sealed: sealedIn(headers) }
        const session = new SocketSession({ socket, stream, newcomer, origin, ...credentials }, parts)
        sessions.add(session)
        socket.once('close', () => sessions.delete(session))
        session.run(protocol)
      }),
    get size() {
      return server.clients.size
    },
    get bufferedBytes() {
      return [...server.clients].reduce((sum, client) => sum + client.bufferedAmount, 0)
    },
    async close() {
      await Promise.all([...sessions].map((session) => session.leave(drain.remainingMs)))
      server.close()
    },
  }
}
