import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports.ts'
import { matches } from './filter.ts'

type Grouped = ReadonlyMap<string, readonly PhaseChangeRecord[]>

/** Consecutive changes on their way to all live followers; grouped once, so that each looks only at its own tree's. */
export class Dispatch {
  readonly through: number
  readonly #changes: readonly PhaseChangeRecord[]
  #byRoot: Grouped | null = null
  #byObject: Grouped | null = null

  constructor(changes: readonly PhaseChangeRecord[], through: number) {
    this.#changes = changes
    this.through = through
  }

  /** Those after a sequence that match, in order. */
  matching(query: PhaseChangeQuery, after: number): readonly PhaseChangeRecord[] {
    return this.#candidates(query).filter((change) => change.sequence > after && matches(query, change))
  }

  #candidates({ objectId, rootId }: PhaseChangeQuery): readonly PhaseChangeRecord[] {
    if (objectId !== undefined) {
      this.#byObject ??= Map.groupBy(this.#changes, (change) => change.objectId)
      return this.#byObject.get(objectId) ?? []
    }
    if (rootId !== undefined) {
      this.#byRoot ??= Map.groupBy(this.#changes, (change) => change.rootId)
      return this.#byRoot.get(rootId) ?? []
    }
    return this.#changes
  }
}
