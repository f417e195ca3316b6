import type { Config } from '../config.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Secret } from '../core/secret.ts'
import { createMemorySignal } from '../log/signal/memory.ts'
import type { Logger } from '../logger.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../store/embedded/index.ts'
import { DatabaseServers } from '../store/servers.ts'

/** The configured database, or an embedded one that ends with this process. */
export async function connectDatabase(
  { databaseUrl, readDatabaseUrl, dataDir }: Config,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<{ readonly servers: DatabaseServers; readonly embedded: EmbeddedPostgres | null }> {
  if (databaseUrl) return { servers: serversOf(databaseUrl, readDatabaseUrl), embedded: null }
  const embedded = await startEmbeddedPostgres({ dataDir, logger, signal })
  return { servers: new DatabaseServers({ connection: embedded.connection }), embedded }
}

export const serversOf = (url: Secret, readUrl: Config['readDatabaseUrl']): DatabaseServers =>
  new DatabaseServers({ connection: { connectionString: url.reveal() }, ...(readUrl && { readUrl }) })

/** Replicas of the configured database; null: there are none. */
export const replicasOf = ({ replicaUrl, readReplicaUrl }: Config): DatabaseServers | null =>
  replicaUrl ? serversOf(replicaUrl, readReplicaUrl) : null

/** Redis between processes, or the memory of a single one. */
export async function openSignal({ redisUrl: url }: Config, logger: Logger): Promise<Signal> {
  if (!url) return createMemorySignal({ logger })
  // Its client is a good part of everything that a server loads, and a single process needs none of it.
  const { createRedisSignal } = await import('../log/signal/redis.ts')
  return createRedisSignal({ url: url.reveal(), logger })
}
