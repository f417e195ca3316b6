import type { Change, PhaseChangeRecord, WrittenBatch } from '../core/ports/phase-change.ts'
import type { NumberedBatch } from './number-batches.ts'

/** Changes kept until they are numbered; beyond, the oldest are dropped and read again. */
const MAX_KEPT = 20_000

/** Batches that this process has written and that are not numbered yet, so that announcing them needs no read. */
export class LocalBatches {
  readonly #batches = new Map<string, readonly Change[]>()
  #kept = 0

  add({ id, changes }: WrittenBatch): void {
    if (this.#batches.has(id)) return
    this.#batches.set(id, changes)
    this.#kept += changes.length
    for (const [oldest, { length }] of this.#batches) {
      if (this.#kept <= MAX_KEPT) return
      this.#batches.delete(oldest)
      this.#kept -= length
    }
  }

  clear(): void {
    this.#batches.clear()
    this.#kept = 0
  }

  /** Removes these batches and returns their changes with sequences; null when not all of them were written here. */
  take(batches: readonly NumberedBatch[]): readonly PhaseChangeRecord[] | null {
    const records: PhaseChangeRecord[] = []
    let isWhole = true
    for (const { id, from, n } of batches) {
      const changes = this.#batches.get(id)
      if (this.#batches.delete(id)) this.#kept -= changes?.length ?? 0
      if (changes?.length !== n) isWhole = false
      else if (isWhole) for (const [i, change] of changes.entries()) records.push(numbered(change, id, i, from + i))
    }
    return isWhole ? records : null
  }
}

const numbered = (change: Change, batchId: string, idx: number, sequence: number): PhaseChangeRecord => ({
  sequence,
  batchId,
  idx,
  objectId: change.objectId,
  rootId: change.rootId,
  parentId: change.parentId,
  parentPath: change.parentPath,
  projectId: change.projectId,
  projectName: change.projectName,
  kind: change.kind,
  name: change.name,
  machine: change.machine,
  from: change.from,
  to: change.to,
  actor: change.actor,
  by: change.by,
  byId: change.byId,
  reason: change.reason,
  message: change.message,
  jobId: change.jobId,
  revision: change.revision,
  rejected: change.rejected,
  at: change.at,
})
