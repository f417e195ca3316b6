import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'
import { createPool, type PoolOptions } from '../store/pool.ts'
import { Reachability } from '../store/reachability.ts'
import { checkPooler } from './check-pooler.ts'
import { connectDatabase } from './services.ts'
import { waitForDatabase } from './wait-for-database.ts'

/** The way to the database, and all connections of this process; disposing ends them, and an embedded one. */
export interface Database extends AsyncDisposable {
  openPool(max: number, options?: Pick<PoolOptions, 'name' | 'planOnce' | 'statementTimeoutMs' | 'lockTimeoutMs'>): Pool
  /** From now on nothing waits for a database that is away. */
  closing(): void
  /** From now on an abort alone is not yet the end: what runs may still end in order. */
  started(): void
}

/** Resolves once the database answers. An abort gives up, now or later: nothing waits any more for a database that is away. */
export async function openDatabase(
  config: Config,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<Database> {
  await using parts = new AsyncDisposableStack()
  const { deadlines } = config
  const { servers, embedded } = await connectDatabase(config, { logger, signal })
  parts.use(embedded)
  const { connectTimeoutMs } = deadlines
  const reachability = parts.use(new Reachability({ servers, connectTimeoutMs, logger }))
  await waitForDatabase(reachability, { deadlines, logger, signal })
  if (!embedded) await checkPooler({ servers, connectTimeoutMs })
  const closing = () => reachability.closing()
  const started = () => signal.removeEventListener('abort', closing)
  signal.addEventListener('abort', closing)
  parts.defer(started)
  const all = parts.move()
  return {
    closing,
    started,
    openPool: (max, options = {}) =>
      all.adopt(createPool(servers, { max, logger, deadlines, reachability, ...options }), (pool) => pool.end()),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
