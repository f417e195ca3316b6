import { nextCursor, nodesOf } from 'phaseline/client-model'
import { filterInput, type ObjectFilter } from '../model/filter.ts'
import type { ListedRow } from '../model/object.ts'
import { haveRun } from '../model/object-columns.ts'
import { ObjectList } from '../model/object-list.ts'
import { rowFetcher } from './batched.ts'
import { LISTED_BY_ID, ROW_COUNT, ROWS } from './documents.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

const PAGE = 100

/** The rows of one filter, page by page, kept live. */
export class ListStore extends Store {
  readonly filter: ObjectFilter
  readonly #session: Session
  readonly #signal: AbortSignal
  readonly #page: number
  readonly #fetch: (ids: readonly string[]) => void
  #list: ObjectList
  #cursor: string | null = null
  #loading = false
  error: string | null = null
  loaded = false
  /** The number of all matching objects at the time of the read. */
  total: number | null = null

  constructor(session: Session, filter: ObjectFilter, signal: AbortSignal, page = PAGE) {
    super()
    this.filter = filter
    this.#session = session
    this.#signal = signal
    this.#page = page
    this.#list = new ObjectList(filter, session.machines)
    const runs = haveRun(filter.columns)
    this.#fetch = rowFetcher<ListedRow>(
      signal,
      (ids) => session.client.query(LISTED_BY_ID, { ids, runs }, { signal }),
      (rows, missing) => {
        this.#fetch(this.#list.insert(rows))
        if (missing.length > 0) this.#list.remove(missing)
        this.changed()
      },
    )
    readLive(
      session.feed,
      {
        read: (reading) => this.#restart(reading),
        apply: (changes) => {
          this.#fetch(this.#list.change(changes))
          if (this.#list.stale) this.changed()
        },
        failed: (error) => this.#fail(error),
      },
      signal,
    )
  }

  get rows(): readonly ListedRow[] {
    return this.#list.rows
  }
  get complete(): boolean {
    return this.#list.complete
  }

  /** Reads the next page; does nothing during a read, or after the last page. */
  readonly more = async (): Promise<void> => {
    if (this.#loading || this.#list.complete || !this.loaded || this.error) return
    try {
      await this.#readPage(this.#signal)
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error)
    }
  }
  readonly retry = (): void => {
    this.error = null
    this.changed()
    void this.more()
  }

  async #restart(signal: AbortSignal): Promise<void> {
    this.#list = new ObjectList(this.filter, this.#session.machines)
    this.#cursor = null
    await Promise.all([this.#readPage(signal), this.#readTotal(signal)])
    this.loaded = true
    this.error = null
    this.changed()
  }

  async #readPage(signal: AbortSignal): Promise<void> {
    this.#loading = true
    try {
      const list = this.#list
      const { field, direction } = this.filter.order
      const variables = {
        filter: filterInput(this.filter),
        orderBy: { field, direction },
        first: this.#page,
        after: this.#cursor,
        runs: haveRun(this.filter.columns),
      }
      const { objects } = await this.#session.client.query(ROWS, variables, { signal })
      if (list !== this.#list) return
      this.#cursor = nextCursor(objects)
      this.#fetch(list.addPage(nodesOf(objects), this.#cursor !== null))
      this.changed()
    } finally {
      this.#loading = false
    }
  }

  async #readTotal(signal: AbortSignal): Promise<void> {
    const { objects } = await this.#session.client.query(ROW_COUNT, { filter: filterInput(this.filter) }, { signal })
    this.total = objects?.totalCount ?? null
  }

  #fail(error: unknown): void {
    this.error = messageOf(error)
    this.changed()
  }
}
