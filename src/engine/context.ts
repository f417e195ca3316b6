import type { Log } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'
import type { Dispatcher } from './agents/dispatcher.ts'
import type { SpecCache } from './cache/spec-cache.ts'
import type { WorkCache } from './cache/work-cache.ts'
import type { EngineParts } from './parts.ts'
import type { CommitEvents } from './transaction.ts'

/** What every transaction on trees of this process shares. */
export interface EngineContext extends EngineParts {
  /** Hears of batches that are about to be committed. */
  readonly log: Pick<Log, 'appended'>
  readonly dispatcher: Dispatcher
  readonly work: WorkCache
  readonly specs: SpecCache
  /** Tells the numberer, the engines and the agents of a commit. */
  readonly publish: (events: CommitEvents) => void
  readonly logger: Logger
}
