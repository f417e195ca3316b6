import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { bigint, text } from '../../store/column-types.ts'
import { statement } from '../../store/statement.ts'

// Two statements: each transaction that has drawn a number by the first one must be visible to the second one.
const LAST = statement({
  name: 'log_line_last',
  text: 'select case when is_called then last_value else last_value - 1 end as last from log_line_seq',
  row: { last: bigint },
})
const OPEN = statement({
  name: 'open_transactions',
  text: 'select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() s',
  row: { oldest: text, next: text },
})

/** How long a reader waits for writers that are about to commit. */
const PATIENCE_MS = 300
const AGAIN_MS = 5

export interface OutputEnd {
  /** The last number that a line has been given. */
  readonly last: number
  /** No line will appear at or before it any more: a reader that resumes here misses none. */
  readonly settled: number
}

interface Drawn {
  readonly last: number
  /** Each transaction that has drawn a number up to `last` has a lower id than this. */
  readonly next: bigint
}

/**
 * Finds the end of all output. Lines are numbered when they are written and appear when that is committed, so a lower number
 * may appear after a higher one, until the transactions that were open have ended.
 */
export class OutputEnds {
  readonly #pool: Pool
  #drawn: Drawn[] = []
  #settled = 0
  #next: Promise<OutputEnd> | null = null

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * Waits for writers for a moment, so that what was written before the call is nearly always settled. Calls of one moment
   * share the answer.
   */
  find(): Promise<OutputEnd> {
    this.#next ??= Promise.resolve().then(() => {
      this.#next = null
      return this.#find()
    })
    return this.#next
  }

  async #find(): Promise<OutputEnd> {
    const start = performance.now()
    let last: number | null = null
    for (;;) {
      const { rows } = await LAST.query(this.#pool, [])
      const now = rows[0]?.last ?? 0
      last ??= now
      const settled = await this.#settle(now)
      if (settled >= last || performance.now() - start > PATIENCE_MS) return { last, settled: Math.min(settled, now) }
      await delay(AGAIN_MS)
    }
  }

  async #settle(last: number): Promise<number> {
    const { rows } = await OPEN.query(this.#pool, [])
    const [open] = rows
    if (!open) throw new Error('pg_current_snapshot returned no row')
    // A database that was restored or failed over has numbers and transactions of its own.
    if (last < this.#settled) {
      this.#drawn = []
      this.#settled = 0
    }
    const oldest = BigInt(open.oldest)
    this.#drawn = this.#drawn.filter(({ next }) => next <= BigInt(open.next))
    this.#drawn.push({ last, next: BigInt(open.next) })
    for (const drawn of this.#drawn) if (drawn.next <= oldest) this.#settled = Math.max(this.#settled, drawn.last)
    this.#drawn = this.#drawn.filter(({ next }) => next > oldest)
    return this.#settled
  }
}
