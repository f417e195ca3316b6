import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refusals } from '../limits/refusals.ts'

/** Statuses of requests that Node's parser rejects. Everything else is not HTTP. */
const STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers requests that never reach a route: they take too long, or cannot be parsed. Node would do the same, uncounted. */
export function refuseBrokenRequests(http: Server, refusals: Refusals): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  http.on('request', ({ socket }, response) => answers.set(socket, response))
  http.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    const status = STATUS[code] ?? 400
    if (status === 408) refusals.count('REQUEST_TIMEOUT')
    const answer = answers.get(stream)
    const isAnswering = answer?.headersSent === true && !answer.writableFinished
    if (!stream.writable || isAnswering) stream.destroy()
    else stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n\r\n`, () => stream.destroy())
  })
}
