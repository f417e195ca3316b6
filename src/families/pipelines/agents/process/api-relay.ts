import { chmod, mkdir, open, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'

/** The name of the socket in its folder. */
export const API_SOCKET = 'api.sock'
/** Bound of one workload, which needs a few. */
const MAX_CONNECTIONS = 256
const MAX_CONNECTIONS_OF_ALL = 4_096

/**
 * Passes connections to sockets on to the server of the API, and to nothing else. Each workload in a sandbox sees a folder of its
 * own with one socket, and has connections of its own. Disposing the relay closes all.
 */
export class ApiRelay implements AsyncDisposable {
  readonly #url: URL
  readonly #maxConnections: number
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(url: string, maxConnections = MAX_CONNECTIONS_OF_ALL) {
    this.#url = new URL(url)
    this.#maxConnections = maxConnections
  }

  /** Listens in a folder, which it creates when it is missing. */
  async open(folder: string): Promise<void> {
    if (this.#endpoints.has(folder)) return
    await using opening = new AsyncDisposableStack()
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await rm(join(folder, API_SOCKET), { force: true })
    const sockets = new Set<Socket>()
    const server = createServer((workload) => this.#pass(workload, sockets))
    server.maxConnections = MAX_CONNECTIONS
    const directory = opening.use(await open(folder))
    // The path of a socket has at most 107 bytes: this one is short wherever the folder is.
    await listening(server, `/proc/self/fd/${directory.fd}/${API_SOCKET}`)
    opening.defer(async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    })
    await chmod(join(folder, API_SOCKET), 0o600)
    this.#endpoints.set(folder, { sockets, opened: opening.move() })
  }

  async close(folder: string): Promise<void> {
    const endpoint = this.#endpoints.get(folder)
    this.#endpoints.delete(folder)
    await endpoint?.opened.disposeAsync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#endpoints.keys()].map((folder) => this.close(folder)))
  }

  #pass(workload: Socket, sockets: Set<Socket>): void {
    this.#makeRoom()
    const api = connectTo(this.#url)
    sockets.add(workload)
    for (const [socket, other] of [[workload, api] as const, [api, workload] as const]) {
      socket.pipe(other)
      // `close` follows every error.
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(workload)
        other.destroySoon()
      })
    }
  }

  /** For one too many, the oldest connection has to go of the workload that has most. */
  #makeRoom(): void {
    const all = [...this.#endpoints.values()].map(({ sockets }) => sockets)
    if (all.reduce((sum, { size }) => sum + size, 0) < this.#maxConnections) return
    const [oldest] = all.reduce((a, b) => (b.size > a.size ? b : a))
    oldest?.destroy()
  }
}

interface Endpoint {
  /** Connections of the workload, the oldest first. */
  readonly sockets: Set<Socket>
  readonly opened: AsyncDisposableStack
}

const HTTPS = 443
const HTTP = 80
function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connect({ host, port: Number(port) || HTTP })
  return connectTls({ host, port: Number(port) || HTTPS, servername: host, ALPNProtocols: ['http/1.1'] })
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
