import type { Pool } from 'pg'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { LogHead } from './head.ts'
import { readPage } from './page.ts'

/** Sequences of a block. */
const SIZE = 1_000
/** Cached blocks: about 50 MB, where messages are short. */
const KEPT = 60
const EVERYTHING = { projects: null, includeRejected: true } as const

export type LogVersion = Pick<LogHead, 'instance' | 'epoch'>
const isSame = (a: LogVersion, b: LogVersion): boolean => a.instance === b.instance && a.epoch === b.epoch

/** The changes of a block after a sequence. It ends at `through`: the end of the block, or the head. */
export interface BlockPart extends LogHead {
  readonly changes: readonly PhaseChangeRecord[]
  readonly through: number
}

/**
 * A cache of the log in blocks of a thousand, each read once for all readers: when a gateway fails, all its subscribers
 * return to another one at the same moment, and read nearly the same changes.
 */
export class Blocks {
  readonly #pool: Pool
  readonly #blocks = new Map<number, Promise<BlockPart>>()
  #log: LogVersion = { instance: '', epoch: 0 }

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** @param log the version that the caller knows; the answer has the version that it was read from */
  async after(sequence: number, log: LogVersion): Promise<BlockPart> {
    if (!isSame(log, this.#log)) {
      this.#blocks.clear()
      this.#log = { instance: log.instance, epoch: log.epoch }
    }
    const block = Math.floor(sequence / SIZE)
    const { changes, ...head } = await this.#block(block)
    return { ...head, changes: sequence === block * SIZE ? changes : changes.filter((c) => c.sequence > sequence) }
  }

  #block(block: number): Promise<BlockPart> {
    const known = this.#blocks.get(block)
    if (known) return known
    const reading = this.#read(block)
    this.#blocks.set(block, reading)
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) break
      this.#blocks.delete(oldest)
    }
    // Only immutable blocks stay: whole ones of the current log.
    reading.then(
      (part) => {
        if (part.changes.length < SIZE || !isSame(part, this.#log)) this.#drop(block, reading)
      },
      () => this.#drop(block, reading),
    )
    return reading
  }

  #drop(block: number, reading: Promise<BlockPart>): void {
    if (this.#blocks.get(block) === reading) this.#blocks.delete(block)
  }

  async #read(block: number): Promise<BlockPart> {
    const range = { after: block * SIZE, before: (block + 1) * SIZE + 1, limit: SIZE, direction: 'forward' } as const
    const page = await readPage(this.#pool, EVERYTHING, range)
    return { ...page, through: Math.min((block + 1) * SIZE, Math.max(page.head, block * SIZE)) }
  }
}
