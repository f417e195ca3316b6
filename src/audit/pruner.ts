import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import { type Pruner, prunePeriodically } from '../log/prune-periodically.ts'
import type { Logger } from '../logger.ts'
import { moveAnchor, removeBeforeAnchor } from '../store/audit.ts'
import { boolean } from '../store/column-types.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { statement } from '../store/statement.ts'

/** Advisory lock of the pruning process, for one step. The digits are arbitrary, but must be unique. */
const PRUNING_LOCK = 7_270_737_004
/** Events of one step, which takes some milliseconds. */
const STEP = 1_000

const TAKE_TURN = statement({
  text: `select pg_try_advisory_xact_lock(${PRUNING_LOCK}) as mine`,
  row: { mine: boolean },
})

interface AuditPrunerOptions {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  /** Age in milliseconds up to which events are kept. */
  readonly retentionMs: number
}

/** Prunes the audit by age. The anchor moves with the removal, so that what is left still proves to be whole. */
export function createAuditPruner({ pool, system, logger, retentionMs }: AuditPrunerOptions): Pruner {
  const step = (): Promise<boolean> =>
    inTransaction(pool, async (client) => {
      const { rows } = await TAKE_TURN.query(client, [])
      if (!rows[0]?.mine) return false
      const before = new Date(system.now().getTime() - retentionMs)
      const hasMoved = await moveAnchor(client, before, STEP)
      if (hasMoved) await removeBeforeAnchor(client)
      return hasMoved
    })
  return prunePeriodically({ step, logger, what: 'Pruning the audit' })
}
