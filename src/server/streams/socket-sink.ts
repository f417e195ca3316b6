import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { CLOSE } from '../close-codes.ts'
import { ClientSink } from './client-sink.ts'
import { framesOf } from './frames.ts'

/** A client that does not read does not read a close frame either. */
const CLOSE_WITHIN_MS = 1_000

/**
 * Writes frames past `ws`, straight to the connection. Both write whole frames at once, so that they never interleave; `ws`
 * queues frames only for compression and blobs, which this server does not use.
 */
export const socketSink = (socket: WebSocket, stream: Duplex, stalledAfterMs?: number): ClientSink =>
  new ClientSink({
    stream,
    stalledAfterMs,
    encode: framesOf,
    isOpen: () => socket.readyState === socket.OPEN,
    giveUp: () => {
      socket.close(CLOSE.TOO_SLOW.code, CLOSE.TOO_SLOW.reason)
      setTimeout(() => socket.terminate(), CLOSE_WITHIN_MS).unref()
    },
  })
