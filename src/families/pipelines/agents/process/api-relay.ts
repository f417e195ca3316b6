import { chmod, mkdir, open, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'

/** The name of the socket in its folder. */
export const API_SOCKET = 'api.sock'
/** Of all workers together; a worker holds a few. */
const MAX_CONNECTIONS = 4_096

/**
 * Passes connections to a socket in `folder` on to the server of the API, and to nothing else. Workers in a sandbox see the
 * folder; the next runtime listens in it again.
 */
export async function startApiRelay(folder: string, url: string): Promise<AsyncDisposable> {
  await using opening = new AsyncDisposableStack()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await rm(join(folder, API_SOCKET), { force: true })
  const connected = new Set<Socket>()
  const server = createServer((worker) => {
    const api = connectTo(new URL(url))
    for (const [socket, other] of [[worker, api] as const, [api, worker] as const]) {
      connected.add(socket)
      socket.pipe(other)
      // `close` follows every error.
      socket.on('error', () => {})
      socket.once('close', () => {
        connected.delete(socket)
        other.destroySoon()
      })
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  const directory = opening.use(await open(folder))
  // The path of a socket has at most 107 bytes: this one is short wherever the folder is.
  await listening(server, `/proc/self/fd/${directory.fd}/${API_SOCKET}`)
  await chmod(join(folder, API_SOCKET), 0o600)
  const opened = opening.move()
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of connected) socket.destroy()
      await closed
      await opened.disposeAsync()
    },
  }
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
