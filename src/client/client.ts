/// <reference lib="esnext.disposable" preserve="true" />
import type { TypedDocument } from '../documents/typed-document.ts'
import type { ArtifactContent, ArtifactUpload } from './artifacts.ts'
import type { FollowOptions, PhaseLogBatch } from './phase-log.ts'
import type { LogPage } from './plain-call.ts'

export type Variables = Readonly<Record<string, unknown>>

/**
 * `connected`: streams flow. `lost`: the socket was closed or could not be opened; each open stream opens it again. `closed`: the client
 * itself has closed it, after the last stream.
 */
export type ConnectionState = 'connected' | 'lost' | 'closed'

export interface ClientOptions {
  /** The GraphQL endpoint over http or https, e.g. `http://127.0.0.1:4000/graphql`. */
  readonly url: string
  /**
   * A function is called for each query, whenever the WebSocket connects, and half a minute before the token of an open
   * one expires: it returns the same token until it needs renewal. It throws a ClientError to say whether a later call
   * may succeed. `refused` is a previous token that the server no longer accepts: with another one the client retries
   * once.
   */
  readonly token: string | ((refused?: string) => string | Promise<string>)
  /** Sends queries instead of the platform: Node's own HTTP client, elsewhere its `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Limit of one query in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Called whenever the WebSocket that subscriptions share connects or closes. */
  readonly onConnection?: (state: ConnectionState) => void
}
export interface QueryOptions {
  readonly signal?: AbortSignal | undefined
}
export interface SubscribeOptions {
  readonly signal?: AbortSignal | undefined
  /** Called whenever the shared socket connects. */
  readonly onConnected?: () => void
  /** Messages buffered for a slow reader; 1,000 by default. */
  readonly buffer?: number
}

/** The arguments after a document: its variables may be omitted when it requires none. */
export type VariablesAnd<V, Options> =
  Record<never, never> extends V ? [variables?: V, options?: Options] : [variables: V, options?: Options]

/** A connection to one server as one principal. It owns a WebSocket while there are subscriptions: dispose it. */
export interface Client extends AsyncDisposable {
  /**
   * One query or mutation. The document is a string, or a string with types: then result and variables are checked.
   * The client repeats it with a fresh token only: otherwise the caller decides, by `ClientError.retryable`.
   * @throws ClientError, or the signal's reason when it aborts
   */
  query<T = unknown, V = Variables>(
    document: TypedDocument<T, V>,
    ...rest: VariablesAnd<NoInfer<V>, QueryOptions>
  ): Promise<T>
  /**
   * Reads the content of an artifact by its id, in pieces.
   * @throws ClientError, or the signal's reason when it aborts
   */
  readArtifact(id: string, options?: QueryOptions): Promise<ArtifactContent>
  /**
   * Uploads what a workload leaves, for the agent that has its work. Not in browsers, which send no streams.
   * @throws ClientError, or the signal's reason when it aborts
   */
  writeArtifact(upload: ArtifactUpload, options?: QueryOptions): Promise<void>
  /**
   * A page of the log as `GET /log` sends it, with the parameters of that endpoint, such as `{ after: cursor, to: 'FAILED' }`.
   * @throws ClientError, such as CURSOR_EXPIRED, or the signal's reason when it aborts
   */
  readLog(parameters: Readonly<Record<string, string>>, options?: QueryOptions): Promise<LogPage>
  /**
   * Seals of the log after the first `after`, in their order, as `GET /log/seals` sends them: JSON of one each. None: there is nothing more.
   * @throws ClientError, or the signal's reason when it aborts
   */
  readSeals(after: number, options?: QueryOptions): Promise<readonly string[]>
  /**
   * A subscription. It reconnects without limit and skips what happens meanwhile, unless `variables` is a function:
   * the client calls it at each reconnection, so that it can pass the cursor to resume after.
   * Ends when the server completes it or the signal aborts.
   * @throws ClientError that is not retryable
   */
  subscribe<T = unknown, V = Variables>(
    document: TypedDocument<T, V>,
    ...rest: VariablesAnd<NoInfer<V> | (() => NoInfer<V>), SubscribeOptions>
  ): AsyncIterable<T>
  /**
   * Phase changes after a cursor of the log, then live: each exactly once, across reconnects. Ends when the signal aborts.
   * @throws ClientError that is not retryable, e.g. CURSOR_EXPIRED unless `onExpired` returns a cursor to resume after
   */
  followPhases(options: FollowOptions): AsyncIterable<PhaseLogBatch>
  close(): Promise<void>
}
