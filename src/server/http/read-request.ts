import type { IncomingMessage } from 'node:http'
import type { FailureCode } from '../../core/vocabulary.ts'
import { MAX_BODY } from '../../graphql/schema/limits.ts'
import { type NextTurn, NotUtf8, parseJson, textOf } from '../json/parse-json.ts'
import { JsonScanner, jsonProblem, PIECE, type TextProblem } from '../json/request-text.ts'
import type { LimitExceeded } from '../limits/accounts.ts'
import type { Meter, Reservation } from '../limits/callers.ts'
import type { RefusalReason } from '../limits/refusals.ts'
import { release } from '../limits/release.ts'

/** The body of a POST, or the parameters of a GET. */
export interface SentRequest {
  readonly ok: true
  readonly request: Readonly<Record<string, unknown>>
}
export type RefusedRequest =
  | {
      readonly ok: false
      readonly status: 400 | 413
      readonly code: FailureCode & RefusalReason
      readonly message: string
    }
  | { readonly ok: false; readonly status: 400; readonly code: 'BAD_REQUEST'; readonly message: string }
  | ({ readonly ok: false; readonly status: 429 } & LimitExceeded)

const TOO_LARGE = {
  ok: false,
  status: 413,
  code: 'TOO_LARGE',
  message: `A request has at most ${MAX_BODY} bytes.`,
} as const
const NOT_JSON = {
  ok: false,
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The body is not a JSON object.',
} as const
const NOT_UTF8 = {
  ok: false,
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The body is not UTF-8 text.',
} as const
/** The parameters of GraphQL over HTTP, and of its persisted documents. */
const PARAMS: readonly string[] = ['query', 'operationName', 'variables', 'extensions', 'documentId']
const unexpected = (param: string) =>
  ({
    ok: false,
    status: 400,
    code: 'BAD_REQUEST',
    message: `Unexpected parameter "${param}" in the request body.`,
  }) as const
const refused = (problem: TextProblem) => ({ ok: false, status: 400, ...problem }) as const

/** The limits and the caller of a read. */
export interface Reading {
  readonly maxValues: number
  readonly bytes: Reservation
  /** Counts bytes as they arrive, also those of a request that is refused. */
  readonly charge: Meter
  readonly turn: NextTurn
  /** Asks for the body, which a client may keep back until then. */
  proceed(): void
}

/** A request, judged while it arrives; null: its client has gone. */
export async function readRequest(
  request: IncomingMessage,
  reading: Reading,
): Promise<SentRequest | RefusedRequest | null> {
  const sent = request.method === 'POST' ? await readBody(request, reading) : readParams(request, reading.maxValues)
  return request.destroyed && !request.complete ? null : sent
}

async function readBody(request: IncomingMessage, reading: Reading): Promise<SentRequest | RefusedRequest> {
  if (lengthOf(request) > MAX_BODY) return TOO_LARGE
  reading.proceed()
  const scanner = new JsonScanner(reading.maxValues)
  const body = await collect(request, scanner, reading)
  if (!Buffer.isBuffer(body)) return body
  try {
    const json = body.length > PIECE ? await parseJson(body, scanner.large, reading.turn) : JSON.parse(textOf(body))
    if (!isObject(json)) return NOT_JSON
    const param = Object.keys(json).find((key) => !PARAMS.includes(key) && json[key] !== null)
    return param === undefined ? { ok: true, request: json } : unexpected(param)
  } catch (error) {
    if (error instanceof NotUtf8) return NOT_UTF8
    if (error instanceof SyntaxError) return NOT_JSON
    throw error
  } finally {
    release(body)
  }
}

/** As announced; 0: it is not. */
const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

async function collect(
  request: IncomingMessage,
  scanner: JsonScanner,
  { bytes, charge, turn }: Reading,
): Promise<Buffer | RefusedRequest> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // A request that was destroyed could not be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size > 0) await turn()
      size += chunk.length
      charge(chunk.length)
      if (size > MAX_BODY) return TOO_LARGE
      const excess = bytes.take(chunk.length)
      if (excess) return { ok: false, status: 429, ...excess }
      chunks.push(chunk)
      const problem = scanner.scan(chunk)
      if (problem) {
        chunks.forEach(release)
        // The rest still arrives, to be thrown away.
        charge(Math.max(0, lengthOf(request) - size))
        return refused(problem)
      }
    }
  } catch (error) {
    if (!request.destroyed) throw error
  }
  return await joined(chunks, size, turn)
}

/** Bytes that are copied at one go: a millisecond. */
const COPIED = 8 * PIECE

/** All of them in one; they are released. */
async function joined(chunks: readonly Buffer[], size: number, turn: NextTurn): Promise<Buffer> {
  if (chunks.length === 1) return chunks[0] as Buffer
  const whole = Buffer.allocUnsafe(size)
  let [copied, turnAt] = [0, COPIED]
  for (const chunk of chunks) {
    if (copied >= turnAt) {
      await turn()
      turnAt = copied + COPIED
    }
    copied += chunk.copy(whole, copied)
    release(chunk)
  }
  return whole
}

const TEXT_PARAMS = ['query', 'operationName', 'documentId'] as const
const JSON_PARAMS = ['variables', 'extensions'] as const

function readParams({ url = '' }: IncomingMessage, maxValues: number): SentRequest | RefusedRequest {
  const start = url.indexOf('?')
  const params = new URLSearchParams(start < 0 ? '' : url.slice(start + 1))
  const request: Record<string, unknown> = {}
  for (const name of TEXT_PARAMS) if (params.has(name)) request[name] = params.get(name)
  for (const name of JSON_PARAMS) {
    const json = params.get(name)
    if (!json) continue
    const problem = jsonProblem(json, maxValues)
    if (problem) return refused(problem)
    try {
      request[name] = JSON.parse(json)
    } catch {
      return { ok: false, status: 400, code: 'BAD_REQUEST', message: `The parameter ${name} is not JSON.` }
    }
  }
  return { ok: true, request }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
