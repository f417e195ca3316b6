/**
 * Close codes of WebSockets, beside those of graphql-transport-ws. After 1012, 1013, RIGHTS_CHANGED and TOO_SLOW a client should reconnect
 * and resume after its last cursor; graphql-ws reconnects by itself. Reasons never hold an error's text.
 */
export const CLOSE = {
  /** More bytes than a socket may send before its token is accepted. */
  TOO_LARGE: { code: 1009, reason: 'Too many bytes before the token' },
  /** The server shuts down; reconnect to another one, or to its successor. */
  SERVICE_RESTART: { code: 1012, reason: 'Service restart' },
  /** This server has its maximum number of connections: reconnect later. */
  TOO_MANY_SOCKETS: { code: 1013, reason: 'Too many connections' },
  /** The messages of a caller have too many bytes at a time: reconnect later. */
  TOO_MANY_BYTES: { code: 1013, reason: 'Too many bytes at a time' },
  /** A caller sends messages much faster than they are read: reconnect later. */
  TOO_MANY_MESSAGES: { code: 1013, reason: 'Too many messages at a time' },
  /** The token cannot be checked at the moment: reconnect later. */
  UNAVAILABLE: { code: 1013, reason: 'Try again later' },
  /** No message of the protocol. */
  INVALID_MESSAGE: { code: 4400, reason: 'Invalid message' },
  /** Neither connection_init nor the request of the upgrade has a token in a form that is read. */
  TOKEN_MISSING: { code: 4403, reason: 'Send {"authorization": "Bearer <token>"} in connection_init, or as a header' },
  /** The token is invalid, expired or revoked. */
  FORBIDDEN: { code: 4403, reason: 'Forbidden' },
  /** No connection_init in time. */
  INIT_TIMEOUT: { code: 4408, reason: 'Connection initialisation timeout' },
  /** The principal has other rights now: reconnect and resume with them. */
  RIGHTS_CHANGED: { code: 4410, reason: 'Rights changed: resume after the last sequence' },
  /** The client has not read its messages for too long. */
  TOO_SLOW: { code: 4413, reason: 'Too slow: resume after the last sequence' },
  INTERNAL: { code: 4500, reason: 'Internal server error' },
} as const
