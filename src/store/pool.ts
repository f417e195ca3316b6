import { type CustomTypesConfig, type PoolConfig, types } from 'pg'
import type { Logger } from 'pino'
import { type DatabaseDeadlines, DEFAULT_DEADLINES } from '../core/database-deadlines.ts'
import { BoundedPool } from './bounded-pool.ts'
import { Reachability } from './reachability.ts'

export interface PoolOptions {
  readonly max: number
  readonly logger: Logger
  /** Every statement is planned once for each connection, whatever its values. False: as Postgres sees fit. */
  readonly planOnce?: boolean
  /** Milliseconds after which Postgres cancels a statement; absent: it cancels none. */
  readonly statementTimeoutMs?: number
  readonly deadlines?: DatabaseDeadlines
  /** Shared by all pools of a process; absent: the pool has one of its own. */
  readonly reachability?: Reachability
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
/** A process that freezes in a transaction, or is cut off in one, would block a tree or a project for as long. */
const UNFROZEN = '-c idle_in_transaction_session_timeout=10s'
/** Longer than who holds a lock may freeze: what still waits then waits for something that no timeout ends. */
const LOCK_WAIT = '-c lock_timeout=35s'
/** The server's side of a connection whose client has gone without a word. Ignored on Unix sockets. */
const SERVER_KEEP_ALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=5 -c tcp_user_timeout=20s'

/** After an idle time, requests would wait for new connections, and for the plan of each statement on each of them. */
const IDLE_MS = 600_000
/**
 * Of TCP: a quiet connection whose other end is gone breaks ten seconds later, and routers do not drop it. Node has no option
 * for TCP_USER_TIMEOUT, so statements on a dead connection are found by the silence alone.
 */
const KEEP_ALIVE_MS = 5_000

export function createPool(connection: Connection, options: PoolOptions): BoundedPool {
  const { max, logger, deadlines = DEFAULT_DEADLINES, reachability, ...chosen } = options
  const config = withOptions(connection, optionsOf(chosen))
  const { connectTimeoutMs } = deadlines
  return new BoundedPool(
    {
      ...config,
      max,
      idleTimeoutMillis: IDLE_MS,
      // Statements that do not depend on each other's results are pipelined.
      pipeline: true,
      types: PARSERS,
      application_name: 'phaseline',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    },
    {
      deadlines,
      reachability: reachability ?? new Reachability({ connection, connectTimeoutMs, logger }),
      ownsReachability: reachability === undefined,
    },
  )
}

const optionsOf = ({
  planOnce = false,
  statementTimeoutMs = 0,
}: Pick<PoolOptions, 'planOnce' | 'statementTimeoutMs'>): string =>
  [
    ...[HOT, READ_COMMITTED, UNFROZEN, LOCK_WAIT, SERVER_KEEP_ALIVE],
    ...[`-c statement_timeout=${statementTimeoutMs}`, ...(planOnce ? [PLAN_ONCE] : [])],
  ].join(' ')

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
