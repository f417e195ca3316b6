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
/** Sequences that one page looks through for matches where no index leads to them. */
const REACH = 10_000
/** Nearer than this to the head, what is read is shared with all others who read there. */
const NEAR = 50_000

/** What follows a place, and which log it was read from. */
export interface HistoryPart extends LogHead {
  readonly changes: readonly PhaseChangeRecord[]
  readonly through: LogCursor
}
type Unmarked = LogHead & { readonly changes: readonly PhaseChangeRecord[]; readonly end: number }

export interface HistoryReaderParts {
  readonly pool: Pool
  /** What the log has at a sequence. */
  readonly find: (sequence: number) => Promise<Found>
}

/** The part of the log that is not in memory. */
export class HistoryReader {
  readonly #parts: HistoryReaderParts
  readonly #blocks: Blocks

  constructor(parts: HistoryReaderParts) {
    this.#parts = parts
    this.#blocks = new Blocks(parts.pool)
  }

  /**
   * What matches next after a sequence that is before the head. It is for the caller to see whether that is the log that
   * the sequence is of. Throws CursorExpired.
   * @param log which one it is, as far as the caller knows
   * @param head about where the log ends
   */
  async next(query: PhaseChangeQuery, sequence: number, log: LogVersion, head: number): Promise<HistoryPart> {
    const isKeyed = query.rootId !== undefined || query.objectId !== undefined
    const shared = !isKeyed && head - sequence <= NEAR ? await this.#shared(query, sequence, log) : null
    return await this.#marked(shared ?? (await this.#own(query, sequence, isKeyed)))
  }

  /** Null: what somebody else has asked for is not news here. */
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
    // Of two databases nothing can be said in one sentence: the caller reads again.
    return { ...part, instance: instance === part.instance ? instance : '', through: { sequence, mark } }
  }
}

/** Throws CursorExpired for a sequence that the log does not hold. */
export function checkRange({ floor, head }: LogHead, sequence: number): void {
  if (sequence < floor || sequence > head) throw new CursorExpired(floor + 1, head)
}
