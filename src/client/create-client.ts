import type { TypedDocument } from '../documents/typed-document.ts'
import { readArtifact, writeArtifact } from './artifacts.ts'
import type { Client, ClientOptions, QueryOptions, SubscribeOptions, Variables } from './client.ts'
import { ClientError } from './client-error.ts'
import { endpointOf } from './endpoint.ts'
import { followPhases } from './follow-phases.ts'
import { httpCall } from './http-call.ts'
import { pause, retryDelay } from './pause.ts'
import { type PlainCall, readLogPage, readSealPage } from './plain-call.ts'
import { openSocket, type Socket } from './socket.ts'
import { tokenSource } from './token-source.ts'

const TIMEOUT_MS = 30_000
const BUFFER = 1_000

/** @throws TypeError when the URL or the token is invalid */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = TIMEOUT_MS, fetch, onConnection } = options
  const url = checkUrl(options.url)
  const token = tokenSource(options.token)
  const closed = new AbortController()
  let socket: Socket | undefined
  const withClose = (signal: AbortSignal | undefined): AbortSignal =>
    signal ? AbortSignal.any([signal, closed.signal]) : closed.signal

  /** Once more with a new token, if the first is not valid any more. */
  const renewing = async <T>(call: (token: string) => Promise<T>): Promise<T> => {
    const first = await token.ask()
    try {
      return await call(first)
    } catch (error) {
      if (!token.renews || !isRefusedToken(error)) throw error
      const second = await token.ask(first)
      if (second === first) throw error
      return await call(second)
    }
  }
  const plain = (token: string, { signal }: QueryOptions): PlainCall => ({
    ...{ url, token, fetch: fetch ?? globalThis.fetch, signal: withClose(signal) },
  })

  const client: Client = {
    async query<T>(typed: TypedDocument<T, never>, variables: unknown = {}, { signal }: QueryOptions = {}): Promise<T> {
      const call = { url, fetch, document: typed.valueOf(), variables, timeoutMs, signals: [closed.signal, signal] }
      return await renewing((asked) => httpCall<T>({ ...call, token: asked }))
    },

    readArtifact: (id, options = {}) => renewing((asked) => readArtifact(plain(asked, options), id)),
    // Its body is read once: who repeats it has it made anew.
    writeArtifact: async (upload, options = {}) => await writeArtifact(plain(await token.ask(), options), upload),

    readLog: (parameters, options = {}) => renewing((asked) => readLogPage(plain(asked, options), parameters)),
    readSeals: (after, options = {}) => renewing((asked) => readSealPage(plain(asked, options), after)),

    subscribe<T>(
      document: TypedDocument<T, never>,
      variables: unknown = {},
      { buffer = BUFFER, ...subscribe }: SubscribeOptions = {},
    ) {
      const signal = withClose(subscribe.signal)
      const stream = { signal, buffer, onConnected: subscribe.onConnected }
      return reconnecting<T>(signal, () => {
        socket ??= openSocket({ url: webSocketUrl(url), token, onConnection })
        const current = (typeof variables === 'function' ? variables() : variables) as Variables
        return socket.stream({ query: document.valueOf(), variables: { ...current } }, stream)
      })
    },

    followPhases: (follow) => followPhases(client, { ...follow, signal: withClose(follow.signal) }),

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
    let lost: unknown
    try {
      for await (const data of open()) {
        retries = 0
        yield data as T
      }
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ClientError && error.retryable)) throw error
      lost = error
    }
    await pause(retryDelay(retries, lost), signal)
  }
}

/** The server has only checked the token. */
const isRefusedToken = (error: unknown): boolean => error instanceof ClientError && error.status === 401

function checkUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('The URL must be an http or https URL.')
  if (url.username || url.password) throw new TypeError('The URL must not hold credentials.')
  return endpointOf(url)
}

function webSocketUrl(url: URL): string {
  const socketUrl = new URL(url)
  socketUrl.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return socketUrl.href
}
