import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { withoutHalfCharacter } from '../core/portable.ts'
import type { Addresses } from './addresses.ts'

/** A receiver that has not answered by then is tried again later, in milliseconds. */
const TIMEOUT_MS = 10_000
/** How long a connection is kept for the next request, in milliseconds. */
const KEPT_MS = 15_000

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The part of the answer that is read, in bytes. */
  readonly maxAnswer: number
}
export interface OutgoingAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly retryAfterMs: number | null
  readonly text: string
  /** The text is only its beginning: it is longer, or the rest has not come in time. */
  readonly isCut: boolean
}

/** Sends requests to addresses of users, over connections that are kept for the next one. Redirects are answers like others. */
export class OutgoingHttp implements Disposable {
  readonly #addresses: Addresses
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor(addresses: Addresses) {
    this.#addresses = addresses
    const kept = { keepAlive: true, maxFreeSockets: 8, timeout: KEPT_MS }
    this.#http = new HttpAgent(kept)
    this.#https = new HttpsAgent(kept)
  }

  async send(url: URL, { method, headers, body, maxAnswer }: OutgoingRequest): Promise<OutgoingAnswer> {
    this.#addresses.requireAllowed(url.hostname)
    const isHttps = url.protocol === 'https:'
    const send = isHttps ? requestHttps : requestHttp
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
        agent: isHttps ? this.#https : this.#http,
        lookup: this.#addresses.lookup,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      request.on('response', resolve)
      request.on('error', reject)
      request.end(body)
    })
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      retryAfterMs: retryAfter(response.headers['retry-after']),
      ...(await beginningOf(response, maxAnswer)),
    }
  }

  [Symbol.dispose](): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

/** A longer answer is cut off with its connection. */
async function beginningOf(response: IncomingMessage, max: number): Promise<Pick<OutgoingAnswer, 'text' | 'isCut'>> {
  const parts: Buffer[] = []
  let length = 0
  let isCut = false
  try {
    for await (const part of response) {
      parts.push(part as Buffer)
      length += (part as Buffer).length
      isCut = length > max
      if (isCut) break
    }
  } catch {
    // The status has come, and says enough.
    isCut = true
  }
  const bytes = Buffer.concat(parts).subarray(0, max)
  return { text: new TextDecoder().decode(isCut ? withoutHalfCharacter(bytes) : bytes), isCut }
}

/** Seconds, or a date; null: neither. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : null
}

/** Errors of connections name the address, and nothing of what is sent. */
export function connectionProblem(error: unknown, who: string): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return `${who} has not answered within 10 s.`
  return error.message || (error as { code?: string }).code || error.name
}
