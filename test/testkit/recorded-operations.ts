import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface RecordedOperations extends AsyncDisposable {
  /** The address through which requests are recorded. */
  readonly url: string
  /** Names of the operations so far, in their order. */
  readonly names: readonly string[]
}

/**
 * Passes GraphQL requests over HTTP on to a server, and records which operations they have.
 * @param sent their bodies as the server gets them
 */
export async function recordOperations(
  target: string,
  sent: (body: string) => string = (body) => body,
): Promise<RecordedOperations> {
  const names: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    names.push(/(?:query|mutation) (\w+)/.exec(body)?.[1] ?? '')
    const { authorization = '', accept = '' } = request.headers
    const headers = { authorization, accept, 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body: sent(body) })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    names,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
