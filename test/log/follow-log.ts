import type { Log, LogBatch, LogCursor, LogListener, ResolvedCursor } from '../../src/core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import { cursorAt } from '../../src/log/cursor.ts'

type Followed = Pick<Log, 'resolve' | 'renew' | 'next' | 'listen'>

/** Changes of one read. */
const PAGE = 1_000

/** Reads the log for one reader at its own pace: it keeps a cursor and nothing else. */
class Follower implements LogListener {
  readonly #log: Followed
  readonly #query: PhaseChangeQuery
  readonly #maxBatch: number
  readonly #signal: AbortSignal
  #cursor: ResolvedCursor = { lineage: 0, sequence: 0, mark: null }
  /** At the live end, without a batch to read. */
  #isWaiting = false
  /** The batch that ended the waiting. */
  #offered: LogBatch | null = null
  #isLost = false
  #awake = Promise.withResolvers<void>()
  #unlisten: () => void = () => undefined

  /** @param signal the follower's own: aborting it ends the follower, also when nobody iterates */
  constructor(log: Followed, query: PhaseChangeQuery, maxBatch: number, signal: AbortSignal) {
    this.#log = log
    this.#query = query
    this.#maxBatch = Math.max(1, maxBatch)
    this.#signal = signal
    signal.addEventListener(
      'abort',
      () => {
        this.#unlisten()
        this.#awake.resolve()
      },
      { once: true },
    )
  }

  /** Resolves its cursor and starts to listen. Throws CursorExpired. */
  async start(after: LogCursor | undefined): Promise<void> {
    this.#cursor = await this.#log.resolve(after)
    if (!this.#signal.aborted) this.#unlisten = this.#log.listen(this.#query, this)
  }

  async *batches(): AsyncGenerator<LogBatch, void, void> {
    while (!this.#signal.aborted) {
      if (this.#isLost) {
        this.#isLost = false
        this.#cursor = await this.#log.renew(this.#cursor)
      }
      const reading = this.#log.next(this.#query, this.#cursor, PAGE)
      // At the live end it must wait in the same turn: an offer to a follower that does not wait is dropped.
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
      this.#cursor = last ? { lineage: through.lineage, ...cursorAt(last) } : through
      yield { changes: piece, through: this.#cursor }
    }
    if (changes.length > 0) return
    const hasMoved = through.sequence > this.#cursor.sequence
    this.#cursor = through
    if (hasMoved) yield { changes: [], through }
  }

  offer(offered: readonly PhaseChangeRecord[], _after: ResolvedCursor, through: ResolvedCursor): void {
    if (!this.#isWaiting || this.#offered) return
    const { sequence } = this.#cursor
    const changes = (offered[0]?.sequence ?? 0) > sequence ? offered : offered.filter((c) => c.sequence > sequence)
    if (changes.length === 0) return
    this.#offered = { changes, through }
    this.#awake.resolve()
  }

  tick(through: ResolvedCursor): void {
    if (!this.#isWaiting || this.#offered || through.sequence <= this.#cursor.sequence) return
    this.#offered = { changes: [], through }
    this.#awake.resolve()
  }

  lost(through: ResolvedCursor): void {
    this.#isLost = true
    if (!this.#isWaiting || this.#offered) return
    // It was waiting, so no change up to there has matched.
    if (through.sequence > this.#cursor.sequence) this.#cursor = through
    this.#awake.resolve()
  }
}

/** Everything after `after`, then live, without a gap or a repetition. Without `after`: live from now on. */
export function followLog(
  log: Followed,
  query: PhaseChangeQuery,
  after: LogCursor | undefined,
  maxBatch: number,
  outer: AbortSignal = new AbortController().signal,
): AsyncIterableIterator<LogBatch> {
  const stop = new AbortController()
  const follower = new Follower(log, query, maxBatch, stop.signal)
  const close = () => {
    stop.abort()
    outer.removeEventListener('abort', close)
  }
  const run = async function* () {
    try {
      await started
      yield* follower.batches()
    } finally {
      close()
    }
  }
  outer.addEventListener('abort', close)
  if (outer.aborted) close()
  // Started now, not with the first `next`: "live from now on" means the moment of the call.
  const started = follower.start(after)
  started.catch(() => undefined)
  const batches = run()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => batches.next(),
    // `return` is queued behind a pending `next`; the abort ends that one.
    return() {
      close()
      return batches.return(undefined)
    },
  }
}
