/// <reference lib="esnext.disposable" preserve="true" />
import { callSignal } from './call-signal.ts'
import { ClientError } from './client-error.ts'
import { type FollowOptions, followPhases, type PhaseLogBatch } from './follow-phases.ts'
import { httpCall } from './http-call.ts'
import { pause, retryDelay } from './pause.ts'
import { type ConnectionState, openSocket, type Socket } from './socket.ts'

export type Variables = Readonly<Record<string, unknown>>

export interface ClientOptions {
  /** The GraphQL endpoint over http or https, e.g. `http://127.0.0.1:4000/graphql`. */
  readonly url: string
  readonly token: string
  /** Sends queries instead of the platform: Node's own HTTP client, elsewhere its `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** How long one query may take, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Called whenever the WebSocket that subscriptions share is connected, or lost: also by itself, after the last one. */
  readonly onConnection?: (state: ConnectionState) => void
}
export interface QueryOptions {
  readonly signal?: AbortSignal | undefined
}
export interface SubscribeOptions {
  readonly signal?: AbortSignal | undefined
  /** Called whenever the shared socket gets (re)connected. */
  readonly onConnected?: () => void
  /** How many messages are kept for a slow reader; 1,000 by default. */
  readonly buffer?: number
}

/** A connection to one server as one principal. It owns a WebSocket when there are subscriptions: dispose it. */
export interface Client extends AsyncDisposable {
  /**
   * One query or mutation. It is never repeated: that is the caller's to decide, by `ClientError.retryable`.
   * @throws ClientError, or the signal's reason when it aborts
   */
  query<T>(document: string, variables?: Variables, options?: QueryOptions): Promise<T>
  /**
   * A subscription. It reconnects for as long as it takes, and what happens meanwhile is skipped, unless `variables`
   * is a function, asked again at each reconnection, that says where to go on.
   * Ends when the server completes it or the signal aborts.
   * @throws ClientError that is not retryable
   */
  subscribe<T>(
    document: string,
    variables?: Variables | (() => Variables),
    options?: SubscribeOptions,
  ): AsyncIterable<T>
  /**
   * Phase changes after a place in the log, then live: each exactly once, across reconnects. Ends when the signal aborts.
   * @throws ClientError that is not retryable, e.g. with the code CURSOR_EXPIRED unless `onExpired` says where to go on
   */
  followPhases(options: FollowOptions): AsyncIterable<PhaseLogBatch>
  close(): Promise<void>
}

const TIMEOUT_MS = 30_000
const BUFFER = 1_000

/** @throws TypeError when the URL or the token is none */
export function createClient(options: ClientOptions): Client {
  const { token, timeoutMs = TIMEOUT_MS } = options
  const url = checkUrl(options.url)
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('The token must be printable ASCII without blanks.')
  const closed = new AbortController()
  let socket: Socket | undefined

  const client: Client = {
    async query<T>(document: string, variables: Variables = {}, { signal }: QueryOptions = {}): Promise<T> {
      using call = callSignal(timeoutMs, [closed.signal, signal])
      try {
        return await httpCall<T>({ url, token, fetch: options.fetch, document, variables, signal: call.signal })
      } catch (error) {
        if (call.isLate) throw new ClientError('network', `No answer within ${timeoutMs} ms.`)
        throw error
      }
    },

    subscribe<T>(document: string, variables: Variables | (() => Variables) = {}, given: SubscribeOptions = {}) {
      const signal = given.signal ? AbortSignal.any([given.signal, closed.signal]) : closed.signal
      const stream = { signal, buffer: given.buffer ?? BUFFER, onConnected: given.onConnected }
      return reconnecting<T>(signal, () => {
        socket ??= openSocket(webSocketUrl(url), token, options.onConnection)
        const now = typeof variables === 'function' ? variables() : variables
        return socket.stream({ query: document, variables: { ...now } }, stream)
      })
    },

    followPhases: (given) =>
      followPhases(client, {
        ...given,
        signal: given.signal ? AbortSignal.any([given.signal, closed.signal]) : closed.signal,
      }),

    async close() {
      closed.abort(new ClientError('network', 'The client is closed.', { retryable: false }))
      await socket?.close()
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
  return client
}

async function* reconnecting<T>(signal: AbortSignal, open: () => AsyncGenerator<unknown>): AsyncGenerator<T> {
  for (let retries = 0; !signal.aborted; retries += 1) {
    try {
      for await (const data of open()) {
        retries = 0
        yield data as T
      }
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ClientError && error.retryable)) throw error
    }
    await pause(retryDelay(retries), signal)
  }
}

function checkUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('The URL must be an http or https URL.')
  if (url.username || url.password) throw new TypeError('The URL must not hold credentials.')
  return url
}

function webSocketUrl(url: URL): string {
  const socketUrl = new URL(url)
  socketUrl.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return socketUrl.href
}
