import type { ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import { failure } from '../../graphql/schema/failures.ts'
import { TOKEN_WRONG } from '../auth/credentials.ts'
import { EVENTS } from '../endpoints/endpoints.ts'
import type { Account } from '../limits/accounts.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { Allocate } from '../streams/buffer-pool.ts'
import { ClientSink } from '../streams/client-sink.ts'

const BEFORE = Buffer.from('event: next\ndata: ')
const AFTER = Buffer.from('\n\n')
/** A heartbeat: keeps proxies from closing a silent connection, and notices a broken one. */
const COMMENT = Buffer.from(':\n\n')
const COMMENT_MS = 12_000
const COMPLETE = 'event: complete\ndata:\n\n'

/** Server-sent events in graphql-sse's distinct connections mode. One operation per response. */
function eventsOf(_id: string, payloads: readonly Buffer[], allocate: Allocate = Buffer.allocUnsafe): Buffer {
  const pieces = payloads.flatMap((payload) => [BEFORE, payload, AFTER])
  const events = allocate(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) at += piece.copy(events, at)
  return events
}

/**
 * Runs an operation into a response, until either ends. A subscription itself writes its messages; the result of anything else
 * is the only one.
 */
export async function sendEvents(
  response: ServerResponse,
  bounds: Bounds & { readonly account: () => Account },
  run: (sink: ClientSink) => Promise<AsyncIterator<unknown> | ExecutionResult>,
): Promise<void> {
  const sink = new ClientSink({
    ...bounds,
    stream: response,
    encode: eventsOf,
    isOpen: () => !response.destroyed && !response.writableEnded,
    giveUp: () => response.destroy(),
  })
  response.setHeader('content-type', EVENTS)
  // Keeps nginx from buffering events.
  response.writeHead(200, { 'x-accel-buffering': 'no' })
  response.write(COMMENT)
  const timer = setInterval(() => {
    if (sink.isOpen) response.write(COMMENT)
  }, COMMENT_MS)
  try {
    const running = await run(sink)
    if ('next' in running) await untilEither(running, response)
    else sink.write(eventsOf('', [Buffer.from(JSON.stringify(running))]))
  } finally {
    clearInterval(timer)
  }
  if (sink.isOpen) response.end(COMPLETE)
}

/**
 * Ends a stream of events whose server shuts down: without an error of the connection, and without "complete", which would say
 * that there is nothing more to come.
 */
export function leaveEvents(response: ServerResponse): void {
  if (!response.writableEnded) response.end()
}

const REVOKED = JSON.stringify({ errors: [failure('UNAUTHENTICATED', TOKEN_WRONG)] })

/** Ends a stream of events whose token is not valid any more with an error that says so. Other answers are cut off. */
export function endEvents(response: ServerResponse): void {
  if (response.getHeader('content-type') !== EVENTS) return void response.destroy()
  response.write(eventsOf('', [Buffer.from(REVOKED)]))
  response.end(COMPLETE)
}

async function untilEither(iterator: AsyncIterator<unknown>, response: ServerResponse): Promise<void> {
  response.once('close', () => void iterator.return?.())
  try {
    if (!response.destroyed) await iterator.next()
  } finally {
    await iterator.return?.()
  }
}
