import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { GatewayLimits } from '../core/gateway-limits.ts'
import { CLOSE } from './close-codes.ts'
import { dismiss } from './dismiss.ts'
import type { Refusals } from './refusals.ts'

/** A socket that has not sent a valid token yet. */
export interface Newcomer {
  /** Its connection_init has come. */
  initialised(): void
  /** Its token is accepted: the limits are lifted. */
  accepted(): void
}

/** Anybody may open a socket. Until it has sent a valid token it may send little, and soon, and there are few of them. */
export class UnauthenticatedSockets {
  readonly #limits: GatewayLimits
  readonly #refusals: Refusals
  readonly #byAddress = new Map<string, number>()
  #all = 0
  constructor(limits: GatewayLimits, refusals: Refusals) {
    this.#limits = limits
    this.#refusals = refusals
  }

  /** Null: there are too many already. */
  admit(socket: WebSocket, stream: Socket, address: string): Newcomer | null {
    if (!this.#hasRoom(address)) return null
    this.#add(address, 1)
    const stopCounting = this.#limitBytes(socket, stream)
    const timer = setTimeout(() => this.#expire(socket, () => isInitialised), this.#limits.initTimeoutMs)
    let isInitialised = false
    let isNew = true
    const accepted = (): void => {
      if (!isNew) return
      isNew = false
      clearTimeout(timer)
      stopCounting()
      this.#add(address, -1)
    }
    socket.once('close', accepted)
    const initialised = (): void => {
      isInitialised = true
      clearTimeout(timer)
    }
    return { initialised, accepted }
  }

  #hasRoom(address: string): boolean {
    const { unauthenticatedSockets, unauthenticatedSocketsPerAddress } = this.#limits
    return this.#all < unauthenticatedSockets && (this.#byAddress.get(address) ?? 0) < unauthenticatedSocketsPerAddress
  }

  #add(address: string, change: 1 | -1): void {
    const sockets = (this.#byAddress.get(address) ?? 0) + change
    if (sockets > 0) this.#byAddress.set(address, sockets)
    else this.#byAddress.delete(address)
    this.#all += change
  }

  /** Counts what arrives, since `ws` bounds only the length that a frame announces, and the same for all sockets. */
  #limitBytes(socket: WebSocket, stream: Socket): () => void {
    let bytes = 0
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= this.#limits.unauthenticatedBytes) return
      this.#refusals.count('TOO_LARGE')
      dismiss(socket, stream, CLOSE.TOO_LARGE)
    }
    stream.on('data', count)
    return () => stream.off('data', count)
  }

  #expire(socket: WebSocket, isInitialised: () => boolean): void {
    // An event loop that was busy runs its timers before it reads what came meanwhile.
    setImmediate(() => {
      if (isInitialised() || socket.readyState !== socket.OPEN) return
      this.#refusals.count('INIT_TIMEOUT')
      socket.close(CLOSE.INIT_TIMEOUT.code, CLOSE.INIT_TIMEOUT.reason)
    })
  }
}
