import type { Pool } from 'pg'
import type { LogPlace, PhaseChangeRecord } from '../core/ports.ts'
import type { LogHead } from './head.ts'
import { readPage } from './page.ts'

/** Sequences of a block. */
const SIZE = 1_000
/** Blocks that are kept: about 30 MB. */
const KEPT = 60
const EVERYTHING = { projects: null, includeRejected: true } as const

/** What of a block comes after a place. `through` is how far it goes: to its end, or to the head. */
export interface BlockPart extends LogHead {
  readonly changes: readonly PhaseChangeRecord[]
  readonly through: number
}

/**
 * The log in pieces of a thousand, read once for all who need the same piece: when a gateway is gone, all its
 * subscribers come to another one at once, and want much the same.
 */
export class Blocks {
  readonly #pool: Pool
  readonly #kept = new Map<number, Promise<BlockPart>>()
  #logId = ''

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async after({ logId, sequence }: LogPlace): Promise<BlockPart> {
    if (logId !== this.#logId) {
      this.#kept.clear()
      this.#logId = logId
    }
    const block = Math.floor(sequence / SIZE)
    const { changes, ...rest } = await this.#block(block)
    return { ...rest, changes: sequence === block * SIZE ? changes : changes.filter((c) => c.sequence > sequence) }
  }

  #block(block: number): Promise<BlockPart> {
    const known = this.#kept.get(block)
    if (known) return known
    const reading = this.#read(block)
    this.#kept.set(block, reading)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break
      this.#kept.delete(oldest)
    }
    // Only what can never change is kept: whole blocks of the log that is there now.
    reading.then(
      ({ changes, logId }) => {
        if (changes.length < SIZE || logId !== this.#logId) this.#kept.delete(block)
      },
      () => this.#kept.delete(block),
    )
    return reading
  }

  async #read(block: number): Promise<BlockPart> {
    const range = { after: block * SIZE, before: (block + 1) * SIZE + 1, limit: SIZE, direction: 'forward' } as const
    const page = await readPage(this.#pool, EVERYTHING, range)
    return { ...page, through: Math.min((block + 1) * SIZE, Math.max(page.head, block * SIZE)) }
  }
}
