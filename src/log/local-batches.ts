import type { Change, PhaseChangeRecord, WrittenBatch } from '../core/ports/phase-change.ts'
import type { NumberedBatch } from './number-batches.ts'
import { MAX_TRACES, type NumberedTrace, traceNumbering } from './trace-delivery.ts'

/** Changes kept until they are numbered; beyond, the oldest are dropped and read again. */
const MAX_KEPT = 20_000

/** Batches that this process has written and that are not numbered yet, so that announcing them needs no read. */
export class LocalBatches {
  readonly #batches = new Map<string, Kept>()
  #kept = 0

  add({ id, changes, traceparent = null }: WrittenBatch): void {
    if (this.#batches.has(id)) return
    this.#batches.set(id, { changes, traceparent, writtenAt: traceparent === null ? 0 : Date.now() })
    this.#kept += changes.length
    for (const [oldest, kept] of this.#batches) {
      if (this.#kept <= MAX_KEPT) return
      this.#batches.delete(oldest)
      this.#kept -= kept.changes.length
    }
  }

  clear(): void {
    this.#batches.clear()
    this.#kept = 0
  }

  /** Removes these batches and returns their changes with sequences. */
  take(batches: readonly NumberedBatch[]): TakenBatches {
    const records: PhaseChangeRecord[] = []
    const traces: NumberedTrace[] = []
    let isWhole = true
    for (const { id, from, n } of batches) {
      const kept = this.#batches.get(id)
      if (this.#batches.delete(id)) this.#kept -= kept?.changes.length ?? 0
      if (kept?.changes.length !== n) isWhole = false
      else if (isWhole)
        for (const [i, change] of kept.changes.entries()) records.push(numbered(change, id, i, from + i))
      if (!kept?.traceparent || traces.length === MAX_TRACES) continue
      const trace = traceNumbering(kept.traceparent, kept.writtenAt, { from, n })
      if (trace) traces.push(trace)
    }
    return { records: isWhole ? records : null, traces }
  }
}

interface Kept {
  readonly changes: readonly Change[]
  readonly traceparent: string | null
  /** Milliseconds since 1970, of a batch that is traced. */
  readonly writtenAt: number
}

export interface TakenBatches {
  /** Null: not all of the batches were written here. */
  readonly records: readonly PhaseChangeRecord[] | null
  readonly traces: readonly NumberedTrace[]
}

const numbered = (change: Change, batchId: string, idx: number, sequence: number): PhaseChangeRecord => ({
  // First, so that it is copied at one go.
  ...change,
  sequence,
  batchId,
  idx,
})
