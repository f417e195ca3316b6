import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import { type Pruner, prunePeriodically } from '../log/prune-periodically.ts'
import type { Logger } from '../logger.ts'
import { moveAnchor, removeBeforeAnchor } from '../store/audit.ts'
import { underAdvisoryLock } from '../store/under-advisory-lock.ts'

/** Events of one step, which takes some milliseconds. */
const STEP = 1_000

interface AuditPrunerOptions {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  /** Age in milliseconds up to which events are kept. */
  readonly retentionMs: number
}

/** Prunes the audit by age. The anchor moves with the removal, so that what is left still proves to be whole. */
export function createAuditPruner({ pool, system, logger, retentionMs }: AuditPrunerOptions): Pruner {
  const step = async (): Promise<boolean> =>
    (await underAdvisoryLock(pool, 'pruneAudit', async (client) => {
      const before = new Date(system.now().getTime() - retentionMs)
      const hasMoved = await moveAnchor(client, before, STEP)
      if (hasMoved) await removeBeforeAnchor(client)
      return hasMoved
    })) === true
  return prunePeriodically({ step, logger, what: 'Pruning the audit' })
}
