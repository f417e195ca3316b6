import type { Pool, PoolClient } from 'pg'
import { DatabaseShortage, PoolExhausted, postgresOutageOf } from '../core/database-unavailable.ts'
import { type DatabaseFacts, FirstInLine, HEALTH_BOUNDS, QueueWatch } from '../core/health.ts'
import { judgeRange, type SchemaRange } from '../core/schema-range.ts'
import type { Logger } from '../logger.ts'
import { bigint, boolean, float8, nullable, text } from './column-types.ts'
import { catchUpSequences, LOG_IS_BEHIND } from './sequences.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

const STATE = statement({
  name: 'database-health',
  text: `select current_setting('transaction_read_only')::boolean as read_only,
      (select oldest from schema_range) as oldest,
      (select max(migration_name::text collate "C") from "_prisma_migrations" where finished_at is not null) as newest,
      (select id from log_batch where first_seq is null order by id limit 1) as unnumbered,
      coalesce((select extract(epoch from clock_timestamp() - min(wake_at))::float8 * 1000 from root_queue), 0) as overdue_ms,
      ${LOG_IS_BEHIND} as log_is_behind`,
  row: {
    read_only: boolean,
    oldest: nullable(table.schemaRange.oldest),
    newest: nullable(text),
    unnumbered: nullable(bigint),
    overdue_ms: float8,
    log_is_behind: boolean,
  },
})

/** Takes about 100 KB of the space that tables have, and gives them back. */
const TAKE_SPACE = `create temp table phaseline_space on commit drop as
  select repeat('space', 300) as bytes from generate_series(1, 64)`

interface MeasuredDatabase {
  /** Null: it has not answered in time. NOT_ASKED: no connection was free to ask it on. */
  readonly database: DatabaseFacts | 'NOT_ASKED' | null
  readonly shortage: string | null
  readonly poolWaitMs: number
}

interface DatabaseHealthParts {
  /** The one to ask through. */
  readonly pool: Pool
  /** The migrations that the program has. */
  readonly migrations: readonly string[]
  readonly logger: Logger
}

/** Watches one database through the pools of a process. It does nothing by itself, so it costs nothing between measurements. */
export class DatabaseHealth {
  readonly #pool: Pool
  readonly #migrations: readonly string[]
  readonly #logger: Logger
  #schemaProblem: string | null = null
  readonly #queues: { readonly pool: Pool; readonly watch: QueueWatch; served: number }[] = []
  readonly #unnumbered = new FirstInLine()
  #asking: Promise<DatabaseFacts | 'NOT_ASKED' | null> | null = null
  /** The question is on its way. */
  #isAsked = false
  /** The resource whose lack has failed a write, e.g. space. */
  #shortage: string | null = null

  constructor({ pool, migrations, logger }: DatabaseHealthParts) {
    this.#pool = pool
    this.#migrations = migrations
    this.#logger = logger
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
    return { database, shortage: this.#shortage, poolWaitMs: Math.max(...waits) }
  }

  /** The errors of the process's own statements are the cheapest way to learn of a full disk. */
  #listen(client: PoolClient): void {
    const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter }
    connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      const outage = postgresOutageOf(code)
      if (typeof outage === 'object' && outage !== null) this.#shortage = outage.shortage
    })
  }

  async #answerInTime(): Promise<DatabaseFacts | 'NOT_ASKED' | null> {
    // A question that hangs is not asked again.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
      this.#isAsked = false
    })
    const late = Promise.withResolvers<'NOT_ASKED' | null>()
    const notYet = () => late.resolve(this.#isAsked || !isExhausted(this.#pool) ? null : 'NOT_ASKED')
    const timer = setTimeout(notYet, HEALTH_BOUNDS.answer)
    try {
      return await Promise.race([this.#asking, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(): Promise<DatabaseFacts | 'NOT_ASKED' | null> {
    try {
      const [row] = await this.#state()
      if (!row) return null
      // Nobody sends writes to a process that is not ready, so it has to find out by itself that there is space again.
      if (this.#shortage !== null && !row.read_only) this.#shortage = await this.#findShortage()
      const isLogBehind = row.log_is_behind && !row.read_only && !(await this.#catchUp())
      return {
        isLogBehind,
        schemaProblem: this.#judgeSchema(row),
        isReadOnly: row.read_only,
        unnumberedMs: this.#unnumbered.look(row.unnumbered, performance.now()),
        overdueMs: row.overdue_ms,
      }
    } catch (error) {
      return error instanceof PoolExhausted ? 'NOT_ASKED' : null
    }
  }

  async #state() {
    const client = await this.#pool.connect()
    this.#isAsked = true
    let broken = true
    try {
      const { rows } = await STATE.query(client, [])
      broken = false
      return rows
    } finally {
      client.release(broken)
    }
  }

  /** Nobody sends writes to a process that is not ready, and their failures would show it otherwise. */
  async #catchUp(): Promise<boolean> {
    try {
      await catchUpSequences(this.#pool, this.#logger)
      return true
    } catch (error) {
      this.#logger.error({ err: error }, 'a sequence is behind its table, and could not catch up')
      return false
    }
  }

  /** A newer version may migrate at any moment; the log reports it once. */
  #judgeSchema(range: SchemaRange): string | null {
    const problem = judgeRange(this.#migrations, range)
    if (problem && !this.#schemaProblem) this.#logger.error(`this process cannot work any more: ${problem}`)
    this.#schemaProblem = problem
    return problem
  }

  /** A login without the right to create such tables gets the answer from its next write. */
  async #findShortage(): Promise<string | null> {
    try {
      await this.#pool.query(TAKE_SPACE)
      return null
    } catch (error) {
      return error instanceof DatabaseShortage ? error.shortage : null
    }
  }
}

/** All of its connections are in use, and others wait for one, too. */
const isExhausted = ({ totalCount, idleCount, options }: Pool): boolean => totalCount >= options.max && idleCount === 0
