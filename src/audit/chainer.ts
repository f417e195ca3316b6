import type { Pool } from 'pg'
import { chainHash } from '../chain-hash.ts'
import type { ChainEnd } from '../core/audit.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'
import { auditHead, chainAudit, waitingAudit } from '../store/audit.ts'
import { integer } from '../store/column-types.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { statement } from '../store/statement.ts'
import type { Writes } from '../store/write-watch.ts'

/** Advisory lock of the chaining process. The digits are arbitrary, but must be unique. */
const CHAINING_LOCK = 7_270_737_003
/** Events of one transaction: it takes some ten milliseconds, in which readers of the audit wait. */
const PAGE = 200
/** From an event to its chaining, in milliseconds: what comes meanwhile is chained with it. Followers of this process wait less. */
const GATHER_MS = 1_000
const GATHER_FOLLOWED_MS = 100
/** Interval of the search for events of processes that ended before they chained them. */
const SWEEP_MS = 5_000

const TAKE_TURN = statement({
  text: `select 1 as one from pg_advisory_xact_lock(${CHAINING_LOCK})`,
  row: { one: integer },
})

interface ChainerParts {
  readonly pool: Pool
  readonly logger: Logger
  readonly writes?: Writes
  /** Called with the new end of the chain. */
  readonly onChained: (head: ChainEnd) => void
  /** Subscriptions to the audit are open in this process. */
  readonly isFollowed: () => boolean
}

/**
 * Gives committed events their places in the chain. Done behind the commit, since the writers would wait for each other
 * otherwise. Each process has one; one at a time works.
 */
export class AuditChainer implements AsyncDisposable {
  readonly #parts: ChainerParts
  readonly #stop: () => void
  #gathering: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  /** When the last search that found nothing began, by `performance.now()`. */
  #emptyAt = Number.NEGATIVE_INFINITY

  constructor(parts: ChainerParts) {
    this.#parts = parts
    this.#stop = every(SWEEP_MS, () => {
      if (!parts.writes?.isQuietSince(this.#emptyAt)) this.#chainInBackground()
    })
  }

  /** Chains soon what this process has committed. Costs next to nothing. */
  soon(): void {
    this.#gathering ??= setTimeout(
      () => {
        this.#gathering = null
        this.#chainInBackground()
      },
      this.#parts.isFollowed() ? GATHER_FOLLOWED_MS : GATHER_MS,
    )
  }

  /** Resolves when every event that was committed before the call has its place. */
  async chain(): Promise<void> {
    // One that runs may have read already what waits.
    await this.#running?.catch(() => undefined)
    this.#running ??= this.#chainAll().finally(() => {
      this.#running = null
    })
    await this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    if (this.#gathering) clearTimeout(this.#gathering)
    await this.#running?.catch(() => undefined)
  }

  #chainInBackground(): void {
    this.chain().catch((error: unknown) => {
      this.#parts.logger.warn({ err: error }, 'Chaining the audit failed; it is tried again within seconds.')
    })
  }

  async #chainAll(): Promise<void> {
    const { pool, onChained } = this.#parts
    // Most of the time nothing waits: seen without a transaction.
    const begunAt = performance.now()
    if ((await waitingAudit(pool, 1)).length === 0) {
      this.#emptyAt = begunAt
      return
    }
    for (let count = PAGE; count === PAGE; ) {
      const page = await chainPage(pool)
      count = page.count
      if (count > 0) onChained(page.end)
    }
  }
}

interface ChainedPage {
  readonly end: ChainEnd
  readonly count: number
}

const chainPage = (pool: Pool): Promise<ChainedPage> =>
  inTransaction(pool, async (client) => {
    // Pipelined. Each statement sees what was committed when it begins: after the lock, what its previous holder has.
    const [, head, waiting] = await Promise.all([
      TAKE_TURN.query(client, []),
      auditHead(client),
      waitingAudit(client, PAGE),
    ])
    let end = head
    const chained = waiting.map((event) => {
      const sequence = end.sequence + 1
      end = { sequence, hash: chainHash(end.hash, { ...event, sequence }) }
      return { id: event.id, ...end }
    })
    if (chained.length > 0) await chainAudit(client, chained)
    return { end, count: chained.length }
  })
