import type { Pool } from 'pg'
import { betterOf, type ClockOffset, contradicts, following, offsetOf, SET_MS } from '../core/clock-offset.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'
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
  /**
   * Takes the time that another statement has read, in milliseconds, so that the clock need not ask. Returns true if it has jumped.
   * @param sentAt when the statement was sent, by `performance.now()`
   */
  observe(sentAt: number, shown: number): boolean
}
export interface DatabaseClockOptions {
  readonly pool: Pick<Pool, 'query'>
  readonly logger: Logger
  /** Milliseconds of a monotonic clock. */
  readonly steady?: () => number
  readonly wall?: () => number
}

/** Resolves once the time is known. It is measured again every second, unless another statement has read it meanwhile. */
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
  /** Since the last turn of the timer. */
  #isObserved = false
  #stop: (() => void) | undefined
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
    this.#stop = every(EVERY_MS, () => {
      const isKnown = this.#isObserved
      this.#isObserved = false
      if (isKnown) return
      // A failure is ignored: statements that need the database report it, and the known offset stays valid meanwhile.
      this.#looking ??= this.look()
        .catch(() => undefined)
        .finally(() => {
          this.#looking = null
        })
    })
  }

  async look(): Promise<void> {
    const sentAt = this.#steady()
    const { rows } = await TIME.query(this.#pool, [])
    const [row] = rows
    if (!row) throw new Error('the statement database-time returned no row')
    this.#take(sentAt, row.shown)
  }

  observe(sentAt: number, shown: number): boolean {
    this.#isObserved = true
    return this.#take(sentAt, shown)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop?.()
    await this.#looking
  }

  #time(): number {
    if (!this.#known) throw new Error("the database's clock was asked before it was looked at")
    return this.#steady() + this.#known.offset
  }

  /** Returns true if the clock has jumped. */
  #take(sentAt: number, shown: number): boolean {
    this.#readAt = this.#steady()
    const next = offsetOf({ sentAt, shown, receivedAt: this.#readAt })
    const known = this.#known
    this.#known = betterOf(known, next)
    const byMs = known && contradicts(known, next) ? next.offset - known.offset : 0
    const isJump = Math.abs(byMs) >= SET_MS
    if (isJump) this.#reportJump(byMs)
    this.#reportSkew()
    return isJump
  }

  #reportJump(byMs: number): void {
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
