import { type CustomTypesConfig, Pool, type PoolConfig, types } from 'pg'
import type { Logger } from 'pino'
import { CallbackClient } from './callback-client.ts'
import { CorkedSocket } from './corked-socket.ts'

export interface PoolOptions {
  readonly max: number
  readonly logger: Logger
  /** Every statement is planned once for each connection, whatever its values. False: as Postgres sees fit. */
  readonly planOnce?: boolean
}

/** How to reach Postgres: a URL, or the folder of its socket. */
export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'database'>

/**
 * Plans of named statements that were made on empty tables scan them for ever after; so whatever has an index uses it.
 */
const HOT = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'
/** What a lock has let through must see what its last holder has committed. */
const READ_COMMITTED = '-c default_transaction_isolation=read\\ committed'
/** A plan for all values must do for many rows: a bitmap of all of them, sorted, does for few. */
const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_bitmapscan=off'
/** Who stops in the middle of a transaction without a sign to TCP would hold up a tree, or a project, for as long. */
const UNFROZEN = '-c idle_in_transaction_session_timeout=30s'

/** Whoever comes after a rest would wait for new connections, and for the plan of every statement on each of them. */
const IDLE_MS = 600_000
/** What lies between forgets connections that say nothing, some after four minutes; the next statement would wait in vain. */
const KEEP_ALIVE_MS = 60_000

export function createPool(connection: Connection, { max, logger, planOnce = false }: PoolOptions): Pool {
  const pool = new Pool({
    ...withOptions(connection, [HOT, READ_COMMITTED, UNFROZEN, ...(planOnce ? [PLAN_ONCE] : [])].join(' ')),
    max,
    idleTimeoutMillis: IDLE_MS,
    Client: CallbackClient,
    // Statements that do not need each other's answers travel together.
    pipeline: true,
    stream: () => new CorkedSocket(),
    types: PARSERS,
    application_name: 'phaseline',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  const broke = (error: Error) => logger.warn({ reason: error.message }, 'a database connection broke')
  // Without a listener a connection that breaks would end the process: an idle one, which is replaced, …
  pool.on('error', broke)
  // … and one in use between two statements, whose next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** What the URL says itself is kept: the driver would let it replace ours. */
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
