import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CLOSE } from './close-codes.ts'

/** Closes a socket and ignores what it still sends: `ws` alone would go on to collect its present message. */
export function dismiss(socket: WebSocket, stream: Socket, { code, reason }: (typeof CLOSE)[keyof typeof CLOSE]): void {
  socket.on('error', () => {})
  socket.close(code, reason)
  stream.removeAllListeners('data')
  stream.resume()
  stream.end()
}
