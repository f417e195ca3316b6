import { type CustomTypesConfig, Pool, type PoolConfig, types } from 'pg'
import type { Logger } from 'pino'
import { CallbackClient } from './callback-client.ts'
import { CorkedSocket } from './corked-socket.ts'

export interface PoolOptions {
  readonly max: number
  readonly logger: Logger
  /** Every statement is planned once for each connection, whatever its values. False: as Postgres sees fit. */
  readonly planOnce?: boolean
  /** Milliseconds after which Postgres cancels a statement; absent: it cancels none. */
  readonly statementTimeoutMs?: number
}

/** How to reach Postgres: a URL, or the folder of its socket. */
export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'database'>

/**
 * Plans of named statements that are made on empty tables would scan them ever after, so plans use an index where there is one.
 */
const HOT = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'
/** A statement after a lock must see what the lock's previous holder has committed. */
const READ_COMMITTED = '-c default_transaction_isolation=read\\ committed'
/** A plan for all values must be good for many rows; a bitmap scan sorts all of them, which only pays for few. */
const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_bitmapscan=off'
/** A process that freezes in a transaction, while TCP notices nothing, would block a tree or a project for as long. */
const UNFROZEN = '-c idle_in_transaction_session_timeout=30s'

/** After an idle time, requests would wait for new connections, and for the plan of each statement on each of them. */
const IDLE_MS = 600_000
/** Routers drop idle connections, some after four minutes; the next statement would wait in vain. */
const KEEP_ALIVE_MS = 60_000

export function createPool(connection: Connection, { max, logger, ...chosen }: PoolOptions): Pool {
  const pool = new Pool({
    ...withOptions(connection, optionsOf(chosen)),
    max,
    idleTimeoutMillis: IDLE_MS,
    Client: CallbackClient,
    // Statements that do not depend on each other's results are pipelined.
    pipeline: true,
    stream: () => new CorkedSocket(),
    types: PARSERS,
    application_name: 'phaseline',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  const broke = (error: Error) => logger.warn({ reason: error.message }, 'a database connection broke')
  // Without a listener, a connection that breaks would end the process. The pool replaces an idle one.
  pool.on('error', broke)
  // On one in use, the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const optionsOf = ({
  planOnce = false,
  statementTimeoutMs = 0,
}: Pick<PoolOptions, 'planOnce' | 'statementTimeoutMs'>): string =>
  [HOT, READ_COMMITTED, UNFROZEN, `-c statement_timeout=${statementTimeoutMs}`, ...(planOnce ? [PLAN_ONCE] : [])].join(
    ' ',
  )

/** Adds ours to the options of the URL: the driver would let those replace ours. */
function withOptions({ connectionString, ...connection }: Connection, ours: string): PoolConfig {
  if (connectionString === undefined) return { ...connection, options: ours }
  const url = new URL(connectionString)
  url.searchParams.set('options', [ours, url.searchParams.get('options')].filter(Boolean).join(' '))
  return { ...connection, connectionString: url.href }
}

/** Counts and sequences are numbers here, and stay within safe integers by design; more would be silently wrong. */
function toSafeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} of the database is no safe integer`)
  return number
}

const PARSERS: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === types.builtins.INT8 && format !== 'binary' ? toSafeInteger : types.getTypeParser(oid, format),
}
