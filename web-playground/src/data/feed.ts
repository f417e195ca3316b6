import { type Client, ClientError, type ConnectionState, type PhaseChange } from 'phaseline/client'
import { type Connection, type ConnectionEvent, nextConnection } from '../model/connection.ts'

export interface FeedListener {
  changes(changes: readonly PhaseChange[]): void
  /** The log cannot be continued from where we were: read everything again. */
  reset(): void
}

const HEAD = `query Head {
  phaseChanges(last: 1, filter: { includeRejected: true }) { edges { node { sequence } } }
}`
/** The end of the log is asked for again so much later when that failed. */
const AGAIN_MS = 1_000

/** The one subscription to the whole log that keeps every page live, and says how far it is. */
export class Feed {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #listeners = new Set<FeedListener>()
  readonly #watchers = new Set<() => void>()
  #connection: Connection = { kind: 'connecting' }
  #cursor = 0

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    void this.#run()
  }

  readonly connection = (): Connection => this.#connection
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** From now on; a snapshot that is read afterwards is no older than what the listener missed. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** To be told by the client. */
  connected(state: ConnectionState): void {
    this.#on({ kind: state === 'connected' ? 'connected' : 'lost', at: Date.now() })
    if (this.#connection.kind === 'catching-up') void this.#findHead()
  }

  async #run(): Promise<void> {
    let start: number | null = null
    while (!this.#signal.aborted) {
      try {
        this.#cursor = start ?? (await this.#readHead())
        start = null
        await this.#follow()
      } catch (error) {
        if (this.#signal.aborted) return
        if (error instanceof ClientError && error.kind === 'unauthorized') {
          return this.#on({ kind: 'refused', message: error.message })
        }
        if (error instanceof ClientError && error.code === 'CURSOR_EXPIRED') {
          start = typeof error.extensions.head === 'number' ? error.extensions.head : null
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
    for await (const { changes, through } of batches) {
      this.#cursor = through
      for (const listener of this.#listeners) listener.changes(changes)
      this.#on({ kind: 'batch', count: changes.length, through, at: Date.now() })
    }
  }

  async #findHead(): Promise<void> {
    while (this.#connection.kind === 'catching-up' && !this.#signal.aborted) {
      try {
        const head = await this.#readHead()
        return this.#on({ kind: 'head', head, cursor: this.#cursor, at: Date.now() })
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  async #readHead(): Promise<number> {
    interface Head {
      readonly phaseChanges: { readonly edges: readonly { readonly node: { readonly sequence: number } }[] }
    }
    const { phaseChanges } = await this.#client.query<Head>(HEAD, {}, { signal: this.#signal })
    return phaseChanges.edges[0]?.node.sequence ?? 0
  }

  #on(event: ConnectionEvent): void {
    const next = nextConnection(this.#connection, event)
    if (next === this.#connection) return
    this.#connection = next
    for (const watcher of this.#watchers) watcher()
  }
}
