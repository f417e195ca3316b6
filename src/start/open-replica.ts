import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'
import { createPool } from '../store/pool.ts'
import { Reachability } from '../store/reachability.ts'
import { ReadReplica } from '../store/read-replica.ts'
import { replicasOf } from './services.ts'

interface ReplicaParts {
  readonly primary: Pool
  instance(): string
  /** Maximum number of connections. */
  readonly max: number
  readonly logger: Logger
}
export interface OpenReplica extends AsyncDisposable {
  readonly replica: ReadReplica
  readonly pool: Pool
}

/** Replicas for queries, whose absence is no outage: the primary answers then. Null: none is configured. */
export function openReplica(config: Config, { primary, instance, max, logger }: ReplicaParts): OpenReplica | null {
  const servers = replicasOf(config)
  if (!servers) return null
  const { deadlines, limits } = config
  const named = logger.child({ database: 'DATABASE_READ_URL' })
  const reachability = new Reachability({ servers, connectTimeoutMs: deadlines.connectTimeoutMs, logger: named })
  const statementTimeoutMs = limits.operationTimeoutMs
  const pool = createPool(servers, { max, name: 'replica', logger: named, deadlines, reachability, statementTimeoutMs })
  return {
    replica: new ReadReplica({ primary, pool, instance }),
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await reachability[Symbol.asyncDispose]()
    },
  }
}
