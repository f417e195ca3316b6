import type { PhaseChange } from 'phaseline/client'
import { afterChange, type Machines, matchesFilter } from 'phaseline/client-model'
import { compareRows, filterInput, matches, type ObjectFilter } from './filter.ts'
import { isRequest, isToRead, type ListedRow, patched } from './object.ts'
import { haveRun } from './object-columns.ts'

/** More changes than arrive during the read of a page. */
const REMEMBERED = 20_000

/** The rows of one filter in its order, updated by pages and phase changes; an older revision never wins. */
export class ObjectList {
  readonly filter: ObjectFilter
  readonly #machines: Machines
  readonly #byId = new Map<string, ListedRow>()
  /** Changes that arrived during the read of a page: its rows may be older. */
  readonly #latest = new Map<string, PhaseChange>()
  #rows: readonly ListedRow[] = []
  #stale = false
  #complete = false
  readonly #compare: (a: ListedRow, b: ListedRow) => number

  constructor(filter: ObjectFilter, machines: Machines) {
    this.filter = filter
    this.#machines = machines
    this.#compare = compareRows(filter.order)
  }

  /** A new array after each change. It is sorted when it is read, since there are more changes than reads. */
  get rows(): readonly ListedRow[] {
    if (this.#stale) this.#rows = [...this.#byId.values()].sort(this.#compare)
    this.#stale = false
    return this.#rows
  }
  /** The list has changed since the last read of `rows`. */
  get stale(): boolean {
    return this.#stale
  }
  /** All pages were read. */
  get complete(): boolean {
    return this.#complete
  }

  /** Returns the ids to fetch: those of rows that a change overtook during the read. */
  addPage(page: readonly ListedRow[], hasNext: boolean): readonly string[] {
    this.#complete = !hasNext
    return this.#takeAll(page)
  }

  /**
   * Adds rows that were fetched after a change. Rows beyond the last page come with their page. Returns the ids to
   * fetch, as `addPage` does.
   */
  insert(rows: readonly ListedRow[]): readonly string[] {
    const last = this.rows.at(-1)
    return this.#takeAll(
      rows.filter((row) => this.#byId.has(row.id) || this.#complete || !last || this.#compare(row, last) <= 0),
    )
  }

  /** Applies changes; returns the ids to fetch: objects that are unknown to the list, and may be part of it now. */
  change(changes: readonly PhaseChange[]): readonly string[] {
    const wanted = new Set<string>()
    let touched = false
    for (const change of changes) {
      if (isRequest(change) && this.#byId.has(change.objectId)) wanted.add(change.objectId)
      if (!this.#machines.moves(change)) continue
      this.#remember(change)
      const row = this.#byId.get(change.objectId)
      if (row) touched = this.#move(row, change, wanted) || touched
      else if (change.to !== 'GONE' && this.#mayMatch(change)) wanted.add(change.objectId)
      if (change.to === 'GONE') wanted.delete(change.objectId)
    }
    if (touched) this.#stale = true
    return [...wanted]
  }

  /** Forgets requested ids that do not exist. */
  remove(ids: readonly string[]): void {
    for (const id of ids) this.#byId.delete(id)
    this.#stale = true
  }

  #remember(change: PhaseChange): void {
    this.#latest.delete(change.objectId)
    this.#latest.set(change.objectId, change)
    const [oldest] = this.#latest.keys()
    if (this.#latest.size > REMEMBERED && oldest !== undefined) this.#latest.delete(oldest)
  }

  #move(row: ListedRow, change: PhaseChange, wanted: Set<string>): boolean {
    if (change.to === 'GONE') return this.#byId.delete(row.id)
    const next = patched(row, change, this.#machines)
    if (next === row) return false
    this.#place(next)
    // A change begins a run, and does not have it.
    const isBegun = row.finished && !next.finished && haveRun(this.filter.columns)
    if (isToRead(next) || isBegun) wanted.add(row.id)
    return true
  }

  #takeAll(rows: readonly ListedRow[]): readonly string[] {
    const wanted = new Set<string>()
    for (const row of rows) this.#take(row, wanted)
    this.#stale = true
    return [...wanted]
  }

  #take(row: ListedRow, wanted: Set<string>): void {
    const change = this.#latest.get(row.id)
    if (change?.to === 'GONE') return
    const now = change ? patched(row, change, this.#machines) : row
    const known = this.#byId.get(row.id)
    if (known && known.revision > now.revision) return
    this.#place(now)
    if (now !== row && isToRead(now)) wanted.add(row.id)
  }

  #place(row: ListedRow): void {
    if (matches(this.filter, row)) this.#byId.set(row.id, row)
    else this.#byId.delete(row.id)
  }

  #mayMatch(change: PhaseChange): boolean {
    const { phases, finished, order } = this.filter
    // Without these only a creation moves an object into the filter, or to another place in its order.
    const moves = phases.length > 0 || finished !== null || order.field === 'PHASE_SINCE' || change.from === null
    return moves && matchesFilter(filterInput(this.filter), afterChange(change, this.#machines))
  }
}
