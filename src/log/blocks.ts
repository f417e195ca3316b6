import type { Pool } from 'pg'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { LogHead } from './head.ts'
import { readPage } from './page.ts'

/** Sequences of a block. */
const SIZE = 1_000
/** Blocks that are kept: about 30 MB. */
const KEPT = 60
const EVERYTHING = { projects: null, includeRejected: true } as const

export type LogVersion = Pick<LogHead, 'instance' | 'epoch'>
const isSame = (a: LogVersion, b: LogVersion): boolean => a.instance === b.instance && a.epoch === b.epoch

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
  #log: LogVersion = { instance: '', epoch: 0 }

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** @param log which one it is, as far as the caller knows; the answer says from which it was read */
  async after(sequence: number, log: LogVersion): Promise<BlockPart> {
    if (!isSame(log, this.#log)) {
      this.#kept.clear()
      this.#log = { instance: log.instance, epoch: log.epoch }
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
      (part) => {
        if (part.changes.length < SIZE || !isSame(part, this.#log)) this.#drop(block, reading)
      },
      () => this.#drop(block, reading),
    )
    return reading
  }

  #drop(block: number, reading: Promise<BlockPart>): void {
    if (this.#kept.get(block) === reading) this.#kept.delete(block)
  }

  async #read(block: number): Promise<BlockPart> {
    const range = { after: block * SIZE, before: (block + 1) * SIZE + 1, limit: SIZE, direction: 'forward' } as const
    const page = await readPage(this.#pool, EVERYTHING, range)
    return { ...page, through: Math.min((block + 1) * SIZE, Math.max(page.head, block * SIZE)) }
  }
}
