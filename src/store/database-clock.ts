import type { Pool } from 'pg'
import { betterOf, type ClockOffset, contradicts, following, offsetOf, SET_MS } from '../core/clock-offset.ts'
import type { Logger } from '../logger.ts'
import { float8 } from './column-types.ts'
import { statement } from './statement.ts'

/** A suspended machine, or a database that has moved, is noticed within so long, in milliseconds. */
const EVERY_MS = 1_000
/** Measurements at the start: the first one on a new connection takes several times as long as the others. */
const FIRST_LOOKS = 4

const TIME = statement({
  name: 'database-time',
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as shown',
  row: { shown: float8 },
})

/** The time by the database's clock, independent of the wall clock of this process. */
export interface DatabaseClock extends AsyncDisposable {
  /** As exact as measured here: transactions that decide by the time ask the database itself. */
  now(): Date
  /** Milliseconds by which this process's wall clock is ahead of the database's. */
  readonly wallOffsetMs: number
  /** Milliseconds since the database's clock was last read. */
  readonly ageMs: number
}
export interface DatabaseClockOptions {
  readonly pool: Pick<Pool, 'query'>
  readonly logger: Logger
  /** Milliseconds of a monotonic clock. */
  readonly steady?: () => number
  readonly wall?: () => number
}

/** Resolves once the time is known, and measures again every second. */
export async function startDatabaseClock(options: DatabaseClockOptions): Promise<DatabaseClock> {
  const clock = new MeasuredClock(options)
  for (let look = 0; look < FIRST_LOOKS; look++) await clock.look()
  clock.watch()
  return clock
}

class MeasuredClock implements DatabaseClock {
  readonly #pool: Pick<Pool, 'query'>
  readonly #logger: Logger
  readonly #steady: () => number
  readonly #wall: () => number
  #known: ClockOffset | null = null
  #readAt = Number.NEGATIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY
  #loggedMs = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null

  constructor({ pool, logger, steady = () => performance.now(), wall = () => Date.now() }: DatabaseClockOptions) {
    this.#pool = pool
    this.#logger = logger
    this.#steady = steady
    this.#wall = wall
  }

  now(): Date {
    this.#last = following(this.#last, this.#time())
    return new Date(this.#last)
  }

  get wallOffsetMs(): number {
    return this.#wall() - this.#time()
  }

  get ageMs(): number {
    return this.#steady() - this.#readAt
  }

  watch(): void {
    this.#timer = setInterval(() => {
      // A failure is ignored: statements that need the database report it, and the known offset stays valid meanwhile.
      this.#looking ??= this.look()
        .catch(() => undefined)
        .finally(() => {
          this.#looking = null
        })
    }, EVERY_MS)
  }

  async look(): Promise<void> {
    const sentAt = this.#steady()
    const { rows } = await TIME.query(this.#pool, [])
    const [row] = rows
    if (!row) throw new Error('the statement database-time returned no row')
    this.#readAt = this.#steady()
    const next = offsetOf({ sentAt, shown: row.shown, receivedAt: this.#readAt })
    const known = this.#known
    this.#known = betterOf(known, next)
    if (known && contradicts(known, next)) this.#reportJump(next.offset - known.offset)
    this.#reportSkew()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  #time(): number {
    if (!this.#known) throw new Error("the database's clock was asked before it was looked at")
    return this.#steady() + this.#known.offset
  }

  #reportJump(byMs: number): void {
    if (Math.abs(byMs) < SET_MS) return
    this.#logger.warn(
      { byMs: Math.round(byMs) },
      "the database's clock was set, or this process stood still with its machine",
    )
  }

  /** Once for each change of a second and more. */
  #reportSkew(): void {
    const offset = this.wallOffsetMs
    if (Math.abs(offset - this.#loggedMs) < SET_MS) return
    const isRight = Math.abs(offset) < SET_MS
    this.#loggedMs = isRight ? 0 : offset
    const details = { clockOffsetMs: Math.round(offset) }
    if (isRight) this.#logger.info(details, 'the clock of this process agrees with that of the database again')
    else this.#logger.warn(details, "the clock of this process is wrong, so it uses the database's")
  }
}
