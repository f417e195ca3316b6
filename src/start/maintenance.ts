import type { Pool } from 'pg'
import { createAuditPruner } from '../audit/pruner.ts'
import type { Config } from '../config.ts'
import { type Machine, secondaryMachines } from '../core/machine.ts'
import type { System } from '../core/ports/system.ts'
import { createTextIndexer } from '../log/log-text.ts'
import { createOutputIndexer } from '../log/output/output-text.ts'
import { prunePeriodically } from '../log/prune-periodically.ts'
import { createPruner } from '../log/pruner.ts'
import { Sealer } from '../log/sealer.ts'
import type { Logger } from '../logger.ts'
import { sweepArtifacts } from '../store/artifacts.ts'
import { sweepDeliveries } from '../store/hook-deliveries.ts'
import type { Writes } from '../store/write-watch.ts'

interface MaintenanceParts {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  readonly writes: Pick<Writes, 'isQuietSince' | 'onWrite'>
}

/** Seals the log, indexes its text and that of output, and removes old phase changes, old events of the audit, old artifacts and old deliveries of hooks, each as long as the settings say. */
export function startMaintenance(
  parts: MaintenanceParts,
  { logRetentionMs, auditRetentionMs, sealKey }: Pick<Config, 'logRetentionMs' | 'auditRetentionMs' | 'sealKey'>,
  machines: readonly Machine[],
): readonly AsyncDisposable[] {
  const { pool, system, logger } = parts
  const step = (): Promise<boolean> => sweepArtifacts(pool, system.now())
  const duties: AsyncDisposable[] = [
    ...[createTextIndexer(parts), createOutputIndexer(parts)],
    prunePeriodically({ step, logger, what: 'Removing old artifacts' }),
    prunePeriodically({
      step: () => sweepDeliveries(pool, system.now()),
      logger,
      what: 'Removing old deliveries of hooks',
    }),
  ]
  if (sealKey) duties.push(new Sealer({ ...parts, key: sealKey }))
  if (logRetentionMs !== null)
    duties.push(createPruner({ ...parts, retentionMs: logRetentionMs, secondaryMachines: secondaryMachines(machines) }))
  if (auditRetentionMs !== null) duties.push(createAuditPruner({ ...parts, retentionMs: auditRetentionMs }))
  return duties
}
