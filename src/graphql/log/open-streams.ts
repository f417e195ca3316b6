/** A subscription that is open on this gateway, as it is right now. */
export interface OpenStream {
  readonly id: string
  /** The name that the client gave its operation. */
  readonly operation: string | null
  readonly field: string
  /** Whose token it was opened with. */
  readonly viewer: string
  readonly openedAt: Date
  readonly state: 'CATCHING_UP' | 'LIVE' | 'PAUSED'
  /** How many subscriptions share its execution, itself included. */
  readonly sharedBy: number
  /** All that matches, up to here, was sent; null where there is no place in the log. */
  readonly sequence: number | null
  /** Bytes that its connection has not taken yet. */
  readonly bufferedBytes: number
  readonly messages: number
  readonly bytes: number
  /** How often it had to read for itself, and how often it was too slow. */
  readonly reads: number
  readonly pauses: number
}

/** What is open on this gateway. Whoever opens a subscription says how it can be looked at. */
export class OpenStreams {
  readonly #open = new Map<string, () => Omit<OpenStream, 'id'>>()
  #count = 0

  /** Call what is returned when it has ended. */
  opened(look: () => Omit<OpenStream, 'id'>): () => void {
    this.#count += 1
    const id = String(this.#count)
    this.#open.set(id, look)
    return () => void this.#open.delete(id)
  }
  get size(): number {
    return this.#open.size
  }
  list(): readonly OpenStream[] {
    return [...this.#open].map(([id, look]) => ({ id, ...look() }))
  }
}
