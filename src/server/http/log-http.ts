import type { IncomingMessage, ServerResponse } from 'node:http'
import { coerceInputValue, type GraphQLInputObjectType, getNullableType, isListType, validateInputValue } from 'graphql'
import { CursorExpired, type Log, type LogCursor, type ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import type { PhaseChangeFilterInput } from '../../graphql/log/phase-change.ts'
import { followable } from '../../graphql/log/phase-subscriptions.ts'
import { logCursor } from '../../graphql/schema/cursors.ts'
import { cursorExpired } from '../../graphql/schema/failures.ts'
import { cursorAt, encodeCursor } from '../../log/cursor.ts'
import { lineOf } from '../../log/line.ts'
import { allowOf, LOG_BOUNDS, LOG_PATH, NDJSON } from '../endpoints/endpoints.ts'
import type { NextTurn } from '../json/parse-json.ts'
import { PIECE } from '../json/request-text.ts'
import { replyError, replyPieces } from '../replies/reply.ts'
import { asCaller, type Called } from './as-caller.ts'
import type { HttpParts } from './graphql-http.ts'
import { strangersTurn } from './strangers-turn.ts'

/**
 * `GET /log`: pages of the log for programs without GraphQL, one JSON object in each line. A full page never changes, so that it may be
 * kept; the last one can be read again, or waits for the next change.
 */

export interface LogHttpParts extends HttpParts {
  readonly log: Log
}
type Parts = LogHttpParts

const { limit: LIMIT, wait: MAX_WAIT_S, characters: MAX_CHARACTERS } = LOG_BOUNDS
/** Milliseconds of a search that finds little. The answer says where it has stopped. */
const SEARCH_MS = 2_000

export async function handleLog(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const { method, url = '' } = request
  const asked = method === 'GET' ? askedIn(new URL(url, 'http://here').searchParams, parts) : NOT_GET
  if ('status' in asked) {
    if (!(await strangersTurn(request, response, parts))) return
    if (asked === NOT_GET) response.setHeader('allow', allowOf(LOG_PATH))
    return replyError(response, asked.status, asked.code, asked.message)
  }
  const ended = new AbortController()
  response.once('close', () => ended.abort())
  const end = (isRevoked: boolean) => (isRevoked ? response.destroy() : ended.abort())
  const isStream = asked.waitMs > 0
  await asCaller(request, response, parts, (called) => answer(called, asked, parts, ended.signal), { isStream, end })
}

interface Asked {
  readonly filter: PhaseChangeFilterInput
  /** It begins after a cursor, before all that is kept, or at the end of the log. */
  readonly after: LogCursor | 'floor' | 'head'
  readonly limit: number
  /** Milliseconds to wait for the first change; 0: none. */
  readonly waitMs: number
}
interface RefusedPage {
  readonly status: 400 | 405
  readonly code: 'BAD_USER_INPUT' | 'METHOD_NOT_ALLOWED'
  readonly message: string
}
const NOT_GET: RefusedPage = { status: 405, code: 'METHOD_NOT_ALLOWED', message: 'The log is read by GET.' }
const wrong = (message: string): RefusedPage => ({ status: 400, code: 'BAD_USER_INPUT', message })

/** The parameters are the fields of `PhaseChangeFilter`, with commas between several values, and three more. */
function askedIn(parameters: URLSearchParams, { schema }: Parts): Asked | RefusedPage {
  const type = schema.getType('PhaseChangeFilter') as GraphQLInputObjectType
  const fields = type.getFields()
  const filter: Record<string, unknown> = {}
  const own = new Map<string, string>()
  for (const [name, text] of parameters) {
    if (text.length > MAX_CHARACTERS) return wrong(`${name.slice(0, 40)}: has more than ${MAX_CHARACTERS} characters.`)
    if (own.has(name) || Object.hasOwn(filter, name))
      return wrong(`${name}: is there twice. Several values have commas between them.`)
    if (OWN.includes(name)) own.set(name, text)
    else if (Object.hasOwn(fields, name))
      filter[name] = readValue(text, isListType(getNullableType(fields[name]?.type)))
    else {
      const known = [...OWN, ...Object.keys(fields)].join(', ')
      return wrong(`There is no parameter ${name.slice(0, 40)}. There are: ${known}.`)
    }
  }
  const problems: string[] = []
  validateInputValue(filter, type, ({ message }, path) => problems.push(`${path.join('.')}: ${message}`))
  const limit = wholeNumber(own.get('limit') ?? String(LIMIT.unlessSaid), 1, LIMIT.most)
  const wait = wholeNumber(own.get('wait') ?? '0', 0, MAX_WAIT_S)
  const after = placeOf(own.get('after'))
  if (limit === null) problems.push(`limit: must be a whole number from 1 to ${LIMIT.most}.`)
  if (wait === null) problems.push(`wait: must be whole seconds from 0 to ${MAX_WAIT_S}.`)
  if (after === undefined) problems.push('after: must be a cursor or a sequence of the log, or `head`.')
  if (limit === null || wait === null || after === undefined || problems.length > 0) return wrong(problems.join(' '))
  return {
    filter: coerceInputValue(filter, type) as PhaseChangeFilterInput,
    ...{ after, limit, waitMs: wait * 1_000 },
  }
}
const OWN: readonly string[] = ['after', 'limit', 'wait']

function readValue(text: string, isList: boolean): unknown {
  if (isList) return text.split(',')
  return text === 'true' || text === 'false' ? text === 'true' : text
}
export function wholeNumber(text: string, least: number, most: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : null
}
function placeOf(text: string | undefined): Asked['after'] | undefined {
  if (text === undefined) return 'floor'
  return text === 'head' ? 'head' : logCursor.decode(text)
}

async function answer(called: Called, asked: Asked, { log, turns }: Parts, ended: AbortSignal) {
  const { request, response, viewer, caller } = called
  const refusal = requireRight(viewer, RIGHTS.readLog)
  if (refusal) return replyError(response, 403, 'FORBIDDEN', refusal.message)
  await log.caughtUp()
  const { filter, after, limit, waitMs } = asked
  try {
    const from = typeof after === 'string' ? await log.end(after) : after
    const query = followable({ viewer }, filter)
    const page = await readPage(log, { query, from, limit, waitMs, ended })
    if (response.destroyed) return
    const next = new URL(request.url ?? '', 'http://here')
    next.searchParams.set('after', encodeCursor(page.through))
    response.setHeader('link', `<${next.pathname}${next.search}>; rel="next"`)
    const last = page.changes.at(-1)
    const etag = `"${encodeCursor(last ? cursorAt(last) : from)}"`
    // Another caller may read other changes.
    response.setHeader('vary', 'authorization, cookie')
    response.setHeader('etag', etag)
    const isKept = page.changes.length === limit && after !== 'head'
    response.setHeader('cache-control', isKept ? 'private, max-age=31536000, immutable' : 'private, no-cache')
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    const pieces = await linesOf(page.changes, () => turns.next(caller.principal))
    caller.meter()(pieces.length * PIECE)
    replyPieces(response, 200, `${NDJSON}; charset=utf-8`, pieces)
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    const { message, extensions } = await cursorExpired(error, log)
    const { code, ...more } = extensions
    replyError(response, 410, 'CURSOR_EXPIRED', message, more)
  }
}

async function linesOf(changes: readonly PhaseChangeRecord[], turn: NextTurn): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let text = ''
  for (const [i, change] of changes.entries()) {
    text += `${JSON.stringify(lineOf(change))}\n`
    if (text.length < PIECE && i < changes.length - 1) continue
    pieces.push(Buffer.from(text))
    text = ''
    await turn()
  }
  return pieces
}

interface Reading {
  readonly query: PhaseChangeQuery
  readonly from: LogCursor
  readonly limit: number
  readonly waitMs: number
  readonly ended: AbortSignal
}

async function readPage(log: Log, { query, from, limit, waitMs, ended }: Reading) {
  const changes: PhaseChangeRecord[] = []
  let through: ResolvedCursor = await log.resolve(from)
  const until = performance.now() + waitMs
  for (;;) {
    const news = Promise.withResolvers<void>()
    // It listens before it reads, so that nothing is missed between.
    const listener = { offer: () => news.resolve(), lost: () => news.resolve(), tick: () => {} }
    const stop = waitMs > 0 ? log.listen(query, listener) : null
    try {
      const searched = performance.now() + SEARCH_MS
      for (let batch = await log.next(query, through, limit); batch; ) {
        changes.push(...batch.changes)
        through = batch.through
        if (changes.length >= limit || performance.now() > searched) return { changes, through }
        batch = await log.next(query, through, limit - changes.length)
      }
      const leftMs = until - performance.now()
      if (changes.length > 0 || leftMs <= 0 || ended.aborted) return { changes, through }
      await within(news.promise, leftMs, ended)
    } finally {
      stop?.()
    }
  }
}

async function within(news: Promise<void>, ms: number, ended: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  ended.addEventListener('abort', () => over.resolve())
  await Promise.race([news, over.promise])
  clearTimeout(timer)
}
