import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller, Reservation } from '../limits/callers.ts'
import type { Refusals } from '../limits/refusals.ts'
import { CLOSE } from './close-codes.ts'
import { dismiss } from './dismiss.ts'

/** Smaller messages are not counted: what they hold is bounded by the number of operations. */
const SMALL = 64 * 1_024
/** Bytes of a control frame besides its data. */
const CONTROL = 6

interface Arriving {
  readonly socket: WebSocket
  readonly stream: Socket
  readonly caller: Caller
  readonly refusals: Refusals
}

/** Counts the bytes of a large message while it arrives, since `ws` collects it until its end. */
export class ArrivingBytes {
  readonly #arriving: Arriving
  #bytes = 0
  #reservation: Reservation | null = null

  constructor(arriving: Arriving) {
    this.#arriving = arriving
    const { socket, stream } = arriving
    // Before `ws` reads them, so that a message's last bytes count for itself.
    stream.prependListener('data', (chunk: Buffer) => this.#count(chunk.length))
    for (const control of ['ping', 'pong'] as const) {
      socket.on(control, (data: Buffer) => {
        this.#bytes = Math.max(0, this.#bytes - data.length - CONTROL)
      })
    }
    socket.once('close', () => this.arrived()?.end())
  }

  /** The reservation of the message that has arrived; null: it is small. The next one begins. */
  arrived(): Reservation | null {
    const hold = this.#reservation
    this.#bytes = 0
    this.#reservation = null
    return hold
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= SMALL) return
    const { socket, stream, caller, refusals } = this.#arriving
    const isFirst = this.#reservation === null
    this.#reservation ??= caller.reserve('requestBytes')
    const excess = this.#reservation.take(isFirst ? this.#bytes : bytes)
    if (!excess) return
    refusals.count('TOO_MANY', excess.share)
    dismiss(socket, stream, CLOSE.TOO_MANY_BYTES)
  }
}
