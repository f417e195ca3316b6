import type { IncomingMessage } from 'node:http'
import type { GatewayLimits } from '../core/gateway-limits.ts'
import type { FailureCode } from '../core/vocabulary.ts'
import { MAX_BODY } from '../graphql/schema/limits.ts'
import type { Excess } from './accounts.ts'
import type { Hold } from './callers.ts'
import type { RefusalReason } from './refusals.ts'
import { jsonProblem, type TextProblem } from './request-text.ts'

/** `body` of a POST; a GET has parameters instead. */
export interface SentRequest {
  readonly ok: true
  readonly body: string | null
  readonly params: URLSearchParams
}
export type RefusedRequest =
  | {
      readonly ok: false
      readonly status: 400 | 413
      readonly code: FailureCode & RefusalReason
      readonly message: string
    }
  | ({ readonly ok: false; readonly status: 429 } & Excess)

const TOO_LARGE = {
  ok: false,
  status: 413,
  code: 'TOO_LARGE',
  message: `A request has at most ${MAX_BODY} bytes.`,
} as const

/** The text of a request, judged but not parsed; null: its client has gone. */
export async function readRequest(
  request: IncomingMessage,
  { jsonValues }: GatewayLimits,
  bytes: Hold,
): Promise<SentRequest | RefusedRequest | null> {
  const params = paramsOf(request)
  const body = request.method === 'POST' ? await readBody(request, bytes) : null
  if (request.destroyed && !request.complete) return null
  if (typeof body === 'object' && body !== null) return body
  const problem = body === null ? paramProblem(params, jsonValues) : jsonProblem(body, jsonValues)
  return problem ? { ok: false, status: 400, ...problem } : { ok: true, body, params }
}

function paramProblem(params: URLSearchParams, maxValues: number): TextProblem | null {
  for (const name of ['variables', 'extensions']) {
    const json = params.get(name)
    const problem = json ? (jsonProblem(json, maxValues) ?? syntaxProblem(name, json)) : null
    if (problem) return problem
  }
  return null
}

function syntaxProblem(name: string, json: string): TextProblem | null {
  try {
    JSON.parse(json)
    return null
  } catch {
    return { code: 'BAD_USER_INPUT', message: `The parameter ${name} is not JSON.` }
  }
}

function paramsOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1))
}

async function readBody(request: IncomingMessage, bytes: Hold): Promise<string | RefusedRequest> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) return TOO_LARGE
  const chunks: Buffer[] = []
  let size = 0
  try {
    // A request that was destroyed could not be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_BODY) return TOO_LARGE
      const excess = bytes.take(chunk.length)
      if (excess) return { ok: false, status: 429, ...excess }
      chunks.push(chunk)
    }
  } catch (error) {
    if (!request.destroyed) throw error
  }
  return Buffer.concat(chunks).toString()
}
