import type { Pool } from 'pg'
import { createAuditPruner } from '../audit/pruner.ts'
import type { Config } from '../config.ts'
import { type Machine, secondaryMachines } from '../core/machine.ts'
import type { System } from '../core/ports/system.ts'
import { createTextIndexer } from '../log/log-text.ts'
import { createOutputIndexer } from '../log/output/output-text.ts'
import { createPruner } from '../log/pruner.ts'
import type { Logger } from '../logger.ts'

interface PrunedParts {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
}

/** Indexes the text of the log and of output, and removes old phase changes and old events of the audit, each as long as the settings say. */
export function startPruners(
  parts: PrunedParts,
  { logRetentionMs, auditRetentionMs }: Pick<Config, 'logRetentionMs' | 'auditRetentionMs'>,
  machines: readonly Machine[],
): readonly AsyncDisposable[] {
  const pruners: AsyncDisposable[] = [createTextIndexer(parts), createOutputIndexer(parts)]
  if (logRetentionMs !== null)
    pruners.push(
      createPruner({ ...parts, retentionMs: logRetentionMs, secondaryMachines: secondaryMachines(machines) }),
    )
  if (auditRetentionMs !== null) pruners.push(createAuditPruner({ ...parts, retentionMs: auditRetentionMs }))
  return pruners
}
