import type { Place } from '../../core/place.ts'
import type { ServedTargets } from '../../core/target.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeRunner } from '../runner.ts'
import type { Claimant } from './claimant.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { EmptyClaimCache } from './empty-claim-cache.ts'

export interface WantedWork {
  readonly claimant: Claimant
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  /** Ids of projects in which the agent may claim; null: all. */
  readonly projects: readonly string[] | null
  /** It does dry runs as well. */
  readonly dryRuns: boolean
  readonly max: number
  /** Its places by type of work, as the last search found them. */
  places: ReadonlyMap<string, Place>
  readonly signal: AbortSignal | undefined
  /** Equal for all claims that search for the same. */
  readonly key: string
}

export interface Search {
  readonly parts: EngineParts
  readonly runner: TreeRunner
  readonly dispatcher: Dispatcher
  readonly empty: EmptyClaimCache
  /** Candidates of the active claims of this process. Other claims skip them instead of waiting for the same locks. */
  readonly active: Set<string>
}
