import type { Pool, PoolClient } from 'pg'
import { type DatabaseFacts, FirstInLine, HEALTH_BOUNDS, QueueWatch } from '../core/health.ts'
import { bigint, boolean, float8, nullable } from './column-types.ts'
import { statement } from './statement.ts'

const STATE = statement({
  name: 'database-health',
  text: `select current_setting('transaction_read_only')::boolean as read_only,
      (select id from log_batch where first_seq is null order by id limit 1) as unnumbered,
      coalesce((select extract(epoch from clock_timestamp() - min(wake_at))::float8 * 1000 from root_queue), 0) as overdue_ms`,
  row: { read_only: boolean, unnumbered: nullable(bigint), overdue_ms: float8 },
})

/** Takes about 100 KB of the space that tables have, and gives them back. */
const TAKE_SPACE = `create temp table phaseline_space on commit drop as
  select repeat('space', 300) as bytes from generate_series(1, 64)`
/** What Postgres answers when it cannot extend a file. */
const DISK_FULL = '53100'

interface MeasuredDatabase {
  /** Null: it has not answered in time. */
  readonly database: DatabaseFacts | null
  readonly isDiskFull: boolean
  readonly poolWaitMs: number
}

/** Watches one database through the pools of a process. It does nothing by itself, so it costs nothing between measurements. */
export class DatabaseHealth {
  readonly #pool: Pool
  readonly #queues: { readonly pool: Pool; readonly watch: QueueWatch; served: number }[] = []
  readonly #unnumbered = new FirstInLine()
  #asking: Promise<DatabaseFacts | null> | null = null
  #isDiskFull = false

  /** @param pool the one to ask through */
  constructor(pool: Pool) {
    this.#pool = pool
    this.watch(pool)
  }

  /** Call it before the pool has connections. */
  watch(pool: Pool): void {
    const queue = { pool, watch: new QueueWatch(), served: 0 }
    this.#queues.push(queue)
    pool.on('acquire', () => {
      queue.served += 1
    })
    pool.on('connect', (client) => this.#listen(client))
  }

  async measure(): Promise<MeasuredDatabase> {
    const database = await this.#answerInTime()
    const at = performance.now()
    const waits = this.#queues.map(({ pool, watch, served }) => watch.look({ at, waiting: pool.waitingCount, served }))
    return { database, isDiskFull: this.#isDiskFull, poolWaitMs: Math.max(...waits) }
  }

  /** What the writes of the process are told is the cheapest way to learn of a full disk. */
  #listen(client: PoolClient): void {
    const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter }
    connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === DISK_FULL) this.#isDiskFull = true
    })
  }

  async #answerInTime(): Promise<DatabaseFacts | null> {
    // A question that hangs is not asked again.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), HEALTH_BOUNDS.answer)
    try {
      return await Promise.race([this.#asking, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(): Promise<DatabaseFacts | null> {
    try {
      const { rows } = await STATE.query(this.#pool, [])
      const [row] = rows
      if (!row) return null
      // Nobody sends writes to a process that is not ready, so it has to find out by itself that there is space again.
      if (this.#isDiskFull && !row.read_only) this.#isDiskFull = !(await this.#hasSpace())
      return {
        isReadOnly: row.read_only,
        unnumberedMs: this.#unnumbered.look(row.unnumbered, performance.now()),
        overdueMs: row.overdue_ms,
      }
    } catch {
      return null
    }
  }

  /** Who may not make such tables learns by its next write. */
  async #hasSpace(): Promise<boolean> {
    try {
      await this.#pool.query(TAKE_SPACE)
      return true
    } catch (error) {
      return (error as { readonly code?: string }).code !== DISK_FULL
    }
  }
}
