import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Failure } from './vectors.ts'

/** A server that fails the first claim, and has no work afterwards. */
export interface FailingServer extends AsyncDisposable {
  readonly url: string
  /** The tokens of the claims. */
  readonly tokens: readonly (string | undefined)[]
  /** The lengths of the leases that they ask for. */
  readonly leasesMs: readonly number[]
  /** When each claim has come, in milliseconds. */
  readonly claims: readonly number[]
  /** The requests that a redirect has led to. */
  readonly followed: readonly string[]
}

export async function startFailingServer({
  status,
  location,
  body,
}: Pick<Failure, 'status' | 'location' | 'body'>): Promise<FailingServer> {
  const claims: number[] = []
  const tokens: (string | undefined)[] = []
  const leasesMs: number[] = []
  const followed: string[] = []
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    if (request.url !== '/graphql') followed.push(`${request.method} ${request.url}`)
    // An agent may ask for offers by a WebSocket, too.
    if (!sent.includes('claimWork')) return void response.destroy()
    claims.push(performance.now())
    const { variables } = JSON.parse(sent) as { variables: { input: { leaseMs: number } } }
    leasesMs.push(variables.input.leaseMs)
    tokens.push(request.headers.authorization?.replace(/^Bearer /, ''))
    if (claims.length > 1) {
      const data = { claimWork: { __typename: 'ClaimedWork', items: [], waitedMs: 0 } }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
    }
    if (status === 0) return void response.destroy()
    response.writeHead(status, location === undefined ? {} : { location })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    ...{ tokens, leasesMs, claims, followed },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
