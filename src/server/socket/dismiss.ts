import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CLOSE } from './close-codes.ts'

/**
 * Closes a socket and reads nothing more of it: `ws` alone would go on to collect its present message. What the client still
 * sends waits at the client, until `ws` destroys the connection.
 */
export function dismiss(socket: WebSocket, stream: Socket, { code, reason }: (typeof CLOSE)[keyof typeof CLOSE]): void {
  socket.on('error', () => {})
  socket.close(code, reason)
  stream.removeAllListeners('data')
  stream.pause()
  stream.end()
}
