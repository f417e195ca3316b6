import { connect, createServer, type Socket } from 'node:net'

/** A proxy between a server and its Postgres that may swallow everything: connections stay open, and no byte arrives. */
export interface SwallowingProxy extends AsyncDisposable {
  readonly port: number
  /**
   * Holds each byte and each goodbye, both ways, and takes connections without a word. At the end of it all of them arrive, if
   * late, as from a network that has kept them.
   */
  swallow(): Disposable
  /** Takes no connections, and cuts those there are. */
  refuse(): Disposable
}

/** @param path the socket of Postgres, asked for with each connection */
export async function startSwallowingProxy(path: string | (() => string)): Promise<SwallowingProxy> {
  const pairs = new Set<Pair>()
  let isSwallowing = false
  let isRefusing = false
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined)
    if (isRefusing) return client.destroy()
    const pair = new Pair(client, typeof path === 'string' ? path : path(), () => pairs.delete(pair))
    pairs.add(pair)
    if (!isSwallowing) pair.flow()
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    port: address.port,
    swallow() {
      isSwallowing = true
      for (const pair of pairs) pair.hold()
      return {
        [Symbol.dispose]() {
          isSwallowing = false
          for (const pair of pairs) pair.flow()
        },
      }
    },
    refuse() {
      isRefusing = true
      for (const pair of pairs) pair.cut()
      return {
        [Symbol.dispose]() {
          isRefusing = false
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) pair.cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One connection of a client, and the one to Postgres behind it, which is made when the first byte may pass. */
class Pair {
  readonly #client: Socket
  readonly #path: string
  readonly #onEnd: () => void
  #postgres: Socket | null = null
  #flows = false

  constructor(client: Socket, path: string, onEnd: () => void) {
    this.#client = client.pause()
    this.#path = path
    this.#onEnd = onEnd
    client.once('close', () => this.#closed())
  }

  flow(): void {
    this.#flows = true
    if (this.#client.destroyed) return this.cut()
    if (this.#postgres?.destroyed) return this.cut()
    this.#postgres ??= this.#connect()
    this.#client.pipe(this.#postgres).pipe(this.#client)
  }

  hold(): void {
    this.#flows = false
    if (!this.#postgres) return
    this.#client.unpipe(this.#postgres).pause()
    this.#postgres.unpipe(this.#client).pause()
  }

  cut(): void {
    this.#client.destroy()
    this.#postgres?.destroy()
    this.#onEnd()
  }

  #connect(): Socket {
    return connect(this.#path)
      .on('error', () => undefined)
      .once('close', () => this.#closed())
  }

  /** A held connection does not tell its other end. */
  #closed(): void {
    if (this.#flows) this.cut()
  }
}
