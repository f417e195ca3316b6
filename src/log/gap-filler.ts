import type { Pool } from 'pg'
import type { Logger } from '../logger.ts'
import type { LogHead } from './head.ts'
import type { LiveEnd } from './live-end.ts'
import { readPage } from './page.ts'

export interface GapFillerOptions {
  readonly pool: Pool
  readonly logger: Logger
  readonly end: LiveEnd
  /** True if the page and `end` are of the same log. */
  isOf(head: LogHead): boolean
  /** The database is another one than before. */
  onReplaced(): void
  /** The next changes are not in the log. */
  onMissing(): Promise<void>
}

const EVERYTHING = { projects: null, includeRejected: true } as const
export const PAGE = 1_000

/** Reads and delivers known changes that no announcement has brought. */
export class GapFiller {
  readonly #options: GapFillerOptions
  #running: Promise<void> | null = null
  #filled = 0
  #closed = false

  constructor(options: GapFillerOptions) {
    this.#options = options
  }

  /** Number of changes that were read. */
  get filled(): number {
    return this.#filled
  }

  fill(): void {
    this.#running ??= this.#fillAll().finally(() => {
      this.#running = null
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #fillAll(): Promise<void> {
    const { end, logger } = this.#options
    try {
      while (!this.#closed && end.buffer.through < end.known) {
        // A check that had begun before the last listener left leaves its buffer to it.
        if (end.isIdle) end.restartAtKnown()
        else if (!(await this.#fillPage())) break
      }
    } catch (error) {
      if (!this.#closed) logger.warn({ err: error }, 'The log could not be read; trying again.')
    }
  }

  /** False: the database is another one than before. */
  async #fillPage(): Promise<boolean> {
    const { pool, end, isOf, onReplaced, onMissing } = this.#options
    const after = end.buffer.through
    const page = await readPage(pool, EVERYTHING, { after, limit: PAGE, direction: 'forward' })
    if (!isOf(page)) {
      onReplaced()
      return false
    }
    // Announcements may have delivered some of these meanwhile.
    const delivered = end.buffer.through
    const changes = page.changes.filter(({ sequence }) => sequence > delivered)
    const [first, last] = [changes[0], changes.at(-1)]
    const isDense = first?.sequence === delivered + 1 && last?.sequence === delivered + changes.length
    if (isDense) {
      this.#filled += changes.length
      end.deliver(changes)
    } else if (changes.length > 0 || delivered === after) await onMissing()
    return true
  }
}
