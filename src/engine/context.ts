import type { InFlight } from '../core/in-flight.ts'
import type { Log } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'
import type { Dispatcher } from './agents/dispatcher.ts'
import type { SpecCache } from './cache/spec-cache.ts'
import type { WorkCache } from './cache/work-cache.ts'
import type { TreeCounts } from './engine-counts.ts'
import type { LockWaits } from './lock-waits.ts'
import type { EngineParts } from './parts.ts'
import type { CommitEvents } from './transaction.ts'

/** State that all tree transactions of this process share. */
export interface EngineContext extends EngineParts {
  /** Receives batches before their commit. */
  readonly log: Pick<Log, 'appended'>
  readonly dispatcher: Dispatcher
  readonly work: WorkCache
  readonly specs: SpecCache
  /** Notifies the numberer, the engines and the agents of a commit. */
  readonly publish: (events: CommitEvents) => void
  readonly logger: Logger
  readonly counts: TreeCounts
  readonly lockWaits: LockWaits
  /** The transactions that run. */
  readonly inFlight: InFlight
}
