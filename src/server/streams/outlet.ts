import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { CLOSE } from '../close-codes.ts'

/** Bytes that wait for one connection. Beyond, its subscriptions pause, and later go on from their places in the log. */
const MAX_WAITING = 256 * 1024
/** Who has not read so much for so long is told to come again. */
const STALLED_MS = 30_000
/** A client that does not read does not read that it is closed either. */
const CLOSE_WITHIN_MS = 1_000

/**
 * The way out to one client, shared by all its subscriptions. Frames are written past `ws`, straight to the connection:
 * one write for a whole batch of messages. Both write whole frames in one go, so they do not get mixed up; `ws` would
 * hold frames back only for compression and blobs, which this server does not use.
 */
export class Outlet {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #stalledAfterMs: number
  #drained: PromiseWithResolvers<void> | null = null
  #stalled: NodeJS.Timeout | undefined
  #pauses = 0

  /** @param stalledAfterMs how long a client may read nothing, in milliseconds */
  constructor(socket: WebSocket, stream: Duplex, stalledAfterMs = STALLED_MS) {
    this.#socket = socket
    this.#stream = stream
    this.#stalledAfterMs = stalledAfterMs
    stream.on('drain', () => this.#release())
    stream.once('close', () => this.#release())
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }
  /** Bytes that the client has not taken yet, as far as this process knows. */
  get waiting(): number {
    return this.#stream.writableLength
  }
  /** How often it was too slow. */
  get pauses(): number {
    return this.#pauses
  }
  get isReady(): boolean {
    return this.#stream.writableLength < MAX_WAITING
  }

  write(frames: Buffer): void {
    if (this.isOpen) this.#stream.write(frames)
  }

  /** Resolves when there is room, or nothing more to be written. */
  ready(): Promise<void> {
    if (this.isReady || !this.isOpen) return Promise.resolve()
    if (!this.#drained) {
      this.#pauses += 1
      this.#drained = Promise.withResolvers()
      this.#stalled = setTimeout(() => this.#giveUp(), this.#stalledAfterMs)
    }
    return this.#drained.promise
  }

  #release(): void {
    clearTimeout(this.#stalled)
    this.#drained?.resolve()
    this.#drained = null
  }

  #giveUp(): void {
    this.#socket.close(CLOSE.TOO_SLOW.code, CLOSE.TOO_SLOW.reason)
    setTimeout(() => this.#socket.terminate(), CLOSE_WITHIN_MS).unref()
  }
}
