import type { IncomingMessage, ServerResponse } from 'node:http'
import { PIECE } from '../json/request-text.ts'
import type { Bounds } from '../limits/bounds.ts'
import { release } from '../limits/release.ts'

/** Connections per address that stay open to discard their remaining bytes. Further ones are closed. */
const MAX_AT_ADDRESS = 8

/**
 * Has what still arrives of a request once it is answered read at a slow pace, for the next request of the connection. Node would
 * read it as fast as it comes. Call it before anything is answered.
 */
export function throwAwayRest(
  request: IncomingMessage,
  response: ServerResponse,
  { callers, discards }: Pick<Bounds, 'callers' | 'discards'>,
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && Number(length ?? 0) <= PIECE) return
  const address = callers.addressOf(request)
  const read = async (): Promise<void> => {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      release(chunk)
      await discards.next(address)
    }
  }
  // Before Node's own listener, which reads what nobody else does.
  response.prependListener('finish', () => {
    if (request.complete) return
    if (discards.waitingOf(address) >= MAX_AT_ADDRESS) request.destroy()
    // It fails when the connection closes.
    else read().catch(() => {})
  })
}
