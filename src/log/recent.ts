import type { LogBatch, PhaseChangeQuery, PhaseChangeRecord } from '../core/ports.ts'
import { matches } from './filter.ts'

/** About 5 MB. Whoever comes back after a cut connection, or was slow for a moment, finds what it missed here. */
const KEPT = 10_000

/** The last changes of the log without a gap, kept once for everybody: what follows a recent place needs no query. */
export class Recent {
  #records: PhaseChangeRecord[] = []
  #after: number

  constructor(at: number) {
    this.#after = at
  }

  /** All that is after this, and up to `through`, is here. */
  get after(): number {
    return this.#after
  }
  get through(): number {
    return this.#after + this.#records.length
  }

  append(changes: readonly PhaseChangeRecord[]): void {
    for (const change of changes) this.#records.push(change)
    // Only now and then, since all that is kept moves.
    if (this.#records.length < 2 * KEPT) return
    const dropped = this.#records.length - KEPT
    this.#records = this.#records.slice(dropped)
    this.#after += dropped
  }

  restart(at: number): void {
    this.#records = []
    this.#after = at
  }

  /** At most so many that match, after a place that is not before `after`. */
  read(query: PhaseChangeQuery, place: number, limit: number): LogBatch {
    const changes: PhaseChangeRecord[] = []
    for (let i = Math.max(0, place - this.#after); i < this.#records.length; i++) {
      const change = this.#records[i] as PhaseChangeRecord
      if (!matches(query, change)) continue
      changes.push(change)
      if (changes.length === limit) return { changes, through: change.sequence }
    }
    return { changes, through: Math.max(place, this.through) }
  }
}
