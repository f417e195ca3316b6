import { GraphQLError } from 'graphql'
import { makeServer, type Server } from 'graphql-ws'
import { NO_TARGET, SESSION_OPENED } from '../../core/audit.ts'
import { CredentialsUnavailable } from '../../core/credentials-unavailable.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { callerOf } from '../../graphql/audit/caller-of.ts'
import type { Tokens } from '../../graphql/auth/tokens.ts'
import { databaseFailure, failure } from '../../graphql/schema/failures.ts'
import { checkToken, type TokenParts } from '../auth/check-token.ts'
import { TOKEN_MISSING, TOKEN_WRONG } from '../auth/credentials.ts'
import type { LimitExceeded } from '../limits/accounts.ts'
import { type OperationParts, prepare } from '../operation/prepare.ts'
import { traceOf } from '../operation/trace-of.ts'
import type { Subscribe } from '../streams/subscribe.ts'
import type { SocketSession } from './socket-session.ts'

/** Operations at a time on one socket. */
const MAX_OPERATIONS = 1_000

export interface ProtocolParts extends TokenParts, OperationParts {}

/** A prepared operation, passed along with what graphql-ws knows of it. */
interface RunnableOperation {
  readonly run: () => ReturnType<Subscribe>
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
      const secret = session.secretIn(connectionParams)
      try {
        const viewer = secret === null ? null : await checkToken(parts, secret, session.origin)
        if (secret !== null && viewer !== null) return accept(parts, session, secret, viewer)
      } catch (error) {
        session.unavailable(error)
        return false
      }
      session.unauthenticated(secret)
      return false
    },
    execute: (args) => (args as unknown as RunnableOperation).run(),
    subscribe: (args) => (args as unknown as RunnableOperation).run(),
    async onSubscribe({ extra: session, subscriptions }, id, payload) {
      // Read before anything is awaited.
      const { message, secret, sink } = session
      if (message.excess) return [refusalOf(message.excess)]
      if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
        refusals.count('TOO_MANY', 'socket')
        return [failure('TOO_MANY', `At most ${MAX_OPERATIONS} operations at a time on one socket.`)]
      }
      const found = await viewerOf(secret, tokens)
      if (found instanceof GraphQLError) return [found]
      const viewer = { ...found, origin: { ...session.origin, ...session.trace, ...traceOf(payload.extensions) } }
      const prepared = prepare({ request: payload, viewer, charge: (more) => message.charge(more) }, parts)
      if (prepared.kind === 'refused') return prepared.errors
      const excess = message.open(prepared.kind === 'stream' ? 'openSubscriptions' : 'openOperations')
      if (excess) {
        refusals.count(excess.code, excess.share)
        return [refusalOf(excess)]
      }
      const { document, operationName } = prepared
      const known = { schema, document, operationName, contextValue: null }
      if (prepared.kind === 'stream') return { ...known, run: () => prepared.stream(sink, id) }
      session.begun(id)
      return { ...known, run: async () => (await prepared.answer()).result }
    },
    onComplete: ({ extra: session }, id) => session.ended(id),
    onError: ({ extra: session }, id) => session.ended(id),
  })
}

/** The payload of connection_ack, or false. */
function accept(parts: ProtocolParts, session: SocketSession, secret: string, viewer: Viewer) {
  const accepted = session.accept(secret, viewer)
  if (accepted === false) return false
  parts.audit.noteThrottled({
    ...{ ...callerOf(viewer), ...NO_TARGET, operation: SESSION_OPENED },
    ...{ outcome: 'DONE', code: null, fields: [], count: 1 },
  })
  return accepted
}

const refusalOf = ({ code, message, retryAfterMs }: LimitExceeded): GraphQLError =>
  failure(code, message, { retryAfterMs })

/** The caller, or why there is none. */
async function viewerOf(secret: string | null, tokens: Tokens): Promise<Viewer | GraphQLError> {
  try {
    const viewer = secret === null ? null : await tokens.authenticate(secret)
    return viewer ?? failure('UNAUTHENTICATED', secret === null ? TOKEN_MISSING : TOKEN_WRONG)
  } catch (error) {
    const unavailable = databaseFailure(error)
    if (unavailable) return unavailable
    if (error instanceof CredentialsUnavailable) return failure('SERVICE_UNAVAILABLE', error.message)
    throw error
  }
}
