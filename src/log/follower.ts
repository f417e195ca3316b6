import type { Log, LogBatch, LogCursor, LogListener, ResolvedCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { cursorAt } from './cursor.ts'

type CursorResolver = Pick<Log, 'place' | 'renew' | 'next' | 'listen'>

/** Changes that are asked for at a time. */
const PAGE = 1_000

/** One reader's way through the log, at its own pace: it keeps its place and nothing else. */
export class Follower implements LogListener {
  readonly #log: CursorResolver
  readonly #query: PhaseChangeQuery
  readonly #maxBatch: number
  readonly #signal: AbortSignal
  #place: ResolvedCursor = { lineage: 0, sequence: 0, mark: null }
  /** At the live end, with nothing to do. */
  #isWaiting = false
  /** What ended the waiting. */
  #offered: LogBatch | null = null
  #isLost = false
  #awake = Promise.withResolvers<void>()
  #leave: () => void = () => undefined

  /** @param signal the follower's own: aborting it is the way to end it, also when nobody iterates */
  constructor(log: CursorResolver, query: PhaseChangeQuery, maxBatch: number, signal: AbortSignal) {
    this.#log = log
    this.#query = query
    this.#maxBatch = Math.max(1, maxBatch)
    this.#signal = signal
    signal.addEventListener(
      'abort',
      () => {
        this.#leave()
        this.#awake.resolve()
      },
      { once: true },
    )
  }

  /** Takes its place in the log. Throws CursorExpired. */
  async start(after: LogCursor | undefined): Promise<void> {
    this.#place = await this.#log.place(after)
    if (!this.#signal.aborted) this.#leave = this.#log.listen(this.#query, this)
  }

  async *batches(): AsyncGenerator<LogBatch, void, void> {
    while (!this.#signal.aborted) {
      if (this.#isLost) {
        this.#isLost = false
        this.#place = await this.#log.renew(this.#place)
      }
      const reading = this.#log.next(this.#query, this.#place, PAGE)
      // Whoever is at the live end has to wait at once: what is offered to one who does not wait is not kept.
      const batch = reading === null ? await this.#wait() : await reading
      if (batch && !this.#signal.aborted) yield* this.#inPieces(batch)
    }
  }

  async #wait(): Promise<LogBatch | null> {
    this.#isWaiting = true
    this.#offered = null
    this.#awake = Promise.withResolvers()
    await this.#awake.promise
    this.#isWaiting = false
    return this.#offered
  }

  *#inPieces({ changes, through }: LogBatch): Generator<LogBatch, void, void> {
    for (let i = 0; i < changes.length && !this.#signal.aborted; i += this.#maxBatch) {
      const piece = changes.slice(i, i + this.#maxBatch)
      const last = i + this.#maxBatch < changes.length ? piece.at(-1) : undefined
      this.#place = last ? { lineage: through.lineage, ...cursorAt(last) } : through
      yield { changes: piece, through: this.#place }
    }
    if (changes.length > 0) return
    const hasMoved = through.sequence > this.#place.sequence
    this.#place = through
    if (hasMoved) yield { changes: [], through }
  }

  offer(offered: readonly PhaseChangeRecord[], _after: ResolvedCursor, through: ResolvedCursor): void {
    if (!this.#isWaiting || this.#offered) return
    const { sequence } = this.#place
    const changes = (offered[0]?.sequence ?? 0) > sequence ? offered : offered.filter((c) => c.sequence > sequence)
    if (changes.length === 0) return
    this.#offered = { changes, through }
    this.#awake.resolve()
  }

  tick(through: ResolvedCursor): void {
    if (!this.#isWaiting || this.#offered || through.sequence <= this.#place.sequence) return
    this.#offered = { changes: [], through }
    this.#awake.resolve()
  }

  lost(through: ResolvedCursor): void {
    this.#isLost = true
    if (!this.#isWaiting || this.#offered) return
    // Nothing up to there has matched, or it would not be waiting.
    if (through.sequence > this.#place.sequence) this.#place = through
    this.#awake.resolve()
  }
}
