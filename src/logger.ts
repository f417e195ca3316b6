import pino from 'pino'
import { isDatabaseUnavailable } from './core/database-unavailable.ts'
import { escapeHidden } from './core/hidden-text.ts'
import { readableLog } from './core/readable-log.ts'
import { traceFields } from './tracing/spans.ts'

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

/**
 * A failure because the database is away adds nothing to the line of the outage, and would fill the log with stacks.
 */
function tellsOfOutage(details: unknown): boolean {
  if (typeof details !== 'object' || details === null || !('err' in details)) return false
  return isDatabaseUnavailable(details.err)
}
const hooksOf = (linesOf: (json: string) => readonly string[]): NonNullable<pino.LoggerOptions['hooks']> => ({
  logMethod(args, method) {
    if (!tellsOfOutage(args[0])) method.apply(this, args)
  },
  streamWrite: (line) =>
    linesOf(line.trimEnd())
      .map((one) => `${escapeHidden(one)}\n`)
      .join(''),
})
const HOOKS = { json: hooksOf((json) => [json]), text: hooksOf(readableLog) } as const

/** Lines of JSON, or for people, on stderr: stdout belongs to what a command prints. */
export const createLogger = (
  level: string,
  destination: pino.DestinationStream = pino.destination(2),
  format: keyof typeof HOOKS = 'json',
): Logger => pino({ level, redact, hooks: HOOKS[format], mixin: traceFields }, destination)

/** The log of this process on stderr: for people if that is a terminal, unless the format is configured. */
export const createProcessLogger = (level: string, format: keyof typeof HOOKS | undefined): Logger =>
  createLogger(level, pino.destination(2), format ?? (process.stderr.isTTY ? 'text' : 'json'))
