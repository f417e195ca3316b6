import type { LogCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { cursorAt, START } from './cursor.ts'
import { matches } from './filter.ts'

/** About 5 MB. Readers that reconnect, or were slow for a moment, find the changes that they missed here. */
const MIN_CHANGES = 10_000

/** The newest changes of the log without a gap, shared by all readers: reading after a recent cursor needs no query. */
export class LiveBuffer {
  #records: PhaseChangeRecord[] = []
  #after = 0
  #end: LogCursor = START

  constructor(at: LogCursor) {
    this.restart(at)
  }

  /** The buffer has every change after this sequence and up to `through`. */
  get after(): number {
    return this.#after
  }
  get through(): number {
    return this.#after + this.#records.length
  }

  /** The cursor at `through`. Its mark is null when the end was announced without its changes. */
  get end(): LogCursor {
    return this.#end
  }

  /** The change at a sequence; undefined when the buffer does not have it. */
  at(sequence: number): PhaseChangeRecord | undefined {
    return this.#records[sequence - this.#after - 1]
  }

  append(changes: readonly PhaseChangeRecord[]): void {
    for (const change of changes) this.#records.push(change)
    const last = changes.at(-1)
    if (last) this.#end = cursorAt(last)
    // Drops changes rarely, since each time copies all that remain.
    if (this.#records.length < 2 * MIN_CHANGES) return
    const dropped = this.#records.length - MIN_CHANGES
    this.#records = this.#records.slice(dropped)
    this.#after += dropped
  }

  restart(at: LogCursor): void {
    this.#records = []
    this.#after = at.sequence
    this.#end = at
  }

  /** At most `limit` matches after a sequence from `after` to `through`. */
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
