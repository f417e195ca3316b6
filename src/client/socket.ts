import { type Client, createClient as createSocket, type SubscribePayload } from 'graphql-ws/client'
import type { ConnectionState } from './client.ts'
import { ClientError, fromGraphqlErrors, isRecord } from './client-error.ts'
import { SocketToken } from './socket-token.ts'
import type { TokenSource } from './token-source.ts'

export interface Socket {
  /**
   * One subscription over the shared socket, which opens with the first and closes after the last.
   * Ends when the server completes it or the signal aborts; throws a ClientError otherwise, also for a lost connection.
   */
  stream(payload: SubscribePayload, options: StreamOptions): AsyncGenerator<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}
export interface StreamOptions {
  readonly signal?: AbortSignal | undefined
  /** Messages buffered for a slow reader; with one more the stream fails with the code TOO_SLOW. */
  readonly buffer: number
  readonly onConnected?: (() => void) | undefined
}

const PING_MS = 10_000
const PONG_MS = 5_000
const ACK_MS = 10_000
/** A subscription that starts soon after the last one ended finds the socket still open. */
const LINGER_MS = 500

/** By the client alone: no server of ours closes with it. */
const NORMAL_CLOSURE = 1000

export interface SocketOptions {
  readonly url: string
  readonly token: TokenSource
  readonly onConnection?: ((state: ConnectionState) => void) | undefined
}

export function openSocket(options: SocketOptions): Socket {
  const { socket, token, stop } = connect(options)

  async function* stream(payload: SubscribePayload, { signal, buffer, onConnected }: StreamOptions) {
    let queue: Readonly<Record<string, unknown>>[] = []
    let ended: { readonly error: ClientError | null } | null = null
    let wake: () => void = () => undefined
    const end = (error: ClientError | null): void => {
      ended ??= { error }
      wake()
    }
    const stop = (): void => {
      queue = []
      end(null)
    }
    if (signal?.aborted) return
    signal?.addEventListener('abort', stop, { once: true })
    const unlisten = onConnected ? socket.on('connected', onConnected) : () => undefined
    const unsubscribe = socket.subscribe(payload, {
      next: ({ data, errors }) => {
        const failed = fromGraphqlErrors(errors)
        if (ended) return
        if (failed && !data) end(failed)
        else if (queue.length >= buffer) end(tooSlow())
        else if (isRecord(data)) queue.push(data)
        wake()
      },
      error: (error) => end(token.explain(toClientError(error))),
      complete: () => end(null),
    })
    try {
      for (;;) {
        const batch = queue
        queue = []
        for (const data of batch) {
          if (signal?.aborted) return
          yield data
        }
        if (queue.length > 0) continue
        if (ended) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      unsubscribe()
      unlisten()
      signal?.removeEventListener('abort', stop)
    }
    const { error } = ended as { readonly error: ClientError | null }
    if (error) throw error
  }

  async function close(): Promise<void> {
    stop()
    // Fails when the connection is being opened and that fails: then there is nothing to close.
    await Promise.resolve(socket.dispose()).catch(() => undefined)
  }
  return { stream, close }
}

interface Connecting {
  readonly socket: Client
  readonly token: SocketToken
  /** Ends its timers. */
  stop(): void
}

/** The socket under the streams, which watches whether the server is there, and renews its token. */
function connect({ url, token: source, onConnection }: SocketOptions): Connecting {
  let pong: ReturnType<typeof setTimeout> | undefined
  let open: Pick<WebSocket, 'send'> | undefined
  const token = new SocketToken(source)
  const stop = (): void => {
    clearTimeout(pong)
    token.closed()
  }
  const socket = createSocket({
    url,
    connectionParams: token.params,
    // Each stream reconnects by itself, so that it resumes after its newest cursor.
    retryAttempts: 0,
    lazyCloseTimeout: LINGER_MS,
    connectionAckWaitTimeout: ACK_MS,
    keepAlive: PING_MS,
    on: {
      ping: (received) => {
        if (!received) pong = setTimeout(() => socket.terminate(), PONG_MS)
      },
      pong: (received, life) => {
        if (!received) return
        clearTimeout(pong)
        if (open && life) token.accepted(open, life)
      },
      connected: (connection, life) => {
        open = connection as WebSocket
        token.accepted(open, life)
        onConnection?.('connected')
      },
      closed: (event) => {
        stop()
        onConnection?.(isClosed(event) && event.code === NORMAL_CLOSURE ? 'closed' : 'lost')
      },
    },
  })
  return { socket, token, stop }
}

const tooSlow = (): ClientError =>
  new ClientError(
    'network',
    'The buffer of this subscription is full: read its messages faster, or allow more with `buffer`.',
    { code: 'TOO_SLOW' },
  )

/** Close codes of the protocol for a wrong request, not a broken connection. */
const BAD_REQUEST = new Set([4400, 4406, 4409, 4429])

function toClientError(error: unknown): ClientError {
  const graphql = fromGraphqlErrors(error)
  if (graphql) return graphql
  if (isClosed(error)) {
    const { code: status, reason } = error
    const message = reason || `The connection was closed (${status}).`
    if (status === 4401 || status === 4403) return new ClientError('unauthorized', message, { status })
    if (BAD_REQUEST.has(status)) return new ClientError('graphql', message, { status })
    return new ClientError('network', message, { status })
  }
  const message = isRecord(error) || error instanceof Event ? messageOf(error) : ''
  return new ClientError('network', message || 'The connection could not be opened.')
}
const isClosed = (error: unknown): error is { readonly code: number; readonly reason: string } =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  typeof error.code === 'number' &&
  'reason' in error &&
  typeof error.reason === 'string'
const messageOf = (error: object): string =>
  'message' in error && typeof error.message === 'string' ? error.message : ''
