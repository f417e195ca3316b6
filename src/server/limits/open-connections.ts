import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Bounds } from './bounds.ts'
import { spareFiles } from './spare-files.ts'

/** Requests that wait on one connection. To read no more would not hold back those that have arrived already. */
const MAX_WAITING = 16

interface Connection {
  readonly socket: Socket
  /** Its share; `PROXIES` have none of their own. */
  readonly address: string
  /** It has had a request. */
  isUsed: boolean
  /** A request of it is being answered, or it is a WebSocket. */
  isBusy: boolean
  /** Begin its next requests. */
  readonly waiting: (() => void)[]
}

const PROXIES = ''

/**
 * The connections of one port. Each has one request answered at a time. Few of an address are idle, and few
 * altogether: for one too many the one that is idle for longest goes, so that newcomers always get in.
 */
export class OpenConnections {
  readonly #bounds: Pick<Bounds, 'limits' | 'refusals' | 'callers'>
  readonly #most: number
  /** By both ends: TLS has another socket than the connection below it. */
  readonly #all = new Map<string, Connection>()
  /** By address, those that are idle for longest first. */
  readonly #idle = new Map<string, Set<Connection>>()

  constructor(bounds: Pick<Bounds, 'limits' | 'refusals' | 'callers'>) {
    this.#bounds = bounds
    this.#most = Math.min(bounds.limits.connections, spareFiles())
  }

  /** A new one; or the same, encrypted from here on. */
  add(socket: Socket): void {
    const key = keyOf(socket)
    const before = this.#all.get(key)
    const address = this.#bounds.callers.peerOf(socket) ?? PROXIES
    if (before) this.#remove(key, before)
    else if (this.#all.size >= this.#most && !this.#makeRoom(address)) return this.#end(socket)
    const connection = { socket, address, isUsed: false, isBusy: false, waiting: [] }
    this.#all.set(key, connection)
    this.#rest(connection)
    socket.once('close', () => this.#remove(key, connection))
  }

  /** Begins a request when those before it on its connection are answered. */
  request({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const connection = this.#all.get(keyOf(socket))
    // It has been closed, and what it had sent goes with it.
    if (!connection || connection.socket.destroyed) return void socket.destroy()
    const beginThis = (): void => {
      response.once('close', () => this.#answered(connection))
      begin()
    }
    if (!connection.isBusy) {
      this.#work(connection)
      beginThis()
    } else if (connection.waiting.length < MAX_WAITING) connection.waiting.push(beginThis)
    else {
      this.#bounds.refusals.count('TOO_MANY', 'connection')
      connection.socket.destroy()
    }
  }

  /** It is a WebSocket from now on; false: a request on it is not answered yet. */
  upgrade({ socket }: IncomingMessage): boolean {
    const connection = this.#all.get(keyOf(socket))
    if (!connection || connection.isBusy) return false
    this.#work(connection)
    return true
  }

  /** Ends those that have not had a request. Node counts them as busy, and neither closes them nor lets their time run out. */
  endUnused(): void {
    for (const { socket, isUsed } of this.#all.values()) if (!isUsed) socket.destroy()
  }

  /** Ends all, WebSockets among them, which the HTTP server does not know any more. */
  endAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy()
  }

  #answered(connection: Connection): void {
    // After the last answer nothing more can be sent.
    if (!connection.socket.writable) return
    const next = connection.waiting.shift()
    if (next) next()
    else this.#rest(connection)
  }

  #work(connection: Connection): void {
    connection.isUsed = true
    connection.isBusy = true
    this.#idleAt(connection.address).delete(connection)
  }
  #rest(connection: Connection): void {
    connection.isBusy = false
    const idle = this.#idleAt(connection.address)
    idle.add(connection)
    const { idleConnectionsPerAddress } = this.#bounds.limits
    if (connection.address !== PROXIES && idle.size > idleConnectionsPerAddress) this.#endIdle(connection.address)
  }
  #idleAt(address: string): Set<Connection> {
    const idle = this.#idle.get(address) ?? new Set()
    this.#idle.set(address, idle)
    return idle
  }

  #remove(key: string, connection: Connection): void {
    if (this.#all.get(key) === connection) this.#all.delete(key)
    const idle = this.#idleAt(connection.address)
    idle.delete(connection)
    if (idle.size === 0) this.#idle.delete(connection.address)
  }

  /** At the address that has the most. False: all are busy. */
  #makeRoom(address: string): boolean {
    const crowded = [...this.#idle.keys()].reduce(
      (a, b) => (b !== PROXIES && this.#countAt(b) > this.#countAt(a) ? b : a),
      address,
    )
    return this.#endIdle(crowded) || this.#endIdle(PROXIES)
  }
  #countAt(address: string): number {
    return address === PROXIES ? 0 : (this.#idle.get(address)?.size ?? 0)
  }

  #endIdle(address: string): boolean {
    const [longest] = this.#idle.get(address) ?? []
    if (!longest) return false
    this.#end(longest.socket)
    // Its close comes later.
    this.#remove(keyOf(longest.socket), longest)
    return true
  }

  #end(socket: Socket): void {
    this.#bounds.refusals.count('TOO_MANY_CONNECTIONS', 'address')
    socket.destroy()
  }
}

const UPGRADE = Symbol('upgrade')

/**
 * The parser would read on through thousands of requests in the piece that has arrived, although their connection is closed for
 * being too many. It stops at one that asks for another protocol.
 */
export class StoppableMessage extends IncomingMessage {
  // No field: the constructor of the class above sets it.
  declare private [UPGRADE]: boolean | null

  get upgrade(): boolean | null {
    return this.socket.destroyed || this[UPGRADE]
  }
  set upgrade(upgrade: boolean | null) {
    this[UPGRADE] = upgrade
  }
}

const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
