import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Viewer } from '../../core/ports/viewer.ts'
import { databaseFailure } from '../../graphql/schema/failures.ts'
import { authenticate } from '../auth/authenticate.ts'
import type { Caller } from '../limits/callers.ts'
import { refuseForNow, replyError } from '../replies/reply.ts'
import { requestIdIn } from '../replies/request-id.ts'
import type { HttpParts } from './graphql-http.ts'

export interface Called {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly viewer: Viewer
  readonly caller: Caller
}
interface Held {
  /** True for an answer that waits for something to happen: a shutdown ends its wait. */
  readonly isStream: boolean
  /** Called when the server shuts down, or the token does not count any more. */
  end(isRevoked: boolean): void
}

/** Answers a request beside GraphQL, for a caller who has a token, and within the shares of that caller. */
export async function asCaller(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
  answer: (called: Called) => Promise<void>,
  { isStream, end }: Held = { isStream: false, end: () => response.destroy() },
): Promise<void> {
  const origin = { address: parts.callers.addressOf(request), requestId: requestIdIn(response) }
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return
  const { secret, viewer } = authenticated
  const caller = parts.callers.as(viewer, origin.address)
  const held = caller.reserve(isStream ? 'openSubscriptions' : 'openOperations')
  const excess = caller.request() ?? held.take()
  if (excess) return refuseForNow(response, parts, excess)
  const closed = parts.connections.opened({ secret, viewer, isStream, end: (reason) => end(reason !== 'CLOSING') })
  try {
    await answer({ request, response, viewer, caller })
  } catch (error) {
    const unavailable = databaseFailure(error)
    if (request.destroyed && !request.complete) return
    if (!unavailable || response.headersSent) throw error
    parts.refusals.count('SERVICE_UNAVAILABLE')
    response.setHeader('connection', 'close')
    const { code: _, ...extensions } = unavailable.extensions
    replyError(response, 503, 'SERVICE_UNAVAILABLE', unavailable.message, extensions)
  } finally {
    closed()
    held.end()
  }
}
