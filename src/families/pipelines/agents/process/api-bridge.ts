import { closeSync, writeSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Runs within the sandbox of a worker, which has no network: listens on a port of the sandbox's loopback and passes
 * connections on to the runtime's socket. It stands alone, since the sandbox holds this file and none besides it. Arguments: the
 * port and the socket. It closes its output once it listens.
 */

const RETRY_MS = 50
/** A runtime that is started again is away for a moment. */
const AWAY_MS = 30_000
const OUTPUT = 1

const [port, path = ''] = process.argv.slice(2)

function reach(client: Socket, until: number): void {
  const api = connect(path)
  const retry = (): void => {
    if (client.destroyed || performance.now() > until) client.destroy()
    else setTimeout(() => reach(client, until), RETRY_MS)
  }
  api.once('error', retry)
  api.once('connect', () => {
    api.off('error', retry).on('error', () => {})
    join(client, api)
  })
}

/** When one side has closed, the other has nothing to wait for. */
function join(client: Socket, api: Socket): void {
  client.pipe(api)
  api.pipe(client)
  client.once('close', () => api.destroySoon())
  api.once('close', () => client.destroySoon())
  if (client.destroyed) api.destroySoon()
}

const server = createServer({ pauseOnConnect: true }, (client) => {
  client.on('error', () => {})
  reach(client, performance.now() + AWAY_MS)
})
server.listen(Number(port), '127.0.0.1', () => {
  writeSync(OUTPUT, 'listening')
  closeSync(OUTPUT)
})
