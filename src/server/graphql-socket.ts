import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { GraphQLError, type GraphQLSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { MAX_BODY } from '../graphql/limits.ts'
import type { Tokens } from '../graphql/tokens.ts'
import type { Connections } from './connections.ts'
import { bearerOf, UNAUTHENTICATED } from './credentials.ts'
import type { Yoga } from './yoga.ts'

/** Close codes: a client that is told "service restart" connects again, one that is told "forbidden" does not. */
const SERVICE_RESTART = 1012
const FORBIDDEN = 4403
/** Operations at a time on one socket. */
const MAX_OPERATIONS = 1_000
const INIT_WITHIN_MS = 5_000
/** How long a client may take to answer the close before it is cut off. */
const CLOSE_WITHIN_MS = 1_000

export interface SocketParts {
  readonly schema: GraphQLSchema
  readonly yoga: Yoga
  readonly tokens: Tokens
  readonly connections: Connections
}
export interface GraphQLSocket {
  /** Takes over a connection whose host and origin are in order. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  readonly size: number
  close(): Promise<void>
}

type Enveloped = ReturnType<Yoga['getEnveloped']>
/** What an operation is executed with: the enveloped functions travel with its arguments. */
interface Operation {
  readonly execute: Enveloped['execute']
  readonly subscribe: Enveloped['subscribe']
}
interface Extra extends Record<PropertyKey, unknown> {
  secret?: string
  closed?: () => void
}

/** graphql-transport-ws, for subscriptions and everything else. */
export function createGraphQLSocket({ yoga, tokens, connections, schema }: SocketParts): GraphQLSocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY })
  useServer<Record<string, unknown>, Extra>(
    {
      schema,
      connectionInitWaitTimeout: INIT_WITHIN_MS,
      // False closes the socket as forbidden.
      async onConnect({ connectionParams, extra }) {
        const secret = bearerOf(connectionParams?.authorization ?? connectionParams?.Authorization)
        if (secret === null || (await tokens.authenticate(secret)) === null) return false
        extra.secret = secret
        extra.closed = connections.opened({
          secret,
          isStream: false,
          end: () => extra.socket.close(FORBIDDEN, 'Forbidden'),
        })
        return true
      },
      onDisconnect: ({ extra }) => extra.closed?.(),
      execute: (args) => (args as unknown as Operation).execute(args),
      subscribe: (args) => (args as unknown as Operation).subscribe(args),
      async onSubscribe({ extra, subscriptions }, _id, { query, operationName, variables }) {
        if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
          return [failure(`At most ${MAX_OPERATIONS} operations at a time on one socket.`, 'TOO_MANY')]
        }
        const viewer = extra.secret === undefined ? null : await tokens.authenticate(extra.secret)
        if (viewer === null) return [failure(UNAUTHENTICATED, 'UNAUTHENTICATED')]
        const { parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({ viewer })
        try {
          const document = parse(query)
          const errors = validate(schema, document)
          if (errors.length > 0) return errors
          const contextValue = await contextFactory()
          return { schema, document, operationName, variableValues: variables, contextValue, execute, subscribe }
        } catch (error) {
          if (error instanceof GraphQLError) return [error]
          throw error
        }
      },
    },
    server,
  )
  return {
    upgrade: (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (client) => server.emit('connection', client, request)),
    get size() {
      return server.clients.size
    },
    close: () => closeAll(server),
  }
}

const failure = (message: string, code: string): GraphQLError => new GraphQLError(message, { extensions: { code } })

async function closeAll(server: WebSocketServer): Promise<void> {
  const closed = [...server.clients].map(
    (client) =>
      new Promise<void>((resolve) => {
        client.once('close', () => resolve())
        client.close(SERVICE_RESTART, 'Service restart')
        setTimeout(() => client.terminate(), CLOSE_WITHIN_MS).unref()
      }),
  )
  await Promise.all(closed)
  server.close()
}
