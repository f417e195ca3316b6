import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql'
import { makeServer, type Server } from 'graphql-ws'
import { NO_TARGET, SESSION_OPENED } from '../core/audit.ts'
import { CredentialsUnavailable } from '../core/credentials-unavailable.ts'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { callerOf } from '../graphql/audit/caller-of.ts'
import type { Tokens } from '../graphql/auth/tokens.ts'
import { databaseFailure, failure } from '../graphql/schema/failures.ts'
import type { Excess } from './accounts.ts'
import { checkToken, isExcess, type TokenParts } from './check-token.ts'
import { bearerOf, TOKEN_MISSING, TOKEN_WRONG } from './credentials.ts'
import type { Refusals } from './refusals.ts'
import type { SocketSession } from './socket-session.ts'
import type { ClientSink } from './streams/client-sink.ts'
import type { Subscribe } from './streams/subscribe.ts'
import { traceOf } from './trace-of.ts'
import type { TrustedDocuments } from './trusted-documents.ts'
import type { Yoga } from './yoga.ts'

/** Operations at a time on one socket. */
const MAX_OPERATIONS = 1_000

export interface ProtocolParts extends TokenParts {
  readonly schema: GraphQLSchema
  readonly yoga: Yoga
  readonly subscribe: Subscribe
  readonly refusals: Refusals
  readonly trusted: TrustedDocuments
}

type Enveloped = ReturnType<Yoga['getEnveloped']>
/** The functions that execute an operation, passed along with its arguments. */
interface Operation {
  readonly execute: Enveloped['execute']
  readonly subscribe: () => ReturnType<Subscribe>
}

/** graphql-transport-ws, for subscriptions and everything else. */
export function createProtocol(parts: ProtocolParts): Server<SocketSession> {
  const { tokens, schema, refusals } = parts
  return makeServer<Record<string, unknown>, SocketSession>({
    schema,
    // The session limits the time itself.
    connectionInitWaitTimeout: 0,
    // False closes the socket as forbidden.
    async onConnect({ connectionParams, extra: session }) {
      session.initialised()
      session.trace = traceOf(connectionParams)
      const secret = bearerOf(connectionParams?.authorization ?? connectionParams?.Authorization)
      try {
        const viewer = secret === null ? null : await checkToken(parts, secret, session.origin)
        if (secret !== null && viewer !== null) {
          if (!isExcess(viewer)) return accept(parts, session, secret, viewer)
          session.delayed()
          return false
        }
      } catch (error) {
        session.unavailable(error)
        return false
      }
      refusals.count('UNAUTHENTICATED')
      return false
    },
    execute: (args) => (args as unknown as Operation).execute(args),
    subscribe: (args) => (args as unknown as Operation).subscribe(),
    async onSubscribe({ extra: session, subscriptions }, id, payload) {
      // Read before anything is awaited.
      const { message, secret, sink } = session
      const early = message.request()
      if (early) {
        session.slowDown()
        return [refusedForNow(early, refusals)]
      }
      if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
        refusals.count('TOO_MANY')
        return [failure('TOO_MANY', `At most ${MAX_OPERATIONS} operations at a time on one socket.`)]
      }
      await session.turn()
      const found = await viewerOf(secret, tokens)
      if (found instanceof GraphQLError) return [found]
      const viewer = { ...found, origin: { ...session.origin, ...session.trace, ...traceOf(payload.extensions) } }
      const prepared = await prepare({ ...payload, id, viewer, sink }, parts)
      if (Array.isArray(prepared)) return prepared
      const excess = message.open('subscribe' in prepared ? 'openSubscriptions' : 'openOperations')
      if (excess) return [refusedForNow(excess, refusals)]
      if (!('subscribe' in prepared)) session.begun(id)
      return prepared
    },
    onComplete: ({ extra: session }, id) => session.ended(id),
    onError({ extra: session }, id, _, errors) {
      session.ended(id)
      return errors.map(withoutStatus)
    },
  })
}

/** The payload of connection_ack, or false. */
function accept(parts: ProtocolParts, session: SocketSession, secret: string, viewer: Viewer) {
  const accepted = session.accept(secret, viewer)
  if (accepted === false) return false
  parts.audit.noteSeldom({
    ...{ ...callerOf(viewer), ...NO_TARGET, operation: SESSION_OPENED },
    ...{ outcome: 'DONE', code: null, fields: [], count: 1 },
  })
  return accepted
}

function refusedForNow({ code, message, retryAfterMs }: Excess, refusals: Refusals): GraphQLError {
  refusals.count(code)
  return failure(code, message, { retryAfterMs })
}

/** The caller, or why there is none. */
async function viewerOf(secret: string | null, tokens: Tokens): Promise<Viewer | GraphQLError> {
  try {
    const viewer = secret === null ? null : await tokens.authenticate(secret)
    return viewer ?? failure('UNAUTHENTICATED', secret === null ? TOKEN_MISSING : TOKEN_WRONG)
  } catch (error) {
    if (isDatabaseUnavailable(error)) return databaseFailure()
    if (error instanceof CredentialsUnavailable) return failure('SERVICE_UNAVAILABLE', error.message)
    throw error
  }
}

/** The status of an answer over HTTP means nothing here. */
function withoutStatus(error: GraphQLError): GraphQLFormattedError {
  const { http: _, ...extensions } = error.extensions
  return { ...error.toJSON(), extensions }
}

interface Request {
  readonly id: string
  readonly viewer: Viewer
  readonly sink: ClientSink
  readonly query: string
  readonly documentId?: unknown
  readonly extensions?: unknown
  readonly operationName?: string | null | undefined
  readonly variables?: Record<string, unknown> | null | undefined
}

/** Parses and validates; returns the arguments for graphql-ws, or the errors. */
async function prepare(request: Request, { yoga, schema, subscribe, trusted }: ProtocolParts) {
  const { viewer, variables, operationName } = request
  const { parse, validate, contextFactory, execute } = yoga.getEnveloped({ viewer })
  try {
    const query = trusted.textOf(request) ?? request.query
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
