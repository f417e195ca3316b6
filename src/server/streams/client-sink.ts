import type { Writable } from 'node:stream'
import type { Account } from '../limits/accounts.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { SlowReader } from '../limits/unread-bytes.ts'
import type { Allocate } from './buffer-pool.ts'

/** Bytes that may wait for one connection. Beyond, its subscriptions pause, and later resume from their cursors. */
const MAX_WAITING = 256 * 1024

export interface ClientSinkParts extends Bounds {
  readonly stream: Writable
  readonly isOpen: () => boolean
  /** Encodes messages with these payloads. */
  readonly encode: (id: string, payloads: readonly Buffer[], allocate?: Allocate) => Buffer
  /** Closes the connection of a client that does not read, which should reconnect. */
  readonly giveUp: () => void
  /** The connection's caller, whose turns its work takes. */
  readonly account: () => Account
}

/** The connection to one client, shared by all its subscriptions: one write for a whole batch of messages. */
export class ClientSink implements SlowReader {
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

  get account(): Account {
    return this.#parts.account()
  }
  /** Waits for the caller's turn: events share the event loop with new requests. */
  turn(): Promise<void> | undefined {
    return this.#parts.turns.next(this.account)
  }

  /** True: the kernel has taken the bytes, so that their memory can be reused. */
  write(bytes: Buffer): boolean {
    if (!this.isOpen) return true
    this.#parts.stream.write(bytes)
    if (this.waiting === 0) return true
    this.#parts.unread.update(this)
    return false
  }

  /** Call it when something else has written to the connection. */
  written(): void {
    if (this.waiting === 0) return
    this.#parts.unread.update(this)
    void this.ready()
  }

  /** Resolves when there is room, or the connection is closed. */
  ready(): Promise<void> {
    if (this.isReady || !this.isOpen) return Promise.resolve()
    if (!this.#drained) {
      this.#drained = Promise.withResolvers()
      this.#stalled = setTimeout(() => this.giveUp(), this.#parts.limits.stalledAfterMs)
    }
    return this.#drained.promise
  }

  /** Closes the connection of a client that does not read. */
  giveUp(): void {
    if (!this.isOpen) return
    this.#parts.refusals.count('TOO_SLOW')
    this.#parts.giveUp()
  }

  #release(): void {
    this.#parts.unread.remove(this)
    clearTimeout(this.#stalled)
    this.#drained?.resolve()
    this.#drained = null
  }
}
