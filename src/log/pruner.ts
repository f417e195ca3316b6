import type { Pool } from 'pg'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { pruneStep } from './prune.ts'
import { type Pruner, prunePeriodically } from './prune-periodically.ts'

export interface PrunerOptions {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  /** Names of machines whose changes say nothing of an object's phase. */
  readonly secondaryMachines: readonly string[]
  /** Age in milliseconds up to which phase changes are kept. */
  readonly retentionMs: number
}

/** Prunes the log by age. */
export function createPruner({ pool, system, logger, secondaryMachines, retentionMs }: PrunerOptions): Pruner {
  const step = async (): Promise<boolean> => {
    const before = new Date(system.now().getTime() - retentionMs)
    const done = await pruneStep(pool, { before, secondaryMachines })
    return done === 'advanced' || done === 'removed'
  }
  return prunePeriodically({ step, logger, what: 'Pruning the log' })
}
