/**
 * Close codes of WebSockets, beside those of graphql-transport-ws (4400 to 4429). After all but FORBIDDEN a client should
 * reconnect and resume after its last cursor; graphql-ws reconnects by itself.
 */
export const CLOSE = {
  /** The server shuts down; reconnect to another one, or to its successor. */
  SERVICE_RESTART: { code: 1012, reason: 'Service restart' },
  /** This server has its maximum number of connections: reconnect later. */
  TRY_AGAIN_LATER: { code: 1013, reason: 'Too many connections' },
  /** The token is invalid, expired or revoked. */
  FORBIDDEN: { code: 4403, reason: 'Forbidden' },
  /** The client has not read its messages for too long. */
  TOO_SLOW: { code: 4413, reason: 'Too slow: resume after the last sequence' },
} as const
