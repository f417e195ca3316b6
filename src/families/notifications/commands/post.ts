import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { withoutHalfCharacter } from '../../../core/portable.ts'
import type { Addresses } from '../../addresses.ts'

/** A receiver that has not answered by then is tried again later, in milliseconds. */
const TIMEOUT_MS = 10_000
/** How long a connection is kept for the next message, in milliseconds. */
const KEPT_MS = 15_000
/** The part of an answer that is read, in bytes. */
const MAX_ANSWER = 1_024

export interface Posted {
  readonly status: number
  readonly retryAfterMs: number | null
  /** The beginning of the answer, for people. */
  readonly answer: string
}

/** Posts to receivers over connections that are kept for the next message. Redirects are answers like others. */
export class Poster implements Disposable {
  readonly #addresses: Addresses
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor(addresses: Addresses) {
    this.#addresses = addresses
    const kept = { keepAlive: true, maxFreeSockets: 8, timeout: KEPT_MS }
    this.#http = new HttpAgent(kept)
    this.#https = new HttpsAgent(kept)
  }

  async post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<Posted> {
    this.#addresses.requireAllowed(url.hostname)
    const isHttps = url.protocol === 'https:'
    const send = isHttps ? requestHttps : requestHttp
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
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
      retryAfterMs: retryAfter(response.headers['retry-after']),
      answer: await beginningOf(response),
    }
  }

  [Symbol.dispose](): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

/** A longer answer is cut off with its connection. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of response) {
      parts.push(part as Buffer)
      length += (part as Buffer).length
      if (length > MAX_ANSWER) break
    }
  } catch {
    // The status has come, and says enough.
  }
  return new TextDecoder().decode(withoutHalfCharacter(Buffer.concat(parts).subarray(0, MAX_ANSWER))).trim()
}

/** Seconds, or a date; null: neither. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : null
}
