import type { ServerResponse } from 'node:http'
import type { FailureCode } from '../../core/vocabulary.ts'
import type { LimitExceeded } from '../limits/accounts.ts'
import type { LateRefusals } from '../limits/late-refusals.ts'
import type { RefusalReason, Refusals } from '../limits/refusals.ts'

export interface RefusalParts {
  readonly refusals: Refusals
  readonly lateRefusals: LateRefusals
}

/** Plain responses, and the headers of every response. */

export function protect(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

/** Characters from which on a body is sent as bytes, so that they alone wait for a slow client, and not the text, too. */
const LARGE = 64 * 1024

/** With a content length: a chunked response would make the reader wait for its last chunk. */
export function reply(response: ServerResponse, status: number, type: string, body: string): void {
  const sent = body.length > LARGE ? Buffer.from(body) : body
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(sent) }).end(sent)
}

/** A long body that was made in pieces. */
export function replyPieces(response: ServerResponse, status: number, type: string, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.writeHead(status, { 'content-type': type, 'content-length': length })
  for (const piece of pieces) response.write(piece)
  response.end()
}

export function replyText(response: ServerResponse, status: number, text: string): void {
  reply(response, status, 'text/plain; charset=utf-8', `${text}\n`)
}

/** An error as GraphQL clients expect it. */
export function replyError(
  response: ServerResponse,
  status: number,
  code: FailureCode,
  message: string,
  more: object = {},
): void {
  const body = JSON.stringify({ errors: [{ message, extensions: { code, ...more } }] })
  reply(response, status, 'application/json; charset=utf-8', body)
}

/** The same, counted. */
export function refuse(
  response: ServerResponse,
  refusals: Refusals,
  status: number,
  code: FailureCode & RefusalReason,
  message: string,
): void {
  refusals.count(code)
  replyError(response, status, code, message)
}

/** Refuses a request that the client may repeat later. */
export function refuseForNow(
  response: ServerResponse,
  { refusals, lateRefusals }: RefusalParts,
  { share, code, message, retryAfterMs }: LimitExceeded,
): void {
  refusals.count(code, share)
  response.setHeader('retry-after', Math.ceil(retryAfterMs / 1_000))
  lateRefusals.delay(response, () => replyError(response, 429, code, message, { retryAfterMs }))
}
