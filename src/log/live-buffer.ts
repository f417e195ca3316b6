import type { LogCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { cursorAt, START } from './cursor.ts'
import { matches } from './filter.ts'

/** About 5 MB. Whoever comes back after a cut connection, or was slow for a moment, finds what it missed here. */
const KEPT = 10_000

/** The last changes of the log without a gap, kept once for everybody: what follows a recent place needs no query. */
export class LiveBuffer {
  #records: PhaseChangeRecord[] = []
  #after = 0
  #end: LogCursor = START

  constructor(at: LogCursor) {
    this.restart(at)
  }

  /** All that is after this, and up to `through`, is here. */
  get after(): number {
    return this.#after
  }
  get through(): number {
    return this.#after + this.#records.length
  }

  /** At `through`. Its mark is null where it was told of without its changes. */
  get end(): LogCursor {
    return this.#end
  }

  /** What is known of a sequence that is here; undefined: it is not. */
  at(sequence: number): PhaseChangeRecord | undefined {
    return this.#records[sequence - this.#after - 1]
  }

  append(changes: readonly PhaseChangeRecord[]): void {
    for (const change of changes) this.#records.push(change)
    const last = changes.at(-1)
    if (last) this.#end = cursorAt(last)
    // Only now and then, since all that is kept moves.
    if (this.#records.length < 2 * KEPT) return
    const dropped = this.#records.length - KEPT
    this.#records = this.#records.slice(dropped)
    this.#after += dropped
  }

  restart(at: LogCursor): void {
    this.#records = []
    this.#after = at.sequence
    this.#end = at
  }

  /** At most so many that match, after a sequence that is from `after` to `through`. */
  read(
    query: PhaseChangeQuery,
    sequence: number,
    limit: number,
  ): { readonly changes: readonly PhaseChangeRecord[]; readonly through: LogCursor } {
    const changes: PhaseChangeRecord[] = []
    for (let i = Math.max(0, sequence - this.#after); i < this.#records.length; i++) {
      const change = this.#records[i] as PhaseChangeRecord
      if (!matches(query, change)) continue
      changes.push(change)
      if (changes.length === limit) return { changes, through: cursorAt(change) }
    }
    return { changes, through: this.#end }
  }
}
