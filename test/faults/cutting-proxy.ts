import { connect, createServer, type Socket } from 'node:net'

/** An unreliable proxy between clients and gateways. Each connection goes to a gateway that answers. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /** Connections that have reached each gateway so far. */
  readonly served: readonly number[]
  /** Cuts one connection at random, both ways, without a close frame; false when there is none. */
  cutOne(): boolean
}

export async function startCuttingProxy(targets: readonly number[]): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  const served = targets.map(() => 0)
  let next = 0

  const reach = (client: Socket, attempt: number): void => {
    const i = (next + attempt) % targets.length
    const gateway = connect({ port: targets[i] ?? 0, host: '127.0.0.1', noDelay: true })
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
    reach(client, 0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    port: address.port,
    served,
    cutOne() {
      const victim = [...open][Math.floor(Math.random() * open.size)]
      victim?.destroy()
      return victim !== undefined
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
