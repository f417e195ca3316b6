import type { Writable } from 'node:stream'
import type { Allocate } from './buffer-pool.ts'

/** Bytes that wait for one connection. Beyond, its subscriptions pause, and later go on from their places in the log. */
const MAX_WAITING = 256 * 1024
/** Who has not read so much for so long is told to come again. */
const STALLED_MS = 30_000

export interface ClientSinkParts {
  readonly stream: Writable
  readonly isOpen: () => boolean
  /** The bytes of messages with these payloads. */
  readonly encode: (id: string, payloads: readonly Buffer[], allocate?: Allocate) => Buffer
  /** Closes the connection of a client that does not read. */
  readonly giveUp: () => void
  /** How long a client may read nothing, in milliseconds. */
  readonly stalledAfterMs?: number | undefined
}

/** The way out to one client, shared by all its subscriptions: one write for a whole batch of messages. */
export class ClientSink {
  readonly #parts: ClientSinkParts
  #drained: PromiseWithResolvers<void> | null = null
  #stalled: NodeJS.Timeout | undefined

  constructor(parts: ClientSinkParts) {
    this.#parts = parts
    parts.stream.on('drain', () => this.#release())
    parts.stream.once('close', () => this.#release())
  }

  get isOpen(): boolean {
    return this.#parts.isOpen()
  }
  /** Bytes that the client has not taken yet, as far as this process knows. */
  get waiting(): number {
    return this.#parts.stream.writableLength
  }
  get isReady(): boolean {
    return this.waiting < MAX_WAITING
  }
  /** Outlets with the same encoding write the same bytes. */
  get encode(): ClientSinkParts['encode'] {
    return this.#parts.encode
  }

  /** Whether the bytes have left this process, and are its own again. */
  write(bytes: Buffer): boolean {
    if (!this.isOpen) return true
    this.#parts.stream.write(bytes)
    return this.waiting === 0
  }

  /** Resolves when there is room, or nothing more to be written. */
  ready(): Promise<void> {
    if (this.isReady || !this.isOpen) return Promise.resolve()
    if (!this.#drained) {
      this.#drained = Promise.withResolvers()
      this.#stalled = setTimeout(this.#parts.giveUp, this.#parts.stalledAfterMs ?? STALLED_MS)
    }
    return this.#drained.promise
  }

  #release(): void {
    clearTimeout(this.#stalled)
    this.#drained?.resolve()
    this.#drained = null
  }
}
