import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CLOSE } from './close-codes.ts'

/**
 * Closes a socket and stops reading it: `ws` alone would collect the rest of its present message. The remaining data
 * stays at the client until `ws` destroys the connection.
 */
export function dismiss(socket: WebSocket, stream: Socket, { code, reason }: (typeof CLOSE)[keyof typeof CLOSE]): void {
  socket.on('error', () => {})
  socket.close(code, reason)
  stream.removeAllListeners('data')
  stream.pause()
  stream.end()
}
