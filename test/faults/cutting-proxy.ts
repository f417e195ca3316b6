import { connect, createServer, type Socket } from 'node:net'
import { seeded } from '../testkit/seed.ts'

const random = seeded()

/** An unreliable proxy between clients and servers of one host. Each connection goes to a server that answers. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /** Connections that have reached each server so far. */
  readonly served: readonly number[]
  /** Cuts one connection at random, both ways, without a close frame; false when there is none. */
  cutOne(): boolean
  /** Cuts all connections, and takes no new ones until the end of it. */
  cutAll(): Disposable
}

export async function startCuttingProxy(targets: readonly number[], host = '127.0.0.1'): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  const served = targets.map(() => 0)
  let next = 0
  let isCut = false

  const reach = (client: Socket, attempt: number): void => {
    const i = (next + attempt) % targets.length
    const gateway = connect({ port: targets[i] ?? 0, host, noDelay: true })
    gateway.once('connect', () => {
      served[i] = (served[i] ?? 0) + 1
      open.add(client)
      client.pipe(gateway).pipe(client)
      gateway.once('close', () => client.destroy())
    })
    gateway.once('error', () => {
      if (gateway.connecting || attempt + 1 >= targets.length || open.has(client)) client.destroy()
      else reach(client, attempt + 1)
    })
    client.once('close', () => {
      open.delete(client)
      gateway.destroy()
    })
  }
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined)
    next += 1
    if (isCut) client.destroy()
    else reach(client, 0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    port: address.port,
    served,
    cutOne() {
      const victim = [...open][Math.floor(random() * open.size)]
      victim?.destroy()
      return victim !== undefined
    },
    cutAll() {
      isCut = true
      for (const client of open) client.destroy()
      return {
        [Symbol.dispose]() {
          isCut = false
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
