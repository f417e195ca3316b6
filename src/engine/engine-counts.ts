import { Counts } from '../core/counts.ts'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import type { EngineCounts } from '../core/ports/measured.ts'
import type { Change } from '../core/ports/phase-change.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { isTransient } from './transient.ts'
import { TreeLocked } from './tree-locked.ts'

/** Counts the transactions of this process on trees. */
export class TreeCounts implements EngineCounts {
  readonly transactions = new Counts<'outcome'>()
  readonly reconciles = new Counts<'outcome'>()
  readonly transitions = new Counts<'kind' | 'to'>()

  committed(): void {
    this.transactions.add({ outcome: 'committed' })
  }
  failed(error: unknown): void {
    this.transactions.add({ outcome: outcomeOf(error) })
  }
  changed(changes: readonly Change[]): void {
    for (const { kind, to, revision } of changes) if (revision !== null) this.transitions.add({ kind, to })
  }
}

/** A transaction with a conflict is done again; the others are the caller's. */
function outcomeOf(error: unknown): string {
  if (isDatabaseUnavailable(error)) return 'unavailable'
  if (isLockTimeout(error)) return 'lock_timeout'
  return isTransient(error) || error instanceof TreeLocked ? 'conflict' : 'failed'
}
