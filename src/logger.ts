import pino from 'pino'

export type Logger = pino.Logger

/** Properties that may hold a secret, down to the second level of a logged object. Ours are not deeper. */
const SECRET = [
  'authorization',
  'token',
  'password',
  'secret',
  'secretKeys',
  'fence',
  'config',
  'databaseUrl',
  'redisUrl',
]
/** Parts of a database error that contain a whole row if a constraint is violated. */
const DATABASE_ERROR = ['err.detail', 'err.where', 'err.internalQuery']
const redact = [...SECRET.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), ...DATABASE_ERROR]

/** JSON lines on stderr: stdout belongs to what a command prints. */
export const createLogger = (level: string, destination: pino.DestinationStream = pino.destination(2)): Logger =>
  pino({ level, redact }, destination)
