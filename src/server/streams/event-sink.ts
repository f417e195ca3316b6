import type { ServerResponse } from 'node:http'
import { failure } from '../../graphql/schema/failures.ts'
import type { Bounds } from '../bounds.ts'
import { TOKEN_WRONG } from '../credentials.ts'
import type { Allocate } from './buffer-pool.ts'
import { ClientSink } from './client-sink.ts'

const BEFORE = Buffer.from('event: next\ndata: ')
const AFTER = Buffer.from('\n\n')
/** A heartbeat: keeps proxies from closing a silent connection, and notices a broken one. */
const COMMENT = Buffer.from(':\n\n')
const COMMENT_MS = 12_000
const COMPLETE = 'event: complete\ndata:\n\n'
const EVENTS = 'text/event-stream'

/** Server-sent events in graphql-sse's distinct connections mode. One operation per response. */
function eventsOf(_id: string, payloads: readonly Buffer[], allocate: Allocate = Buffer.allocUnsafe): Buffer {
  const pieces = payloads.flatMap((payload) => [BEFORE, payload, AFTER])
  const events = allocate(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) at += piece.copy(events, at)
  return events
}

/** Runs a subscription into a response, until either ends. The subscription itself writes its messages. */
export async function sendEvents(
  response: ServerResponse,
  bounds: Bounds,
  subscribe: (sink: ClientSink) => Promise<AsyncIterator<unknown> | object>,
): Promise<void> {
  const sink = new ClientSink({
    ...bounds,
    stream: response,
    encode: eventsOf,
    isOpen: () => !response.destroyed && !response.writableEnded,
    giveUp: () => response.destroy(),
  })
  const subscribed = await subscribe(sink)
  response.setHeader('content-type', EVENTS)
  response.writeHead(200, {
    // Keeps nginx from buffering events.
    'x-accel-buffering': 'no',
  })
  response.write(COMMENT)
  open.add(response)
  if ('next' in subscribed) await untilEither(subscribed as AsyncIterator<unknown>, response)
  else sink.write(eventsOf('', [Buffer.from(JSON.stringify(subscribed))]))
  if (sink.isOpen) response.end(COMPLETE)
}

/** Streams whose subscription has begun. */
const open = new WeakSet<ServerResponse>()

/**
 * Ends a stream of events whose server shuts down: without an error of the connection, and without "complete", which would say
 * that there is nothing more to come. Those that a library writes are cut off. Answers that have not begun are let be.
 */
export function leaveEvents(response: ServerResponse): void {
  if (response.writableEnded) return
  if (open.has(response)) response.end()
  else if (response.headersSent && String(response.getHeader('content-type')).startsWith(EVENTS)) response.destroy()
}

const REVOKED = JSON.stringify({ errors: [failure('UNAUTHENTICATED', TOKEN_WRONG)] })

/** Ends a stream of events whose token is not valid any more with an error that says so. Other answers are cut off. */
export function endEvents(response: ServerResponse): void {
  if (response.getHeader('content-type') !== EVENTS) return void response.destroy()
  response.write(eventsOf('', [Buffer.from(REVOKED)]))
  response.end(COMPLETE)
}

async function untilEither(iterator: AsyncIterator<unknown>, response: ServerResponse): Promise<void> {
  const timer = setInterval(() => {
    if (!response.writableEnded) response.write(COMMENT)
  }, COMMENT_MS)
  response.once('close', () => void iterator.return?.())
  try {
    if (!response.destroyed) await iterator.next()
  } finally {
    clearInterval(timer)
    await iterator.return?.()
  }
}
