import type { Pool } from 'pg'
import {
  CursorExpired,
  type Log,
  type LogBatch,
  type LogCursor,
  type LogPage,
  type ResolvedCursor,
} from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { Logger } from '../logger.ts'
import { type Found, type LogHead, type LogPosition, SharedLookUp } from './head.ts'
import { checkRange, HistoryReader } from './history-reader.ts'
import type { Hub } from './hub.ts'
import { partsWithWords } from './log-text.ts'
import { type PageRange, readPage } from './page.ts'
import { retryTransient } from './retry-transient.ts'
import { firstOf, isNarrow, SEARCHED, STRETCH, stretchOf } from './stretch.ts'
import { timeWindow } from './time-window.ts'

/** Answers that arrive while the database is being replaced are discarded; so many in a row mean a defect. */
const MAX_ATTEMPTS = 5

export interface ListRange extends Pick<PageRange, 'limit' | 'direction'> {
  readonly after?: LogCursor | undefined
  readonly before?: LogCursor | undefined
}

/**
 * Resolves cursors, and reads what follows them: from memory where it is recent, else from the database. The first answer
 * of a database that was restored or failed over shows it, and every cursor is then resolved in it again.
 */
export class CursorResolver
  implements Pick<Log, 'resolve' | 'renew' | 'next' | 'page' | 'end' | 'requireReached' | 'listen' | 'checkWindow'>
{
  readonly #pool: Pool
  readonly #hub: Hub
  readonly #lookUp: SharedLookUp
  readonly #history: HistoryReader
  readonly #logger: Logger

  constructor(hub: Hub, pool: Pool, logger: Logger) {
    this.#pool = pool
    this.#hub = hub
    this.#lookUp = new SharedLookUp(pool)
    this.#logger = logger
    this.#history = new HistoryReader({ pool, find: (sequence) => this.#lookUp.find(sequence) })
  }

  async end(which: 'head' | 'floor' | 'common'): Promise<LogCursor> {
    const end = await this.#find(which === 'common' ? 'head' : which)
    const { epoch, epochBase } = this.#hub.identity
    const isForked = which === 'common' && epoch > 1
    const { sequence, mark } = isForked ? await this.#find(Math.max(epochBase, end.floor)) : end
    return { sequence, mark }
  }

  /** Looks up a position in the log that the hub follows. */
  #find(position: LogPosition): Promise<Found> {
    return this.#current(() => this.#lookUp.find(position))
  }

  async resolve(after: LogCursor | undefined): Promise<ResolvedCursor> {
    if (after !== undefined && !this.#hub.needsHead) return await this.#locate(after)
    const head = await this.#find('head')
    this.#hub.observeHead(head)
    return after === undefined ? this.#resolved(head) : await this.#locate(after)
  }

  renew(cursor: ResolvedCursor): Promise<ResolvedCursor> {
    return retryTransient(() => this.#locate(cursor), this.#logger)
  }

  listen(...[query, listener]: Parameters<Log['listen']>): () => void {
    this.#hub.join(query, listener)
    return () => this.#hub.leave(listener)
  }

  next(query: PhaseChangeQuery, cursor: ResolvedCursor, limit: number): Promise<LogBatch> | LogBatch | null {
    const { live, lineage } = this.#hub
    if (cursor.lineage === lineage) {
      if (cursor.sequence >= live.through) return null
      if (cursor.sequence >= live.after) {
        const { changes, through } = live.read(query, cursor.sequence, limit)
        return { changes, through: { lineage, ...through } }
      }
    }
    return retryTransient(() => this.#read(query, cursor), this.#logger)
  }

  /** A page for a query: never silently shortened. Throws CursorExpired. */
  async page(query: PhaseChangeQuery, range: ListRange): Promise<LogPage> {
    const { after, before, limit, direction } = range
    const asked = { after: after?.sequence ?? 0, before: before?.sequence, limit, direction }
    const page = isNarrow(query) ? await this.#search(query, asked) : await this.#readPage(query, asked)
    await this.checkWindow({ after, before })
    return page
  }

  async #readPage(query: PhaseChangeQuery, range: PageRange): Promise<LogPage> {
    const { changes } = await this.#current(() => readPage(this.#pool, query, range))
    return { changes, reached: null }
  }

  /** Reads a stretch of the log, since without an index a rare match may be anywhere in it. */
  async #search(query: PhaseChangeQuery, range: PageRange): Promise<LogPage> {
    const { limit, direction } = range
    const [head, times] = await Promise.all([this.#find('head'), timeWindow(this.#pool, query)])
    const stretch = stretchOf(range, times, head, query.words === undefined ? STRETCH : SEARCHED)
    const all = query.words === undefined ? [stretch] : await partsWithWords(this.#pool, query.words, stretch)
    const { parts, end } = firstOf(all, { direction, end: stretch.end })
    const found: PhaseChangeRecord[] = []
    for (const { after, before } of parts) {
      const { changes } = await this.#readPage(query, { after, before, direction, limit: limit - found.length })
      if (direction === 'forward') found.push(...changes)
      else found.unshift(...changes)
      if (found.length >= limit) return { changes: found, reached: null }
    }
    if (end === null) return { changes: found, reached: null }
    const { sequence, mark } = await this.#find(end)
    return { changes: found, reached: { sequence, mark } }
  }

  /**
   * Throws CursorExpired when the records read between two cursors may be incomplete: those next to a cursor are pruned,
   * or the cursor is of another log. Called after the read.
   */
  async checkWindow({ after, before }: Pick<ListRange, 'after' | 'before'>): Promise<void> {
    await Promise.all([after && this.#locate(after), before && this.#checkBefore(before)])
  }

  /** A pruned position was reached once. */
  async requireReached(cursor: LogCursor): Promise<void> {
    const found = await this.#find(cursor.sequence)
    if (cursor.sequence > found.head) throw new CursorExpired(found.floor + 1, found.head)
    if (cursor.sequence >= found.floor) this.#checkMark(cursor, found)
  }

  async #checkBefore(before: LogCursor): Promise<void> {
    const found = await this.#find(before.sequence)
    const { floor, head } = found
    if (before.sequence <= floor || before.sequence > head + 1) throw new CursorExpired(floor + 1, head)
    // Beyond the head there is no change with a mark yet.
    if (before.sequence <= head) this.#checkMark(before, found)
  }

  async #read(query: PhaseChangeQuery, cursor: ResolvedCursor): Promise<LogBatch> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { lineage, sequence } = cursor.lineage === this.#hub.lineage ? cursor : await this.#locate(cursor)
      const part = await this.#history.next(query, sequence, this.#hub.identity, this.#hub.live.through)
      if (!this.#hub.isOf(part)) await this.#hub.refresh()
      else if (lineage === this.#hub.lineage) return { changes: part.changes, through: { lineage, ...part.through } }
    }
    throw replacedTooOften()
  }

  async #locate(cursor: LogCursor): Promise<ResolvedCursor> {
    const found = await this.#find(cursor.sequence)
    checkRange(found, cursor.sequence)
    this.#checkMark(cursor, found)
    return this.#resolved(found)
  }

  /** A mark must be that of the change at its sequence; a bare number is valid where all histories of the log agree. */
  #checkMark({ sequence, mark }: LogCursor, found: Found): void {
    const { epoch, epochBase } = this.#hub.identity
    const isValid = mark === null ? epoch === 1 || sequence <= epochBase : sequence === 0 || mark === found.mark
    if (!isValid) throw new CursorExpired(found.floor + 1, found.head, mark === null)
  }

  #resolved({ sequence, mark }: LogCursor): ResolvedCursor {
    return { lineage: this.#hub.lineage, sequence, mark }
  }

  async #current<T extends LogHead>(read: () => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const answer = await read()
      if (this.#hub.isOf(answer)) return answer
      await this.#hub.refresh()
    }
    throw replacedTooOften()
  }
}

const replacedTooOften = (): Error => new Error('The database is replaced faster than its log can be read.')
