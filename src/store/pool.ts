import { Pool, type PoolConfig, types } from 'pg'
import type { Logger } from 'pino'

const INT8 = 20
/** Counts and sequences stay within safe integers by design; the API says so. */
types.setTypeParser(INT8, (text) => Number(text))

export interface PoolOptions {
  readonly max: number
  readonly logger: Logger
}

/** How to reach Postgres: a URL, or the folder of its socket. */
export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'database'>

/**
 * Plans of named statements that were made on empty tables scan them for ever after; so whatever has an index uses it.
 */
const HOT = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'

export function createPool(connection: Connection, { max, logger }: PoolOptions): Pool {
  const pool = new Pool({ ...connection, max, options: HOT, application_name: 'phaseline' })
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection broke'))
  return pool
}
