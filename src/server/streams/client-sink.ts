import type { Writable } from 'node:stream'
import type { Allocate } from './buffer-pool.ts'

/** Bytes that may wait for one connection. Beyond, its subscriptions pause, and later resume from their cursors. */
const MAX_WAITING = 256 * 1024

export interface ClientSinkParts {
  readonly stream: Writable
  readonly isOpen: () => boolean
  /** Encodes messages with these payloads. */
  readonly encode: (id: string, payloads: readonly Buffer[], allocate?: Allocate) => Buffer
  /** Closes the connection of a client that does not read, which should reconnect. */
  readonly giveUp: () => void
  /** Milliseconds for which a client may read nothing. */
  readonly stalledAfterMs: number
}

/** The connection to one client, shared by all its subscriptions: one write for a whole batch of messages. */
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
  /** Bytes that the kernel has not taken yet. */
  get waiting(): number {
    return this.#parts.stream.writableLength
  }
  get isReady(): boolean {
    return this.waiting < MAX_WAITING
  }
  /** Sinks with the same encoding write the same bytes. */
  get encode(): ClientSinkParts['encode'] {
    return this.#parts.encode
  }

  /** True: the kernel has taken the bytes, so that their memory can be reused. */
  write(bytes: Buffer): boolean {
    if (!this.isOpen) return true
    this.#parts.stream.write(bytes)
    return this.waiting === 0
  }

  /** Resolves when there is room, or the connection is closed. */
  ready(): Promise<void> {
    if (this.isReady || !this.isOpen) return Promise.resolve()
    if (!this.#drained) {
      this.#drained = Promise.withResolvers()
      this.#stalled = setTimeout(this.#parts.giveUp, this.#parts.stalledAfterMs)
    }
    return this.#drained.promise
  }

  #release(): void {
    clearTimeout(this.#stalled)
    this.#drained?.resolve()
    this.#drained = null
  }
}
