import { asError } from '../as-error.ts'
import { ClientError } from '../client-error.ts'
import { pause, retryDelay } from '../pause.ts'

export interface BatcherOptions<E, R> {
  /** One result per entry, in order. */
  send(batch: readonly E[]): Promise<readonly R[]>
  /** Entries per call. */
  readonly max: number
  /** Calls at the same time. */
  readonly calls: number
  /** Entries with the same key are sent in their order, never by two calls at the same time. */
  keyOf(entry: E): string
  /**
   * Maximum number of failures of the server to process an entry before it is dropped: it must not block others for
   * ever.
   */
  readonly maxRefusals: { readonly final: number; readonly retryable: number }
  onProblem(error: Error): void
}

interface Queued<E, R> {
  readonly entry: E
  readonly key: string
  readonly settle: (result: R | null) => void
  refusals: number
}

/**
 * Collects entries into few calls: an entry that is added during a call joins the next one. A call without an answer
 * is repeated until it gets one. When the server cannot process a batch, its entries are sent one by one.
 */
export class Batcher<E, R> {
  readonly #options: BatcherOptions<E, R>
  readonly #closed = new AbortController()
  readonly #busy = new Set<string>()
  #queue: Queued<E, R>[] = []
  #calls = 0
  #failures = 0
  #scheduled = false

  constructor(options: BatcherOptions<E, R>) {
    this.#options = options
  }

  /** The entry's result; null when the entry was given up. Never rejects. */
  add(entry: E): Promise<R | null> {
    if (this.#closed.signal.aborted) return Promise.resolve(null)
    return new Promise((settle) => {
      this.#queue.push({ entry, key: this.#options.keyOf(entry), settle, refusals: 0 })
      this.#schedule()
    })
  }

  get size(): number {
    return this.#queue.length
  }

  /** Gives up all queued entries. */
  close(): void {
    this.#closed.abort()
    for (const { settle } of this.#queue.splice(0)) settle(null)
  }

  #schedule(): void {
    if (this.#scheduled || this.#calls >= this.#options.calls) return
    this.#scheduled = true
    // Entries added in this turn of the event loop join the call.
    setImmediate(() => {
      this.#scheduled = false
      while (this.#calls < this.#options.calls) {
        const batch = this.#take()
        if (batch.length === 0) break
        void this.#call(batch)
      }
    })
  }

  #take(): Queued<E, R>[] {
    // After a failure, one call at a time probes whether the server is back.
    if (this.#failures > 0 && this.#calls > 0) return []
    const batch: Queued<E, R>[] = []
    const remaining: Queued<E, R>[] = []
    for (const queued of this.#queue) {
      const [first] = batch
      const alone = first ? first.refusals > 0 || queued.refusals > 0 : false
      const full = alone || batch.length >= this.#options.max
      if (full || this.#busy.has(queued.key)) remaining.push(queued)
      else batch.push(queued)
    }
    this.#queue = remaining
    return batch
  }

  async #call(batch: readonly Queued<E, R>[]): Promise<void> {
    this.#calls += 1
    for (const { key } of batch) this.#busy.add(key)
    const outcome = await this.#send(batch)
    if (outcome.ok) {
      this.#failures = 0
      for (const [i, { settle }] of batch.entries()) settle(outcome.results[i] ?? null)
    } else {
      this.#options.onProblem(outcome.error)
      this.#putBack(batch, outcome.error)
      // The server works: other entries need not wait for the retry of these.
      const failures = isBusy(outcome.error) ? 0 : this.#failures++
      await pause(retryDelay(failures, outcome.error), this.#closed.signal)
    }
    for (const { key } of batch) this.#busy.delete(key)
    this.#calls -= 1
    if (this.#queue.length > 0) this.#schedule()
  }

  async #send(batch: readonly Queued<E, R>[]) {
    try {
      return { ok: true, results: await this.#options.send(batch.map(({ entry }) => entry)) } as const
    } catch (error) {
      return { ok: false, error: asError(error) } as const
    }
  }

  /** Moves refused entries behind others, which may well succeed. Entries of the same key stay behind them. */
  #requeueLast(refused: readonly Queued<E, R>[]): void {
    const keys = new Set(refused.map(({ key }) => key))
    const { followers = [], others = [] } = Object.groupBy(this.#queue, ({ key }) =>
      keys.has(key) ? 'followers' : 'others',
    )
    this.#queue = [...others, ...refused, ...followers]
  }

  #putBack(batch: readonly Queued<E, R>[], error: Error): void {
    // Too early a report, or one that found no database, says nothing against its entries.
    const lost =
      error instanceof ClientError && !isBusy(error) && (error.kind === 'network' || error.retryAfterMs !== null)
    const { final, retryable } = this.#options.maxRefusals
    const max = error instanceof ClientError && error.retryable ? retryable : final
    if (!lost) for (const queued of batch) queued.refusals += 1
    const givenUp = (queued: Queued<E, R>) => this.#closed.signal.aborted || queued.refusals >= max
    const again = batch.filter((queued) => !givenUp(queued))
    for (const queued of batch) if (givenUp(queued)) queued.settle(null)
    if (lost) this.#queue.unshift(...again)
    else this.#requeueLast(again)
  }
}

/** An entry is about something that others have locked; the rest of its batch may not be. */
const isBusy = (error: Error): boolean => error instanceof ClientError && error.code === 'BUSY'
