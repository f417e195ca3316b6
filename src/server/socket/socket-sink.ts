import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Account } from '../limits/accounts.ts'
import type { Bounds } from '../limits/bounds.ts'
import { ClientSink } from '../streams/client-sink.ts'
import { framesOf } from '../streams/frames.ts'
import { CLOSE } from './close-codes.ts'

/**
 * Writes frames past `ws`, straight to the connection. Both write whole frames at once, so that they never interleave; `ws`
 * queues frames only for compression and blobs, which this server does not use.
 */
export const socketSink = (
  socket: WebSocket,
  stream: Duplex,
  bounds: Bounds & { readonly account: () => Account },
): ClientSink =>
  new ClientSink({
    ...bounds,
    stream,
    encode: framesOf,
    isOpen: () => socket.readyState === socket.OPEN,
    // A client that does not read does not read a close frame either: it is disconnected soon.
    giveUp: () => socket.close(CLOSE.TOO_SLOW.code, CLOSE.TOO_SLOW.reason),
  })
