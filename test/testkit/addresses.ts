import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = readonly [status: number, headers: Record<string, string>, body: string] | 'endless' | null
interface Asked {
  readonly headers: IncomingHttpHeaders
  /** By the machine's monotonic clock. */
  readonly atMs: number
}
export interface AddressServer extends AsyncDisposable {
  readonly url: string
  /** Sets the answer of a path; null: the connection is lost; `endless`: the body never ends. Others answer 404. */
  answer(path: string, answer: () => Answer | Promise<Answer>): void
  asked(path: string): readonly Asked[]
}

/** A server with addresses that gates ask. */
export async function startAddresses(): Promise<AddressServer> {
  const answers = new Map<string, () => Answer | Promise<Answer>>()
  const asked = new Map<string, Asked[]>()
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').slice(1).replace(/\?.*$/, '')
    const { headers } = request
    asked.set(path, [...(asked.get(path) ?? []), { headers, atMs: performance.now() }])
    const answer = (await answers.get(path)?.()) ?? (answers.has(path) ? null : ([404, {}, ''] as const))
    if (answer === null) request.socket.destroy()
    else if (answer === 'endless') drip(response)
    else response.writeHead(answer[0], answer[1]).end(answer[2])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    answer: (path, answer) => answers.set(path, answer),
    asked: (path) => asked.get(path) ?? [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function drip(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write('x'), 100)
  response.on('close', () => clearInterval(timer))
}
