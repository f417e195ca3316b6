import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const PROBE_MS = 50

/** A load balancer of connections, which asks servers on this machine whether they are ready. */
export interface Balancer extends AsyncDisposable {
  readonly port: number
  /** Takes one more server. */
  add(port: number): void
  /** Connections that a server was given so far. */
  served(port: number): number
}

export async function startBalancer(first: number): Promise<Balancer> {
  const targets = new Map<number, { isReady: boolean; served: number }>()
  const stop = new AbortController()
  const probing: Promise<void>[] = []
  const probe = async (port: number): Promise<void> => {
    const target = { isReady: false, served: 0 }
    targets.set(port, target)
    while (!stop.signal.aborted) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
      target.isReady = answer?.ok ?? false
      await answer?.body?.cancel()
      await delay(PROBE_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const add = (port: number) => void probing.push(probe(port))
  let next = 0
  const server = createServer({ noDelay: true }, (client) => {
    const ready = [...targets].filter(([, { isReady }]) => isReady)
    const [port, target] = ready[next++ % ready.length] ?? []
    client.on('error', () => undefined)
    if (port === undefined || target === undefined) return void client.destroy()
    target.served += 1
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    // An end is passed on as an end, after all that came before it.
    client.pipe(upstream).pipe(client)
    upstream.once('error', () => client.resetAndDestroy())
    client.once('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  add(first)
  return {
    port: address.port,
    add,
    served: (port) => targets.get(port)?.served ?? 0,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(probing)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
