import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool } from 'pg'
import { CursorExpired, type LogBatch, type PhaseChangeQuery, type PhaseChangeRecord } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import type { Dispatch } from './dispatch.ts'
import { type LogHead, readHead } from './head.ts'
import type { Hub, Listener } from './hub.ts'
import { type Page, readPage } from './page.ts'

/** Matching changes of one page. */
const PAGE = 1_000
/** Sequences that one page looks through for matches where no index leads to them. */
const WINDOW = 10_000
/** A follower nearer than this to the head joins the hub before it reads the rest. */
const NEAR = 1_000
/** Changes that wait for a slow reader. Beyond, they are dropped and read again from its cursor. */
const MAX_BUFFER = 2_000
/** A database that is away for longer ends the stream; its reader comes back with its cursor. */
const PATIENCE_MS = 30_000
const RETRY_MS = 250

export interface FollowerParts {
  readonly pool: Pool
  readonly hub: Hub
  readonly logger: Logger
}

/** One reader's way through the log: pages from its cursor, then live; and back to pages when it falls behind. */
export class Follower implements Listener {
  readonly #parts: FollowerParts
  readonly #query: PhaseChangeQuery
  readonly #maxBatch: number
  readonly #signal: AbortSignal
  #logId = ''
  /** Everything up to here was handed out, or does not match. */
  #cursor = 0
  /** Where the hub began to offer; null: not joined. Pages are read up to here, the buffer goes on from here. */
  #joinedAt: number | null = null
  #buffer: PhaseChangeRecord[] = []
  /** The buffer is whole up to here. */
  #through = 0
  #ticked = false
  #awake = Promise.withResolvers<void>()

  /** @param signal the follower's own: aborting it is the way to end it, also when nobody iterates */
  constructor(parts: FollowerParts, query: PhaseChangeQuery, maxBatch: number, signal: AbortSignal) {
    this.#parts = parts
    this.#query = query
    this.#maxBatch = Math.max(1, maxBatch)
    this.#signal = signal
    signal.addEventListener('abort', () => this.lost(), { once: true })
  }

  /** Takes its place in the log. Throws CursorExpired. */
  async start(after: number | undefined): Promise<void> {
    const at = await readHead(this.#parts.pool)
    this.#logId = at.logId
    this.#cursor = after ?? at.head
    this.#check(at)
    this.#joinNear(at.head, this.#cursor)
  }

  async *batches(): AsyncGenerator<LogBatch, void, void> {
    while (!this.#signal.aborted) {
      if (this.#joinedAt === null || this.#cursor < this.#joinedAt) yield* this.#replay()
      else yield* this.#live()
    }
  }

  offer(dispatch: Dispatch): void {
    const changes = dispatch.matching(this.#query, this.#through)
    this.#through = Math.max(this.#through, dispatch.through)
    if (changes.length === 0) return
    if (this.#buffer.length + changes.length > MAX_BUFFER) return this.lost()
    this.#buffer.push(...changes)
    this.#awake.resolve()
  }

  tick(): void {
    this.#ticked = true
    this.#awake.resolve()
  }

  lost(): void {
    this.#parts.hub.leave(this)
    this.#joinedAt = null
    this.#buffer = []
    this.#awake.resolve()
  }

  /** @param covered what is read already, even if it is not all handed out yet */
  #joinNear(head: number, covered: number): void {
    if (this.#signal.aborted || this.#joinedAt !== null || head - covered > NEAR) return
    this.#joinedAt = this.#parts.hub.join(this, head)
    this.#through = Math.max(this.#joinedAt, covered)
  }

  #check({ logId, floor, head }: LogHead): void {
    const outside = this.#cursor < floor || Math.max(this.#cursor, this.#joinedAt ?? 0) > head
    if (outside || logId !== this.#logId) throw new CursorExpired(floor + 1, head)
  }

  async *#replay(): AsyncGenerator<LogBatch, void, void> {
    const keyed = this.#query.rootId !== undefined || this.#query.objectId !== undefined
    const bound = Math.min(this.#joinedAt ?? Infinity, keyed ? Infinity : this.#cursor + WINDOW)
    const page = await this.#readPatiently(bound)
    if (this.#signal.aborted) return
    this.#check(page)
    const last = page.changes.length === PAGE ? page.changes.at(-1)?.sequence : undefined
    const through = last ?? Math.min(bound, page.head)
    this.#joinNear(page.head, through)
    for (let i = 0; i < page.changes.length && !this.#signal.aborted; i += this.#maxBatch) {
      const changes = page.changes.slice(i, i + this.#maxBatch)
      const end = i + this.#maxBatch >= page.changes.length ? through : changes.at(-1)?.sequence
      this.#cursor = end ?? through
      yield { changes, through: this.#cursor }
    }
    if (page.changes.length === 0 && through > this.#cursor) {
      this.#cursor = through
      yield { changes: [], through }
    }
  }

  async #readPatiently(bound: number): Promise<Page> {
    const before = bound === Infinity ? undefined : bound + 1
    const range = { after: this.#cursor, before, limit: PAGE, direction: 'forward' } as const
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await readPage(this.#parts.pool, this.#query, range)
      } catch (error) {
        if (this.#signal.aborted || performance.now() > end || !isPassing(error)) throw error
        this.#parts.logger.warn({ err: error }, 'A reader of the log lost the database; trying again.')
        await delay(RETRY_MS)
      }
    }
  }

  async *#live(): AsyncGenerator<LogBatch, void, void> {
    while (this.#joinedAt !== null && !this.#signal.aborted) {
      this.#awake = Promise.withResolvers()
      if (this.#buffer.length > 0) {
        const changes = this.#buffer.splice(0, this.#maxBatch)
        const last = this.#buffer.length > 0 ? changes.at(-1)?.sequence : undefined
        this.#cursor = last ?? this.#through
        yield { changes, through: this.#cursor }
      } else if (this.#ticked && this.#through > this.#cursor) {
        this.#ticked = false
        this.#cursor = this.#through
        yield { changes: [], through: this.#cursor }
      } else {
        this.#ticked = false
        await this.#awake.promise
      }
    }
  }
}

/** Connections that broke, servers that restart or are full: not the statement's fault. */
function isPassing(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(08|40|53|55|57|58)/.test(error.code ?? '')
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
}
