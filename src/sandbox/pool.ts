import type { Batch } from './batch.ts'
import type { ChunkEnd } from './child.ts'
import { Lane } from './lane.ts'
import { LIMITS } from './limits.ts'

type Killed = Extract<ChunkEnd, { type: 'killed' }>

const WORDS = {
  TIME: `it took more than ${LIMITS.jobMs} ms`,
  STALLED: `it took more than ${LIMITS.jobMs} ms`,
  MEMORY: `it needed more than ${LIMITS.heapMb} MB of memory`,
  CRASH: 'it ended the worker that evaluated it',
} as const

export interface PoolOptions {
  /** Number of worker processes. */
  readonly workers: number
  /** The pool that a batch belongs into; by default this one. */
  readonly poolFor?: (batch: Batch) => Pool | null
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
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#lanes = Array.from({ length: Math.max(1, options.workers) }, () => new Lane())
    this.#idle = [...this.#lanes]
  }

  enqueue(batch: Batch): void {
    if (this.#closed) batch.fail(new Error('The sandbox is closed.'))
    if (this.#movedOn(batch)) return
    if (batch.waiting && !this.#queue.includes(batch)) this.#queue.push(batch)
    const lane = this.#queue.length > 0 ? this.#idle.pop() : undefined
    if (lane) void this.#serve(lane)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const batch of this.#queue.splice(0)) batch.fail(new Error('The sandbox is closed.'))
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }

  /** Whether the batch is in another pool from now on. */
  #movedOn(batch: Batch): boolean {
    const other = this.#options.poolFor?.(batch) ?? this
    if (other !== this) other.enqueue(batch)
    return other !== this
  }

  async #serve(lane: Lane): Promise<void> {
    for (let batch = this.#queue.shift(); batch; batch = this.#queue.shift()) {
      if (!this.#movedOn(batch)) await this.#runChunk(lane, batch)
    }
    this.#idle.push(lane)
  }

  async #runChunk(lane: Lane, batch: Batch): Promise<void> {
    const { indices, chunk } = batch.take()
    if (batch.waiting) this.enqueue(batch)
    try {
      const end = await lane.run(chunk, (i, result) => batch.settle(indices[i] as number, result))
      if (end.type === 'killed') this.#bury(batch, indices, end)
      if (end.type === 'cut') this.#again(batch, indices, end.done)
    } catch (error) {
      batch.fail(error instanceof Error ? error : new Error('The sandbox failed.', { cause: error }))
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
      // A worker that ended without a reason may have been killed from outside, not because of its job.
      else if (culprit === undefined || end.reason === 'CRASH') batch.retryOnce(index, WORDS[end.reason])
      else batch.settle(index, { ok: false, message: WORDS[end.reason] })
    }
    this.#options.onKilled(batch, end)
    this.enqueue(batch)
  }
}
