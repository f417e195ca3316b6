import type { Batch } from './batch.ts'
import type { ChunkEnd } from './child.ts'
import { Lane } from './lane.ts'
import { LIMITS } from './limits.ts'
import type { JobFailure } from './protocol.ts'
import { ownerBusy } from './sandbox-busy.ts'

type Killed = Extract<ChunkEnd, { type: 'killed' }>

const FAILURES: Readonly<Record<Killed['reason'], JobFailure>> = {
  TIME: { ok: false, message: `it took more than ${LIMITS.jobMs} ms` },
  STALLED: { ok: false, message: `it took more than ${LIMITS.jobMs} ms`, isTransient: true },
  MEMORY: { ok: false, message: `it needed more than ${LIMITS.heapMb} MB of memory` },
  CRASH: { ok: false, message: 'it ended the worker that evaluated it', isTransient: true },
}

export interface PoolOptions {
  /** Number of worker processes. */
  readonly workers: number
  /** The pool that a batch belongs into; by default this one. */
  readonly poolFor?: (batch: Batch) => Pool | null
  /**
   * For a pool of suspects: milliseconds for which the jobs of an owner wait while others have their turns. It takes one batch of each
   * owner at a time.
   */
  readonly restOf?: (batch: Batch) => number
  onKilled(batch: Batch, end: Killed): void
  /** It has used a turn of its worker for a few jobs. */
  onSlow(batch: Batch): void
}

/** Jobs of a whole turn. More are not slow, but many. */
const FEW = 10

/** Gives its workers one chunk of each batch in turn, so that a slow or hostile batch does not delay the others for long. */
export class Pool {
  readonly #options: PoolOptions
  readonly #lanes: readonly Lane[]
  readonly #idle: Lane[]
  #queue: Batch[] = []
  readonly #running = new Set<Batch>()
  #closed = false
  /** Set while all that waits rests, until the first of it may run. */
  #resting: NodeJS.Timeout | null = null

  constructor(options: PoolOptions) {
    this.#options = options
    this.#lanes = Array.from({ length: Math.max(1, options.workers) }, () => new Lane())
    this.#idle = [...this.#lanes]
  }

  enqueue(batch: Batch): void {
    if (this.#closed) batch.fail(new Error('The sandbox is closed.'))
    if (this.#movedOn(batch)) return
    const others = this.#options.restOf && !batch.hasBegun ? this.#countOf(batch.owner) : 0
    if (others > 0) return batch.fail(ownerBusy(others))
    if (batch.waiting && !this.#queue.includes(batch)) this.#queue.push(batch)
    if (this.#resting === null || this.#restOf(batch) === 0) this.#wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#endRest()
    for (const batch of this.#queue.splice(0)) batch.fail(new Error('The sandbox is closed.'))
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }

  /** True if the batch has moved to another pool. */
  #movedOn(batch: Batch): boolean {
    const other = this.#options.poolFor?.(batch) ?? this
    if (other !== this) other.enqueue(batch)
    return other !== this
  }

  #countOf(owner: unknown): number {
    const known = new Set([...this.#running, ...this.#queue])
    return [...known].filter((batch) => batch.owner === owner && !batch.isDone).length
  }

  #wake(): void {
    this.#endRest()
    const lane = this.#queue.length > 0 ? this.#idle.pop() : undefined
    if (lane) void this.#serve(lane)
  }

  /** The first batch that may run; undefined: all of them rest, or there is none. */
  #take(): Batch | undefined {
    const first = this.#queue.findIndex((batch) => this.#restOf(batch) === 0)
    if (first >= 0) return this.#queue.splice(first, 1)[0]
    if (this.#queue.length === 0) return undefined
    this.#endRest()
    this.#resting = setTimeout(() => this.#wake(), Math.min(...this.#queue.map((batch) => this.#restOf(batch))))
    return undefined
  }

  #endRest(): void {
    if (this.#resting) clearTimeout(this.#resting)
    this.#resting = null
  }

  #restOf(batch: Batch): number {
    return this.#options.restOf?.(batch) ?? 0
  }

  async #serve(lane: Lane): Promise<void> {
    for (let batch = this.#take(); batch; batch = this.#take()) {
      if (!this.#movedOn(batch)) await this.#runChunk(lane, batch)
    }
    this.#idle.push(lane)
  }

  async #runChunk(lane: Lane, batch: Batch): Promise<void> {
    const { indices, chunk } = batch.take()
    this.#running.add(batch)
    if (batch.waiting) this.enqueue(batch)
    try {
      const end = await lane.run(chunk, (i, result) => batch.settle(indices[i] as number, result))
      if (end.type === 'killed') this.#bury(batch, indices, end)
      if (end.type === 'cut') this.#again(batch, indices, end.done)
    } catch (error) {
      batch.fail(error instanceof Error ? error : new Error('The sandbox failed.', { cause: error }))
    } finally {
      this.#running.delete(batch)
    }
  }

  #again(batch: Batch, indices: readonly number[], done: number): void {
    for (const index of indices.slice(done)) batch.retry(index)
    if (done < FEW) this.#options.onSlow(batch)
    this.enqueue(batch)
  }

  #bury(batch: Batch, indices: readonly number[], end: Killed): void {
    const culprit = end.by === null ? undefined : indices[end.by]
    for (const index of indices) {
      if (culprit !== undefined && index !== culprit) batch.retry(index)
      // The machine may have been the reason: it stood still, or has killed the worker.
      else if (culprit === undefined || FAILURES[end.reason].isTransient) batch.retryOnce(index, FAILURES[end.reason])
      else batch.settle(index, FAILURES[end.reason])
    }
    this.#options.onKilled(batch, end)
    this.enqueue(batch)
  }
}
