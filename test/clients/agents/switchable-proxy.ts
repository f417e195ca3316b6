import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy of connections, for what a client does while its server is away, or is another one. */
export interface SwitchableProxy extends AsyncDisposable {
  readonly url: string
  /** Cuts all connections. New ones lead to this server; with null they are cut as well. */
  switchTo(url: string | null): void
}

export async function startSwitchableProxy(url: string): Promise<SwitchableProxy> {
  const clients = new Set<Socket>()
  let port: number | null = Number(new URL(url).port)
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {})
    if (port === null) return void client.destroy()
    clients.add(client)
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    client.pipe(upstream).pipe(client)
    upstream.once('error', () => client.destroy())
    client.once('close', () => {
      clients.delete(client)
      upstream.destroy()
    })
  })
  const cut = (): void => {
    for (const client of clients) client.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    switchTo(next) {
      port = next === null ? null : Number(new URL(next).port)
      cut()
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
