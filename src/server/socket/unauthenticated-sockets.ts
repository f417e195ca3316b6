import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { GatewayLimits } from '../../core/gateway-limits.ts'
import type { Refusals } from '../limits/refusals.ts'
import { CLOSE } from './close-codes.ts'
import { dismiss } from './dismiss.ts'

/** A socket that has not sent a valid token yet. */
export interface UnauthenticatedSocket {
  /** Its connection_init has come. */
  initialised(): void
  /** Its token is accepted: the limits are lifted. */
  accepted(): void
}

interface Waiting {
  readonly socket: WebSocket
  readonly stream: Socket
  /** It has sent its token, which is being checked. */
  isInitialised: boolean
}

/**
 * Anybody may open a socket. Until it has sent a valid token it may send little, and soon, and there are few of them: for one too
 * many the one has to go that has been silent for longest, at its address or at the one that has the most. So who comes and says
 * who it is gets in, however many say nothing.
 */
export class UnauthenticatedSockets {
  readonly #limits: GatewayLimits
  readonly #refusals: Refusals
  /** The oldest first. */
  readonly #byAddress = new Map<string, Set<Waiting>>()
  #all = 0
  constructor(limits: GatewayLimits, refusals: Refusals) {
    this.#limits = limits
    this.#refusals = refusals
  }

  /** Null: there are too many, all of which have sent their tokens. */
  admit(socket: WebSocket, stream: Socket, address: string): UnauthenticatedSocket | null {
    if (!this.#makeRoom(address)) return null
    const waiting = { socket, stream, isInitialised: false }
    this.#add(address, waiting)
    const stopCounting = this.#limitBytes(socket, stream)
    const timer = setTimeout(() => this.#expire(waiting), this.#limits.initTimeoutMs)
    let isNew = true
    const accepted = (): void => {
      if (!isNew) return
      isNew = false
      clearTimeout(timer)
      stopCounting()
      this.#remove(address, waiting)
    }
    socket.once('close', accepted)
    const initialised = (): void => {
      waiting.isInitialised = true
      clearTimeout(timer)
    }
    return { initialised, accepted }
  }

  /** False: none is silent where one has to go. */
  #makeRoom(address: string): boolean {
    const { unauthenticatedSockets, unauthenticatedSocketsPerAddress } = this.#limits
    if (this.#countAt(address) >= unauthenticatedSocketsPerAddress) return this.#dismissOne(address)
    if (this.#all < unauthenticatedSockets) return true
    return this.#dismissOne(
      [...this.#byAddress.keys()].reduce((a, b) => (this.#countAt(b) > this.#countAt(a) ? b : a), address),
    )
  }

  #countAt(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0
  }

  #dismissOne(address: string): boolean {
    const silent = this.#byAddress
      .get(address)
      ?.values()
      .find(({ isInitialised }) => !isInitialised)
    if (!silent) return false
    // Its close may take a while.
    this.#remove(address, silent)
    this.#refusals.count('TOO_MANY_SOCKETS', 'address')
    dismiss(silent.socket, silent.stream, CLOSE.TOO_MANY_SOCKETS)
    return true
  }

  #add(address: string, waiting: Waiting): void {
    const sockets = this.#byAddress.get(address)
    if (sockets) sockets.add(waiting)
    else this.#byAddress.set(address, new Set([waiting]))
    this.#all += 1
  }

  #remove(address: string, waiting: Waiting): void {
    const sockets = this.#byAddress.get(address)
    if (!sockets?.delete(waiting)) return
    if (sockets.size === 0) this.#byAddress.delete(address)
    this.#all -= 1
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

  #expire(waiting: Waiting): void {
    const { socket } = waiting
    // An event loop that was busy runs its timers before it reads what came meanwhile.
    setImmediate(() => {
      if (waiting.isInitialised || socket.readyState !== socket.OPEN) return
      this.#refusals.count('INIT_TIMEOUT')
      socket.close(CLOSE.INIT_TIMEOUT.code, CLOSE.INIT_TIMEOUT.reason)
    })
  }
}
