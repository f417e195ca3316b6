import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool } from 'pg'
import { CursorExpired, type LogBatch, type LogPlace, type PhaseChangeQuery } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { Blocks } from './blocks.ts'
import { matches } from './filter.ts'
import type { LogHead } from './head.ts'
import { readPage } from './page.ts'

/** Matching changes of one page. */
const PAGE = 1_000
/** Sequences that one page looks through for matches where no index leads to them. */
const REACH = 10_000
/** Nearer than this to the head, what is read is shared with all others who read there. */
const NEAR = 50_000
/** A database that is away for longer ends the stream; its reader comes back with its cursor. */
const PATIENCE_MS = 30_000
const RETRY_MS = 250

/** The part of the log that is not in memory. */
export class Older {
  readonly #pool: Pool
  readonly #logger: Logger
  readonly #blocks: Blocks

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool
    this.#logger = logger
    this.#blocks = new Blocks(pool)
  }

  /**
   * What matches next after a place that is before the head.
   * @param head about where the log ends
   */
  async next(query: PhaseChangeQuery, place: LogPlace, head: number): Promise<LogBatch> {
    const isKeyed = query.rootId !== undefined || query.objectId !== undefined
    if (!isKeyed && head - place.sequence <= NEAR) {
      const shared = await this.#patiently(() => this.#shared(query, place))
      if (shared) return shared
    }
    return await this.#patiently(() => this.#own(query, place, isKeyed))
  }

  /** Null: what somebody else has asked for is not news here. */
  async #shared(query: PhaseChangeQuery, place: LogPlace): Promise<LogBatch | null> {
    const part = await this.#blocks.after(place)
    if (part.through <= place.sequence || part.logId !== place.logId) return null
    check(part, place)
    return { changes: part.changes.filter((change) => matches(query, change)), through: part.through }
  }

  async #own(query: PhaseChangeQuery, place: LogPlace, isKeyed: boolean): Promise<LogBatch> {
    const bound = isKeyed ? Number.POSITIVE_INFINITY : place.sequence + REACH
    const before = isKeyed ? undefined : bound + 1
    const range = { after: place.sequence, before, limit: PAGE, direction: 'forward' } as const
    const page = await readPage(this.#pool, query, range)
    check(page, place)
    const last = page.changes.length === PAGE ? page.changes.at(-1)?.sequence : undefined
    return { changes: page.changes, through: last ?? Math.min(bound, page.head) }
  }

  async #patiently<T>(read: () => Promise<T>): Promise<T> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (performance.now() > end || !isPassing(error)) throw error
        this.#logger.warn({ err: error }, 'A reader of the log lost the database; trying again.')
        await delay(RETRY_MS)
      }
    }
  }
}

/** Throws CursorExpired for a place that is not in the log. */
export function check({ logId, floor, head }: LogHead, place: LogPlace): void {
  if (logId === place.logId && place.sequence >= floor && place.sequence <= head) return
  throw new CursorExpired(floor + 1, head)
}

/** Connections that broke, servers that restart or are full: not the statement's fault. */
function isPassing(error: unknown): boolean {
  if (error instanceof CursorExpired) return false
  if (error instanceof DatabaseError) return /^(08|40|53|55|57|58)/.test(error.code ?? '')
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
