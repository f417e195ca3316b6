import type { Pool } from 'pg'
import { CursorExpired, type LogCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { Blocks, type LogVersion } from './blocks.ts'
import { cursorAt } from './cursor.ts'
import { matches } from './filter.ts'
import type { Found, LogHead } from './head.ts'
import { readPage } from './page.ts'

/** Matching changes of one page. */
const PAGE = 1_000
/** Sequences that one page scans for matches when no index leads to them. */
const REACH = 10_000
/** Reads nearer than this to the head share their blocks with all other readers. */
const NEAR = 50_000

/** The changes after a cursor, and the log that they were read from. */
export interface HistoryPart extends LogHead {
  readonly changes: readonly PhaseChangeRecord[]
  readonly through: LogCursor
}
type Unmarked = LogHead & { readonly changes: readonly PhaseChangeRecord[]; readonly end: number }

export interface HistoryReaderParts {
  readonly pool: Pool
  /** Looks up a sequence. */
  readonly find: (sequence: number) => Promise<Found>
}

/** Reads the part of the log that is not in memory. */
export class HistoryReader {
  readonly #parts: HistoryReaderParts
  readonly #blocks: Blocks

  constructor(parts: HistoryReaderParts) {
    this.#parts = parts
    this.#blocks = new Blocks(parts.pool)
  }

  /**
   * The next matches after a sequence before the head. The caller checks that the answer belongs to the log of its
   * cursor.
   * @throws CursorExpired
   * @param log the version that the caller knows
   * @param head roughly, the end of the log
   */
  async next(query: PhaseChangeQuery, sequence: number, log: LogVersion, head: number): Promise<HistoryPart> {
    const isKeyed = query.rootId !== undefined || query.objectId !== undefined
    const shared = !isKeyed && head - sequence <= NEAR ? await this.#shared(query, sequence, log) : null
    return await this.#marked(shared ?? (await this.#own(query, sequence, isKeyed)))
  }

  /** Null: the shared block was read before the sequence was numbered. */
  async #shared(query: PhaseChangeQuery, sequence: number, log: LogVersion): Promise<Unmarked | null> {
    const part = await this.#blocks.after(sequence, log)
    if (part.through <= sequence) return null
    checkRange(part, sequence)
    return { ...part, changes: part.changes.filter((change) => matches(query, change)), end: part.through }
  }

  async #own(query: PhaseChangeQuery, sequence: number, isKeyed: boolean): Promise<Unmarked> {
    const bound = isKeyed ? Number.POSITIVE_INFINITY : sequence + REACH
    const before = isKeyed ? undefined : bound + 1
    const range = { after: sequence, before, limit: PAGE, direction: 'forward' } as const
    const page = await readPage(this.#parts.pool, query, range)
    checkRange(page, sequence)
    const last = page.changes.length === PAGE ? page.changes.at(-1)?.sequence : undefined
    return { ...page, end: last ?? Math.min(bound, page.head) }
  }

  async #marked({ end, ...part }: Unmarked): Promise<HistoryPart> {
    const last = part.changes.at(-1)
    if (last?.sequence === end) return { ...part, through: cursorAt(last) }
    const { instance, sequence, mark } = await this.#parts.find(end)
    // The two answers are of different databases: without an instance the caller reads again.
    return { ...part, instance: instance === part.instance ? instance : '', through: { sequence, mark } }
  }
}

/** Throws CursorExpired for a sequence that the log does not hold. */
export function checkRange({ floor, head }: LogHead, sequence: number): void {
  if (sequence < floor || sequence > head) throw new CursorExpired(floor + 1, head)
}
