import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import { DATABASE_RETRY_MS } from '../../core/database-unavailable.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import { authenticate } from '../auth/authenticate.ts'
import type { TokenParts } from '../auth/check-token.ts'
import { API_PATH, allowOf, EVENTS, GRAPHQL_RESPONSE, JSON_TYPE } from '../endpoints/endpoints.ts'
import { jsonPieces } from '../json/json-pieces.ts'
import type { NextTurn } from '../json/parse-json.ts'
import { PIECE } from '../json/request-text.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { Caller, Meter } from '../limits/callers.ts'
import type { Connections, EndReason } from '../limits/connections.ts'
import { type OperationParts, prepare } from '../operation/prepare.ts'
import { traceOf } from '../operation/trace-of.ts'
import { refuse, refuseForNow, reply, replyError, replyPieces } from '../replies/reply.ts'
import { requestIdIn } from '../replies/request-id.ts'
import { type Media, mediaOf } from './accepted-media.ts'
import { endEvents, leaveEvents, sendEvents } from './event-sink.ts'
import { isJson, NEEDS_JSON, type Refused, replyRefusal } from './json-body.ts'
import { type RefusedRequest, readRequest, type SentRequest } from './read-request.ts'
import { strangersTurn } from './strangers-turn.ts'

export interface HttpParts extends Bounds, OperationParts, TokenParts {
  readonly connections: Connections
}

/** `/graphql`: JSON by POST, and server-sent events by POST or GET for clients that accept them. */
export async function handleGraphQL(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
): Promise<void> {
  // Answers may hold secrets, such as a new token.
  response.setHeader('cache-control', 'no-store')
  const refused = judge(request)
  if (refused) {
    if (await strangersTurn(request, response, parts)) replyRefusal(response, refused)
    return
  }
  const origin = {
    ...{ address: parts.callers.addressOf(request), requestId: requestIdIn(response) },
    ...traceOf(request.headers),
  }
  // Authenticates before it reads the body.
  const authenticated = await authenticate(request, response, parts, origin)
  if (!authenticated) return
  const caller = parts.callers.as(authenticated.viewer, origin.address)
  const bytes = caller.reserve('requestBytes')
  // The kind of operation is only known once the request has arrived.
  const arriving = caller.reserve('openOperations')
  const excess = caller.request() ?? (request.complete ? null : arriving.take())
  if (excess) return refuseForNow(response, parts, excess)
  try {
    const turn = () => parts.turns.next(caller.principal)
    const charge = caller.meter()
    const proceed = () => {
      // Node answers any other expectation itself.
      if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
    }
    const sent = await readRequest(request, { maxValues: parts.limits.jsonValues, bytes, turn, charge, proceed })
    if (!sent) return
    if (!sent.ok) return refuseSent(sent, response, parts)
    await turn()
    arriving.end()
    await run(sent.request, { ...authenticated, request, response, caller, turn, charge }, parts)
  } finally {
    arriving.end()
    bytes.end()
  }
}

function refuseSent(sent: RefusedRequest, response: ServerResponse, parts: HttpParts): void {
  // Otherwise the rest of the body is thrown away, for the next request of the connection.
  if (sent.status !== 400) response.setHeader('connection', 'close')
  if (sent.status === 429) refuseForNow(response, parts, sent)
  else if (sent.code === 'BAD_REQUEST') replyError(response, sent.status, sent.code, sent.message)
  else refuse(response, parts.refusals, sent.status, sent.code, sent.message)
}

interface Asking {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly secret: string
  readonly viewer: Viewer
  readonly caller: Caller
  readonly turn: NextTurn
  readonly charge: Meter
}

/** One for all: an exception with its stack costs more than the rest of a close. */
const GONE = new Error('The client has closed the connection.')

/** Answers what has arrived, in a form that its client takes. */
async function run(sent: SentRequest['request'], asking: Asking, parts: HttpParts): Promise<void> {
  const { request, response, viewer, caller } = asking
  const gone = new AbortController()
  response.once('close', () => gone.abort(GONE))
  const prepared = prepare({ request: sent, viewer, charge: (more) => caller.charge(more), signal: gone.signal }, parts)
  const isStream = prepared.kind === 'stream'
  const media = mediaOf(request.headers.accept, isStream)
  if (!media) return replyRefusal(response, isStream ? NEEDS_EVENTS : NEEDS_KNOWN_MEDIA)
  if (prepared.kind === 'refused') return await send({ errors: prepared.errors }, { media, asking, parts })
  if (prepared.kind === 'answer' && prepared.operation === 'mutation' && request.method !== 'POST')
    return replyRefusal(response, NEEDS_POST)
  const held = caller.reserve(isStream ? 'openSubscriptions' : 'openOperations')
  const excess = held.take()
  if (excess) return refuseForNow(response, parts, excess)
  const closed = open(isStream, asking, parts)
  const bounds = { ...parts, account: () => caller.principal }
  try {
    if (prepared.kind === 'stream') await sendEvents(response, bounds, (sink) => prepared.stream(sink, ''))
    else if (media === EVENTS) await sendEvents(response, bounds, async () => (await prepared.answer()).result)
    else {
      const { result, characters } = await prepared.answer()
      await send(result, { media, asking, parts, characters })
    }
  } finally {
    closed()
    held.end()
  }
}

/** Call what is returned when the response has ended. */
function open(isStream: boolean, { response, secret, viewer }: Asking, { connections }: HttpParts): () => void {
  const end = (why: EndReason | 'CLOSING') => {
    if (why === 'CLOSING') return leaveEvents(response)
    if (why === 'REVOKED') endEvents(response)
    else response.destroy()
  }
  return connections.opened({ secret, viewer, isStream, end })
}

interface Sending {
  readonly media: Media
  readonly asking: Asking
  readonly parts: HttpParts
  /** Characters of its texts and its JSON. */
  readonly characters?: number
}

async function send(result: ExecutionResult, { media, asking, parts, characters = 0 }: Sending): Promise<void> {
  const { response, caller, turn, charge } = asking
  if (media === EVENTS)
    return await sendEvents(response, { ...parts, account: () => caller.principal }, async () => result)
  const status = statusOf(result, media)
  if (status === 503) response.setHeader('retry-after', DATABASE_RETRY_MS / 1_000)
  const type = `${media}; charset=utf-8`
  if (characters <= PIECE) return reply(response, status, type, JSON.stringify(result))
  // Made piece by piece.
  const pieces = await jsonPieces(result, turn)
  charge(pieces.length * PIECE)
  replyPieces(response, status, type, pieces)
}

/** Refusals of GraphQL itself. In `application/json` they are 200: so says GraphQL over HTTP. */
const OF_GRAPHQL: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'PERSISTED_QUERY_NOT_SUPPORTED',
] satisfies readonly FailureCode[]

/** Proxies and clients go by the status. */
function statusOf({ data, errors = [] }: ExecutionResult, media: Media): number {
  const has = (code: FailureCode) => errors.some(({ extensions }) => extensions.code === code)
  if (has('SERVICE_UNAVAILABLE')) return 503
  if (data !== undefined) return 200
  if (has('INTERNAL_SERVER_ERROR')) return 500
  return media === JSON_TYPE && errors.every(({ extensions }) => OF_GRAPHQL.includes(extensions.code)) ? 200 : 400
}

const NEEDS_POST: Refused = {
  status: 405,
  code: 'METHOD_NOT_ALLOWED',
  message: 'A mutation is sent by POST.',
  headers: { allow: 'POST' },
}
const NEEDS_EVENTS: Refused = {
  status: 406,
  code: 'NOT_ACCEPTABLE',
  message: `A subscription is answered with events: send accept: ${EVENTS}, or use a WebSocket.`,
}
const NEEDS_KNOWN_MEDIA: Refused = {
  status: 406,
  code: 'NOT_ACCEPTABLE',
  message: `An answer is ${GRAPHQL_RESPONSE}, ${JSON_TYPE} or ${EVENTS}: accept one of them.`,
}

function judge({ method, headers, url = '' }: IncomingMessage): Refused | null {
  if (method === 'GET' && (headers.accept?.includes(EVENTS) || NAMES_DOCUMENT.test(url))) return null
  if (method !== 'POST') {
    const message = `Use POST; GET is for streams of events, with accept: ${EVENTS}.`
    return { status: 405, code: 'METHOD_NOT_ALLOWED', message, headers: { allow: allowOf(API_PATH) } }
  }
  const [encoding, type] = [headers['content-encoding'], headers['content-type']]
  if (encoding !== undefined && !/^identity$/i.test(encoding)) return NEEDS_PLAIN_BODY
  return isJson(type ?? '') ? null : NEEDS_JSON
}

/** Clients with persisted queries ask by GET, so that caches may answer, and learn from the answer what to send by POST. */
const NAMES_DOCUMENT = /[?&](extensions|documentId)=/

const NEEDS_PLAIN_BODY: Refused = {
  status: 415,
  code: 'UNSUPPORTED_MEDIA_TYPE',
  message: 'The body must not be compressed: send it without content-encoding.',
  headers: { 'accept-encoding': 'identity' },
}
