import { type Client, ClientError, type ConnectionState, logRangeOf, type PhaseChange } from 'phaseline/client'
import { type Connection, type ConnectionEvent, nextConnection } from '../model/connection.ts'
import { HEAD } from './documents.ts'

export interface FeedListener {
  changes(changes: readonly PhaseChange[]): void
  /** The log cannot be continued from the last cursor: read everything again. */
  reset(): void
}

/** An answer to HEAD. */
export interface Head {
  readonly log: { readonly head: number; readonly endCursor: string }
}

/** Delay before a failed request is repeated. */
const AGAIN_MS = 1_000

/** The one subscription to the whole log, which keeps every page but that of the log live, and its state. */
export class Feed {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #listeners = new Set<FeedListener>()
  readonly #watchers = new Set<() => void>()
  #connection: Connection = { kind: 'connecting' }
  #cursor: string
  #through: number

  /** @param end of the log, read before everything that its later changes update */
  constructor(client: Client, { head, endCursor }: Head['log'], signal: AbortSignal) {
    this.#client = client
    this.#cursor = endCursor
    this.#through = head
    this.#signal = signal
    void this.#run()
  }

  readonly connection = (): Connection => this.#connection
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * Calls the listener with changes from now on. A snapshot that is read afterwards is no older than the first of them.
   */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Called by the client. */
  connected(state: ConnectionState): void {
    this.#on({ kind: state === 'connected' ? 'connected' : 'lost', at: Date.now() })
    if (this.#connection.kind === 'catching-up') void this.#findHead()
  }

  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        if (this.#signal.aborted) return
        if (error instanceof ClientError && error.kind === 'unauthorized') {
          return this.#on({ kind: 'refused', message: error.message })
        }
        const log = logRangeOf(error)
        if (log) {
          this.#cursor = log.endCursor
          this.#through = log.head
          for (const listener of this.#listeners) listener.reset()
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  async #follow(): Promise<void> {
    const batches = this.#client.followPhases({
      filter: { includeRejected: true },
      after: this.#cursor,
      signal: this.#signal,
    })
    for await (const { changes, through, cursor } of batches) {
      this.#cursor = cursor
      this.#through = through
      for (const listener of this.#listeners) listener.changes(changes)
      this.#on({ kind: 'batch', count: changes.length, through, at: Date.now() })
    }
  }

  async #findHead(): Promise<void> {
    while (this.#connection.kind === 'catching-up' && !this.#signal.aborted) {
      try {
        const { log } = await this.#client.query(HEAD, {}, { signal: this.#signal })
        return this.#on({ kind: 'head', head: log.head, cursor: this.#through, at: Date.now() })
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  #on(event: ConnectionEvent): void {
    const next = nextConnection(this.#connection, event)
    if (next === this.#connection) return
    this.#connection = next
    for (const watcher of this.#watchers) watcher()
  }
}
