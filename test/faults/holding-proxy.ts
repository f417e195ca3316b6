import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** An agent's request, and the response once it is known; both as JSON. */
export interface Exchange {
  readonly request: string
  readonly answer: string | null
}
export interface Hold {
  /** Resolves when a matching call is being held back. */
  readonly holds: boolean
  /** Lets the call continue, even without its client; resolves to the server's response. */
  letThrough(): Promise<string>
  /** Breaks the connection of the call instead. */
  cut(): void
}

/**
 * A proxy between an agent and a server that holds back one call of the agent's choice: on the way there, so that the server
 * does not know of it, or on the way back, so that it is durable and the agent does not know.
 */
export interface HoldingProxy extends AsyncDisposable {
  /** To be used in place of the server's. */
  readonly url: string
  /** The next one that fits; all others pass. */
  stopAt(when: 'REQUEST' | 'ANSWER', fits: (exchange: Exchange) => boolean): Hold
}

interface Barrier {
  readonly when: 'REQUEST' | 'ANSWER'
  readonly fits: (exchange: Exchange) => boolean
  readonly opened: Promise<void>
  readonly answered: PromiseWithResolvers<string>
  holds: boolean
}

export async function startHoldingProxy(serverUrl: string): Promise<HoldingProxy> {
  const barriers = new Set<Barrier>()
  const closing = new AbortController()

  /** The gate that it stands still at. */
  const stop = async (when: Barrier['when'], exchange: Exchange): Promise<Barrier | undefined> => {
    const barrier = [...barriers].find((one) => one.when === when && one.fits(exchange))
    if (!barrier) return undefined
    barriers.delete(barrier)
    barrier.holds = true
    await barrier.opened
    return barrier
  }
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const body = await text(request)
    const before = await stop('REQUEST', { request: body, answer: null })
    // The server notices a client that leaves; but a request that was held back arrives however late.
    const signal = before ? closing.signal : AbortSignal.any([gone.signal, closing.signal])
    const { authorization = '', accept = '*/*' } = request.headers
    const headers = { authorization, accept, 'content-type': 'application/json' }
    const reply = await fetch(serverUrl, { method: 'POST', headers, body, signal })
    const answer = await reply.text()
    const barrier = before ?? (await stop('ANSWER', { request: body, answer }))
    barrier?.answered.resolve(answer)
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' }).end(answer)
  }

  const server = createServer((request, response) => {
    // Either side is gone: the other one sees a connection that breaks.
    pass(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    url: `http://127.0.0.1:${address.port}/graphql`,
    stopAt(when, fits) {
      const opened = Promise.withResolvers<void>()
      const barrier: Barrier = { when, fits, opened: opened.promise, answered: Promise.withResolvers(), holds: false }
      barriers.add(barrier)
      return {
        get holds() {
          return barrier.holds
        },
        letThrough() {
          opened.resolve()
          return barrier.answered.promise
        },
        cut: () => opened.reject(new Error('The connection is cut.')),
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
