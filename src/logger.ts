import pino from 'pino'

export type Logger = pino.Logger

/** What may hold a secret, wherever it stands in an object that is logged; two levels deep, as far as ours go. */
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
/** With a whole row in it, if a constraint is violated. */
const DATABASE_ERROR = ['err.detail', 'err.where', 'err.internalQuery']
const redact = [...SECRET.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), ...DATABASE_ERROR]

/** JSON lines on stderr: stdout belongs to what a command prints. */
export const createLogger = (level: string, destination: pino.DestinationStream = pino.destination(2)): Logger =>
  pino({ level, redact }, destination)
