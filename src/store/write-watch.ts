import type { Pool } from 'pg'
import { text } from './column-types.ts'
import { statement } from './statement.ts'

/** How long a write of another process goes unnoticed, in milliseconds. */
const LOOK_MS = 250

/**
 * Which transactions have ended. Two that are equal see the same rows: what has found nothing finds nothing again, unless it
 * waits for a time.
 */
const SNAPSHOT = statement({
  name: 'write-watch',
  text: 'select pg_current_snapshot()::text as snapshot',
  row: { snapshot: text },
})

/** Tells those who look for work in the database when there may be some. */
export interface Writes {
  /** Calls back soon after a transaction of any process has written. Synchronous; must not throw. */
  onWrite(handler: () => void): void
}

/**
 * Asks one cheap question for all who would otherwise search their tables as often. It is asked of the database, so it needs no
 * word from the one who has written.
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
    // Unknown when it fails. Those who search meanwhile report why.
    this.#snapshot = ''
    try {
      const { rows } = await SNAPSHOT.query(this.#pool, [])
      this.#snapshot = rows[0]?.snapshot ?? ''
    } catch {}
    if (this.#snapshot !== '' && this.#snapshot === before) return
    for (const handler of this.#handlers) handler()
  }
}
