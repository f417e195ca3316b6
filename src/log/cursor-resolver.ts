import type { Pool } from 'pg'
import { CursorExpired, type Log, type LogBatch, type LogCursor, type ResolvedCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { Logger } from '../logger.ts'
import { type Found, type LogHead, type LogPosition, SharedLookUp } from './head.ts'
import { checkRange, HistoryReader } from './history-reader.ts'
import type { Hub } from './hub.ts'
import { type PageRange, readPage } from './page.ts'
import { retryTransient } from './retry-transient.ts'

/** Answers that came while the database was being replaced are thrown away; so often in a row that is a defect. */
const MAX_ATTEMPTS = 5

export interface ListRange extends Pick<PageRange, 'limit' | 'direction'> {
  readonly after?: LogCursor | undefined
  readonly before?: LogCursor | undefined
}

/**
 * Places in the log, and what comes after them: from memory where it is recent, from the database where it is not. A
 * database that was restored or failed over is noticed with its first answer, and every place is looked up in it again.
 */
export class CursorResolver
  implements Pick<Log, 'place' | 'renew' | 'next' | 'page' | 'end' | 'reaches' | 'listen' | 'checkWindow'>
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
    const parts = which === 'common' && epoch > 1
    const { sequence, mark } = parts ? await this.#find(Math.max(epochBase, end.floor)) : end
    return { sequence, mark }
  }

  /** What the log that is followed here has. */
  #find(position: LogPosition): Promise<Found> {
    return this.#current(() => this.#lookUp.find(position))
  }

  async place(after: LogCursor | undefined): Promise<ResolvedCursor> {
    if (after !== undefined && !this.#hub.wantsHead) return await this.#locate(after)
    const head = await this.#find('head')
    this.#hub.saw(head)
    return after === undefined ? this.#placed(head) : await this.#locate(after)
  }

  renew(place: ResolvedCursor): Promise<ResolvedCursor> {
    return retryTransient(() => this.#locate(place), this.#logger)
  }

  listen(...[query, listener]: Parameters<Log['listen']>): () => void {
    this.#hub.join(query, listener)
    return () => this.#hub.leave(listener)
  }

  next(query: PhaseChangeQuery, place: ResolvedCursor, limit: number): Promise<LogBatch> | LogBatch | null {
    const { live, lineage } = this.#hub
    if (place.lineage === lineage) {
      if (place.sequence >= live.through) return null
      if (place.sequence >= live.after) {
        const { changes, through } = live.read(query, place.sequence, limit)
        return { changes, through: { lineage, ...through } }
      }
    }
    return retryTransient(() => this.#read(query, place), this.#logger)
  }

  /** A page for a query: never silently shortened. Throws CursorExpired. */
  async page(query: PhaseChangeQuery, range: ListRange): Promise<readonly PhaseChangeRecord[]> {
    const { after, before, limit, direction } = range
    const page = await this.#current(() =>
      readPage(this.#pool, query, { after: after?.sequence ?? 0, before: before?.sequence, limit, direction }),
    )
    await this.checkWindow({ after, before })
    return page.changes
  }

  /**
   * Throws CursorExpired when what was read between two cursors cannot be all of it: something next to one is pruned, or
   * it is of another log. To be asked after the reading.
   */
  async checkWindow({ after, before }: Pick<ListRange, 'after' | 'before'>): Promise<void> {
    await Promise.all([after && this.#locate(after), before && this.#checkBefore(before)])
  }

  /** What is pruned was in the log. */
  async reaches(place: LogCursor): Promise<void> {
    const found = await this.#find(place.sequence)
    if (place.sequence > found.head) throw new CursorExpired(found.floor + 1, found.head)
    if (place.sequence >= found.floor) this.#checkMark(place, found)
  }

  async #checkBefore(before: LogCursor): Promise<void> {
    const found = await this.#find(before.sequence)
    const { floor, head } = found
    if (before.sequence <= floor || before.sequence > head + 1) throw new CursorExpired(floor + 1, head)
    // Beyond the head there is nothing yet that could be marked.
    if (before.sequence <= head) this.#checkMark(before, found)
  }

  async #read(query: PhaseChangeQuery, place: ResolvedCursor): Promise<LogBatch> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { lineage, sequence } = place.lineage === this.#hub.lineage ? place : await this.#locate(place)
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
    return this.#placed(found)
  }

  /** A change has the mark that no other log has there; a bare number is right where all histories of the log agree. */
  #checkMark({ sequence, mark }: LogCursor, found: Found): void {
    const { epoch, epochBase } = this.#hub.identity
    const isRight = mark === null ? epoch === 1 || sequence <= epochBase : sequence === 0 || mark === found.mark
    if (!isRight) throw new CursorExpired(found.floor + 1, found.head, mark === null)
  }

  #placed({ sequence, mark }: LogCursor): ResolvedCursor {
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
