import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type DocumentNode, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Tokens } from '../graphql/auth/tokens.ts'
import { MAX_BODY } from '../graphql/schema/limits.ts'
import { CLOSE } from './close-codes.ts'
import type { Connections } from './connections.ts'
import { bearerOf, UNAUTHENTICATED } from './credentials.ts'
import type { ClientSink } from './streams/client-sink.ts'
import { socketSink } from './streams/socket-sink.ts'
import type { Subscribe } from './streams/subscribe.ts'
import type { Yoga } from './yoga.ts'

/** Operations at a time on one socket. */
const MAX_OPERATIONS = 1_000
/** Sockets at a time on one gateway. */
const MAX_SOCKETS = 10_000
const INIT_WITHIN_MS = 5_000
/** Interval of pings; a client that does not answer before the next one is disconnected. */
const KEEP_ALIVE_MS = 15_000
/** Milliseconds in which a client must answer the close frame before it is disconnected. */
const CLOSE_WITHIN_MS = 1_000

export interface SocketParts {
  readonly schema: GraphQLSchema
  readonly yoga: Yoga
  readonly tokens: Tokens
  readonly connections: Connections
  readonly subscribe: Subscribe
  /** Milliseconds for which a client may read nothing. */
  readonly stalledAfterMs?: number | undefined
  readonly maxSockets?: number | undefined
}
export interface GraphQLSocket {
  /** Takes over a connection with an allowed host and origin. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  readonly size: number
  /** Bytes that wait for all clients together. */
  readonly bufferedBytes: number
  close(): Promise<void>
}

type Enveloped = ReturnType<Yoga['getEnveloped']>
/** The functions that execute an operation, passed along with its arguments. */
interface Operation {
  readonly execute: Enveloped['execute']
  readonly subscribe: () => ReturnType<Subscribe>
}
interface Extra extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket
  secret?: string
  closed?: () => void
}

/** graphql-transport-ws, for subscriptions and everything else. */
export function createGraphQLSocket(parts: SocketParts): GraphQLSocket {
  const { tokens, connections, schema, maxSockets = MAX_SOCKETS } = parts
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY })
  const sinks = new WeakMap<WebSocket, ClientSink>()
  useServer<Record<string, unknown>, Extra>(
    {
      schema,
      connectionInitWaitTimeout: INIT_WITHIN_MS,
      // False closes the socket as forbidden.
      async onConnect({ connectionParams, extra }) {
        const secret = bearerOf(connectionParams?.authorization ?? connectionParams?.Authorization)
        if (secret === null || (await tokens.authenticate(secret)) === null) return false
        extra.secret = secret
        const { code, reason } = CLOSE.FORBIDDEN
        extra.closed = connections.opened({ secret, isStream: false, end: () => extra.socket.close(code, reason) })
        return true
      },
      onDisconnect: ({ extra }) => extra.closed?.(),
      execute: (args) => (args as unknown as Operation).execute(args),
      subscribe: (args) => (args as unknown as Operation).subscribe(),
      async onSubscribe({ extra, subscriptions }, id, payload) {
        if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
          return [failure(`At most ${MAX_OPERATIONS} operations at a time on one socket.`, 'TOO_MANY')]
        }
        const viewer = extra.secret === undefined ? null : await tokens.authenticate(extra.secret)
        const sink = sinks.get(extra.socket)
        if (viewer === null || !sink) return [failure(UNAUTHENTICATED, 'UNAUTHENTICATED')]
        return await prepare({ ...payload, id, viewer, sink }, parts)
      },
    },
    server,
    KEEP_ALIVE_MS,
  )
  return {
    upgrade: (request, stream, head) =>
      server.handleUpgrade(request, stream, head, (client) => {
        sinks.set(client, socketSink(client, stream, parts.stalledAfterMs))
        if (server.clients.size > maxSockets) {
          client.close(CLOSE.TRY_AGAIN_LATER.code, CLOSE.TRY_AGAIN_LATER.reason)
        } else server.emit('connection', client, request)
      }),
    get size() {
      return server.clients.size
    },
    get bufferedBytes() {
      return [...server.clients].reduce((sum, client) => sum + client.bufferedAmount, 0)
    },
    close: () => closeAll(server),
  }
}

interface Request {
  readonly id: string
  readonly viewer: Viewer
  readonly sink: ClientSink
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Record<string, unknown> | null | undefined
}

/** Parses and validates; returns the arguments for graphql-ws, or the errors. */
async function prepare(request: Request, { yoga, schema, subscribe }: SocketParts) {
  const { query, viewer, variables, operationName } = request
  const { parse, validate, contextFactory, execute } = yoga.getEnveloped({ viewer })
  try {
    const document: DocumentNode = parse(query)
    const errors = validate(schema, document)
    if (errors.length > 0) return [...errors]
    const contextValue = await contextFactory()
    const args = { schema, document, operationName, variableValues: variables, contextValue, execute }
    if (getOperationAST(document, operationName)?.operation !== 'subscription') return args
    const { id, sink } = request
    const subscription = { query, document, operationName: operationName ?? null, variables: variables ?? {}, viewer }
    return { ...args, subscribe: () => subscribe({ request: subscription, context: contextValue, sink, id }) }
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}

const failure = (message: string, code: string): GraphQLError => new GraphQLError(message, { extensions: { code } })

async function closeAll(server: WebSocketServer): Promise<void> {
  const closed = [...server.clients].map(
    (client) =>
      new Promise<void>((resolve) => {
        client.once('close', () => resolve())
        client.close(CLOSE.SERVICE_RESTART.code, CLOSE.SERVICE_RESTART.reason)
        setTimeout(() => client.terminate(), CLOSE_WITHIN_MS).unref()
      }),
  )
  await Promise.all(closed)
  server.close()
}
