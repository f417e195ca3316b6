import { createClient, type Client as SocketClient } from 'graphql-ws/client'
import type { ClientOptions } from './client.ts'
import { SocketToken } from './socket-token.ts'
import { tokenSource } from './token-source.ts'

/**
 * A client of graphql-ws whose token is renewed while its socket is open, for tools that want one, such as GraphiQL. It opens
 * the socket with the first subscription and closes it after the last.
 * @param url over ws or wss
 */
export function createRenewingSocket({ url, token }: Pick<ClientOptions, 'url' | 'token'>): SocketClient {
  const renewed = new SocketToken(tokenSource(token))
  let open: Pick<WebSocket, 'send'> | undefined
  return createClient({
    url,
    connectionParams: renewed.params,
    on: {
      connected: (socket, life) => {
        open = socket as WebSocket
        renewed.accepted(open, life)
      },
      pong: (received, life) => {
        if (received && open && life) renewed.accepted(open, life)
      },
      closed: () => renewed.closed(),
    },
  })
}
