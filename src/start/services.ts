import type { Config } from '../config.ts'
import type { Signal } from '../core/ports/signal.ts'
import { createMemorySignal } from '../log/signal/memory.ts'
import type { Logger } from '../logger.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../store/embedded/index.ts'
import type { Connection } from '../store/pool.ts'

/** The configured database, or an embedded one that ends with this process. */
export async function connectDatabase(
  { databaseUrl, dataDir }: Config,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<{ readonly connection: Connection; readonly embedded: EmbeddedPostgres | null }> {
  if (databaseUrl) return { connection: { connectionString: databaseUrl.reveal() }, embedded: null }
  const embedded = await startEmbeddedPostgres({ dataDir, logger, signal })
  return { connection: embedded.connection, embedded }
}

/** Redis between processes, or the memory of a single one. */
export async function openSignal({ redisUrl: url }: Config, logger: Logger): Promise<Signal> {
  if (!url) return createMemorySignal({ logger })
  // Its client is a good part of everything that a server loads, and a single process needs none of it.
  const { createRedisSignal } = await import('../log/signal/redis.ts')
  return createRedisSignal({ url: url.reveal(), logger })
}
