import type { Pool } from 'pg'
import { chainHash } from '../chain-hash.ts'
import type { Logger } from '../logger.ts'
import { auditHead, chainAudit, waitingAudit } from '../store/audit.ts'
import { integer } from '../store/column-types.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { statement } from '../store/statement.ts'

/** Advisory lock of the chaining process. The digits are arbitrary, but must be unique. */
const CHAINING_LOCK = 7_270_737_003
/** Events of one transaction. */
const PAGE = 500
/** Interval of chaining, in milliseconds. */
const EVERY_MS = 500

const TAKE_TURN = statement({
  text: `select 1 as one from pg_advisory_xact_lock(${CHAINING_LOCK})`,
  row: { one: integer },
})

/**
 * Gives committed events their places in the chain. Done behind the commit, since the writers would wait for each other
 * otherwise. Each process has one; one at a time works.
 */
export class AuditChainer implements AsyncDisposable {
  readonly #pool: Pool
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | null = null

  constructor({ pool, logger }: { readonly pool: Pool; readonly logger: Logger }) {
    this.#pool = pool
    this.#timer = setInterval(() => {
      this.chain().catch((error: unknown) => {
        logger.warn({ err: error }, 'Chaining the audit failed; it is tried again at once.')
      })
    }, EVERY_MS)
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
    clearInterval(this.#timer)
    await this.#running?.catch(() => undefined)
  }

  async #chainAll(): Promise<void> {
    // Most of the time nothing waits: seen without a transaction.
    while ((await waitingAudit(this.#pool, 1)).length > 0) await chainPage(this.#pool)
  }
}

const chainPage = (pool: Pool): Promise<void> =>
  inTransaction(pool, async (client) => {
    // A statement of its own: the next ones see what the previous holder of the lock has committed.
    await TAKE_TURN.query(client, [])
    let end = await auditHead(client)
    const chained = (await waitingAudit(client, PAGE)).map((event) => {
      const sequence = end.sequence + 1
      end = { sequence, hash: chainHash(end.hash, { ...event, sequence }) }
      return { id: event.id, ...end }
    })
    await chainAudit(client, chained)
  })
