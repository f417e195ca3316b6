import { type CustomTypesConfig, types } from 'pg'
import type { Logger } from 'pino'
import { type DatabaseDeadlines, DEFAULT_DEADLINES } from '../core/database-deadlines.ts'
import { BoundedPool } from './bounded-pool.ts'
import { Reachability } from './reachability.ts'
import { type Connection, DatabaseServers } from './servers.ts'
import { optionsOf } from './session-settings.ts'

export interface PoolOptions {
  readonly max: number
  /** The pool's name in errors about a connection that did not become free; absent: `shared`. */
  readonly name?: string
  readonly logger: Logger
  /** Every statement is planned once for each connection, whatever its values. False: as Postgres sees fit. */
  readonly planOnce?: boolean
  /** Milliseconds after which Postgres cancels a statement; absent: it cancels none. */
  readonly statementTimeoutMs?: number
  /** Milliseconds after which a statement stops waiting for a lock; absent: longer than who holds it may be frozen. */
  readonly lockTimeoutMs?: number
  readonly deadlines?: DatabaseDeadlines
  /** Shared by all pools of a process; absent: the pool has one of its own. */
  readonly reachability?: Reachability
}

export type { Connection } from './servers.ts'

/** After an idle time, requests would wait for new connections, and for the plan of each statement on each of them. */
const IDLE_MS = 600_000
/**
 * TCP keep-alive: a quiet connection whose other end is gone breaks ten seconds later, and routers do not drop it. Node
 * has no option for TCP_USER_TIMEOUT, so only silence reveals a statement on a dead connection.
 */
const KEEP_ALIVE_MS = 5_000

export function createPool(connection: Connection | DatabaseServers, options: PoolOptions): BoundedPool {
  const { max, name = 'shared', logger, deadlines = DEFAULT_DEADLINES, reachability, ...chosen } = options
  const servers = connection instanceof DatabaseServers ? connection : new DatabaseServers({ connection })
  const { connectTimeoutMs } = deadlines
  return new BoundedPool(
    {
      options: optionsOf(chosen),
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
      name,
      deadlines,
      servers,
      reachability: reachability ?? new Reachability({ servers, connectTimeoutMs, logger }),
      ownsReachability: reachability === undefined,
    },
  )
}

/** Counts and sequences are numbers here, and stay within safe integers by design; more would be silently wrong. */
function toSafeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} of the database is no safe integer`)
  return number
}

const parseBytes: (text: string) => Buffer = types.getTypeParser(types.builtins.BYTEA)
/** Has memory of its own: Node takes small buffers from blocks of 64 KiB, and one that is kept would keep its block. */
const toBytes = (text: string): Buffer => Buffer.from(new Uint8Array(parseBytes(text)).buffer)

const TEXT_PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [types.builtins.INT8]: toSafeInteger,
  [types.builtins.BYTEA]: toBytes,
}
const PARSERS: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format === 'binary' ? undefined : TEXT_PARSERS[oid]) ?? types.getTypeParser(oid, format),
}
