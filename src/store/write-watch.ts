import type { Pool } from 'pg'
import { text } from './column-types.ts'
import { statement } from './statement.ts'

/** How long a write of another process goes unnoticed, in milliseconds. */
const LOOK_MS = 250

/**
 * Transactions that have ended. Two equal snapshots see the same rows: a search that found nothing finds nothing again,
 * unless it waits for a time.
 */
const SNAPSHOT = statement({
  name: 'write-watch',
  text: 'select pg_current_snapshot()::text as snapshot',
  row: { snapshot: text },
})

/** Notifies searches for work of writes to the database. */
export interface Writes {
  /** Calls back soon after a transaction of any process has written. Synchronous; must not throw. */
  onWrite(handler: () => void): void
}

/**
 * Runs one cheap query on behalf of all that would otherwise search their tables as often. It queries the database, so
 * it needs no message from the writer.
 */
export class WriteWatch implements Writes, AsyncDisposable {
  readonly #pool: Pick<Pool, 'query'>
  readonly #handlers = new Set<() => void>()
  readonly #timer: NodeJS.Timeout
  #snapshot = ''
  #looking: Promise<void> | null = null

  constructor(pool: Pick<Pool, 'query'>) {
    this.#pool = pool
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null
      })
    }, LOOK_MS)
  }

  onWrite(handler: () => void): void {
    this.#handlers.add(handler)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const before = this.#snapshot
    // Unknown after a failure, which the searches meanwhile report.
    this.#snapshot = ''
    try {
      const { rows } = await SNAPSHOT.query(this.#pool, [])
      this.#snapshot = rows[0]?.snapshot ?? ''
    } catch {}
    if (this.#snapshot !== '' && this.#snapshot === before) return
    for (const handler of this.#handlers) handler()
  }
}
