import type { Viewer } from '../../core/ports/viewer.ts'

/** The present state of a subscription that is open on this gateway. */
export interface OpenStream {
  readonly id: string
  /** Name that the client gave the operation. */
  readonly operation: string | null
  readonly field: string
  /** The caller that opened it. */
  readonly caller: Viewer
  readonly openedAt: Date
  readonly state: 'CATCHING_UP' | 'LIVE' | 'PAUSED'
  /** Count of subscriptions that share its execution, itself included. */
  readonly sharedBy: number
  /** Everything that matches up to here has been sent; null if it does not follow the log. */
  readonly sequence: number | null
  /** Bytes that its connection has not taken yet. */
  readonly bufferedBytes: number
  readonly messages: number
  readonly bytes: number
  /** Counts of its own reads of missed events, and of pauses for its slow client. */
  readonly reads: number
  readonly pauses: number
}

/** The subscriptions that are open on this gateway. The opener of each gives a function that reads its state. */
export class OpenStreams {
  readonly #open = new Map<string, () => Omit<OpenStream, 'id'>>()
  #count = 0

  /** Returns the function to call at its end. */
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
