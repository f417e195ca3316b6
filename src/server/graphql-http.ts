import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Viewer } from '../core/ports/viewer.ts'
import type { FailureCode } from '../core/vocabulary.ts'
import { authenticate } from './authenticate.ts'
import type { Bounds } from './bounds.ts'
import { BYTES_OF_A_REFUSAL, type Meter } from './callers.ts'
import type { TokenParts } from './check-token.ts'
import type { Connections, EndReason } from './connections.ts'
import { withDocument } from './named-document.ts'
import type { NextTurn } from './parse-json.ts'
import { acceptsJson, answerPlain, plainOf } from './plain-operation.ts'
import { answerSubscription, type SubscriptionParts } from './plain-subscription.ts'
import { type RefusedRequest, readRequest, type SentRequest } from './read-request.ts'
import { refuse, refuseForNow, replyError } from './reply.ts'
import { requestIdIn } from './request-id.ts'
import { endEvents, leaveEvents } from './streams/event-sink.ts'
import { traceOf } from './trace-of.ts'
import type { TrustedDocuments } from './trusted-documents.ts'
import { watchReader } from './watch-reader.ts'

export interface HttpParts extends SubscriptionParts, TokenParts {
  readonly connections: Connections
  readonly trusted: TrustedDocuments
}

/** `/graphql`: JSON by POST, and server-sent events by POST or GET for clients that accept them. */
export async function handleGraphQL(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
): Promise<void> {
  // Answers may hold secrets, such as a new token.
  response.setHeader('cache-control', 'no-store')
  const streams = request.headers.accept?.includes('text/event-stream') ?? false
  const refused = judge(request, streams)
  if (refused) {
    if (refused.allow) response.setHeader('allow', refused.allow)
    return replyError(response, refused.status, refused.code, refused.message)
  }
  const origin = {
    ...{ address: parts.callers.addressOf(request), requestId: requestIdIn(response) },
    ...traceOf(request.headers),
  }
  const address = parts.callers.at(origin.address)
  const early = address.request()
  if (early) return refuseForNow(response, parts, early)
  // Authenticates before it reads the body.
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return
  const { secret, viewer } = authenticated
  const caller = parts.callers.as(viewer, address)
  const operation = caller.hold(streams ? 'openSubscriptions' : 'openOperations')
  const bytes = caller.hold('requestBytes')
  const excess = caller.principal.request() ?? operation.take()
  if (excess) return refuseForNow(response, parts, excess)
  try {
    const turn = () => parts.turns.next(caller.principal)
    const maxValues = parts.limits.jsonValues
    const sent = await readRequest(request, { maxValues, bytes, turn, charge: caller.meter() })
    if (!sent) return
    const whole = sent.ok ? withDocument(sent, parts.trusted) : sent
    if (!whole.ok) return refuseSent(whole, response, parts)
    await turn()
    await answer(whole, { request, response, secret, viewer, streams, turn, charge: caller.meter() }, parts)
  } finally {
    operation.end()
    bytes.end()
  }
}

function refuseSent(sent: RefusedRequest, response: ServerResponse, parts: HttpParts): void {
  // The rest of the body is not read, or is thrown away, for the next request of the connection.
  if (sent.status === 400) response.req.resume()
  else response.setHeader('connection', 'close')
  if (sent.status === 429) refuseForNow(response, parts, sent)
  else if (sent.code === 'BAD_REQUEST') replyError(response, sent.status, sent.code, sent.message)
  else refuse(response, parts.refusals, sent.status, sent.code, sent.message)
}

interface Asking {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly secret: string
  readonly viewer: Viewer
  /** The client accepts events. */
  readonly streams: boolean
  readonly turn: NextTurn
  readonly charge: Meter
}

async function answer({ request: sent }: SentRequest, asking: Asking, parts: HttpParts): Promise<void> {
  const { request, response, secret, viewer, streams, turn, charge } = asking
  const end = (why: EndReason | 'CLOSING') => {
    if (why === 'CLOSING') return leaveEvents(response)
    if (why === 'REVOKED') endEvents(response)
    else response.destroy()
  }
  const answered = parts.connections.opened({ secret, viewer, isStream: streams, end })
  try {
    const { accept } = request.headers
    const plain = streams || acceptsJson(accept) ? plainOf(sent) : null
    if (plain && streams && (await answerSubscription(plain, viewer, response, parts))) return
    if (plain && !streams) {
      if (await answerPlain(plain, viewer, { yoga: parts.yoga, accept, response, turn, charge })) return
      charge(BYTES_OF_A_REFUSAL)
    }
    await send(await ask(request, sent, viewer, parts), response, parts)
  } finally {
    answered()
  }
}

interface Refused {
  readonly status: number
  readonly code: FailureCode
  readonly message: string
  readonly allow?: string
}

function judge({ method, headers }: IncomingMessage, streams: boolean): Refused | null {
  if (method === 'GET' && streams) return null
  if (method !== 'POST') {
    const message = 'Use POST; GET is for streams of events, with accept: text/event-stream.'
    return { status: 405, code: 'METHOD_NOT_ALLOWED', message, allow: 'GET, POST' }
  }
  // Other types can be sent by any page's form.
  if (/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) return null
  return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The content type must be application/json.' }
}

/** Headers that yoga needs. */
const PASSED = ['accept', 'content-type'] as const

async function ask(
  request: IncomingMessage,
  sent: SentRequest['request'],
  viewer: Viewer,
  { yoga }: HttpParts,
): Promise<Response> {
  const headers = PASSED.flatMap((name): [string, string][] => {
    const value = request.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  // Only the path counts, and Yoga wants a whole URL.
  return await yoga.fetch('http://localhost/graphql', { method: request.method ?? 'POST', headers }, { viewer, sent })
}

async function send(answer: Response, response: ServerResponse, bounds: Bounds): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'cache-control': 'no-store' })
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  if (isStream && answer.body) await stream(answer.body as AsyncIterable<Uint8Array>, response, bounds)
  else response.end(Buffer.from(await answer.arrayBuffer()))
}

async function stream(body: AsyncIterable<Uint8Array>, response: ServerResponse, bounds: Bounds): Promise<void> {
  const { written } = watchReader(response, bounds)
  const counted = async function* () {
    for await (const chunk of body) {
      yield chunk
      written()
    }
  }
  try {
    await pipeline(counted, response)
  } catch (error) {
    // The client has gone: the pipeline has ended the source.
    if (!response.destroyed) throw error
  }
}
