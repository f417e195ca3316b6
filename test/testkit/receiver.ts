import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageIn } from './described.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly status: number
}
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Received[]
  /** The status of the answer, with its headers and its body; null: it is lost; `hangs`: there is none. */
  answer: (
    got: Pick<Received, 'headers' | 'body'>,
  ) => number | null | 'hangs' | readonly [status: number, headers: Record<string, string>, body?: string]
}

/** A server that takes what is posted, and answers as it is asked to. At its end, each message must be one of asyncapi.json. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const answer = receiver.answer({ headers: request.headers, body })
    const [status, headers, said] = typeof answer === 'object' && answer !== null ? answer : [answer, {}]
    received.push({ headers: request.headers, body, status: typeof status === 'number' ? status : 0 })
    if (status === 'hangs') return
    if (status === null) request.socket.destroy()
    else response.writeHead(status, headers).end(said)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    answer: () => 204,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      for (const { headers, body } of received) if (headers['user-agent'] === 'Phaseline') messageIn(headers, body)
    },
  }
  return receiver
}
