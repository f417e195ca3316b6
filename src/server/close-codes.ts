/**
 * With what a WebSocket is closed, beside the codes of graphql-transport-ws (4400 to 4429). After all but FORBIDDEN a
 * client does well to connect again and resume after the last sequence that it has seen; graphql-ws does so by itself.
 */
export const CLOSE = {
  /** The server goes away; another one, or the next one, is there for you. */
  SERVICE_RESTART: { code: 1012, reason: 'Service restart' },
  /** This gateway holds as many connections as it may: wait a moment. */
  TRY_AGAIN_LATER: { code: 1013, reason: 'Too many connections' },
  /** The token is not valid, or not any more. */
  FORBIDDEN: { code: 4403, reason: 'Forbidden' },
  /** What was sent has not been read for too long. */
  TOO_SLOW: { code: 4413, reason: 'Too slow: resume after the last sequence' },
} as const
