import { objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { MoveOptions, Node, Slice } from '../../../core/tree.ts'
import type { Actor } from '../../../core/vocabulary.ts'
import { instanceDetails } from './details.ts'
import { operationAt } from './operations.ts'
import { ask, dispatch, endRequest } from './requests.ts'

/** Failure, undoing and end of the operations of an instance. */

const NOTHING_KEPT = { keptSpec: null, keptRevision: null, undoing: false } as const

/** Ends an operation with success. `drifted`: the instance exists but differs from its spec. */
export function succeed(node: Node, slice: Slice, options: MoveOptions, { drifted = false } = {}): void {
  slice.move(node, 'READY', options)
  slice.setDetails(node, { ...NOTHING_KEPT, drifted })
  if (node.error) slice.setError(node, null)
  finish(node, slice)
}

/** The instance does not exist any more, so its record is deleted. */
export function vanish(node: Node, slice: Slice, options: MoveOptions): void {
  slice.move(node, 'NOT_PRESENT', options)
  forget(node, slice)
}

export function forget(node: Node, slice: Slice): void {
  finish(node, slice)
  const parent = slice.parent(node)
  slice.move(node, 'GONE', {})
  if (parent) slice.touch(parent)
}

export function finish(node: Node, slice: Slice): void {
  const { jobId, generation } = node.row
  slice.patch(node, { finishedJobId: jobId, observedGeneration: generation, deletionRequestedAt: null })
  endRequest(node, slice)
  if (node.hasProgress) slice.setProgress(node, null)
  const parent = slice.parent(node)
  if (parent) slice.touch(parent)
}

export interface Failing {
  readonly actor: Actor
  readonly by?: Principal | null
  /** Reason of the phase change, e.g. `timeout`. */
  readonly reason?: string
  readonly error: { readonly code: string; readonly message: string }
  /** The CRM may have begun or finished without a report, so it has to undo the operation. */
  readonly unseen: boolean
  /** True if the instance differs from the record before the operation; absent or null: unknown. */
  readonly drifted?: boolean | null
}

/** Fails an operation. It is undone at once, or once the CRM has undone it. */
export function fail(node: Node, slice: Slice, { actor, by = null, reason, error, unseen, drifted }: Failing): void {
  const operation = operationAt(node.row.phase)
  if (!operation) throw new Error(`${node.row.name} is in no operation that could fail: ${node.row.phase}`)
  slice.move(node, operation.failed, { actor, by, message: error.message, ...(reason ? { reason } : {}) })
  slice.setError(node, objectFailure(slice, error.code, error.message))
  if (!unseen) return undone(node, slice, { drifted: drifted ?? null })
  slice.setDetails(node, { undoing: true })
  ask(node, slice)
  slice.touch(node)
}

/** Asks the CRM again to undo the operation. */
export function askAgain(node: Node, slice: Slice): void {
  ask(node, slice)
  dispatch(node, slice)
}

/** Ends the undoing of a failed operation. Null: `drifted` is as before, too. */
export function undone(node: Node, slice: Slice, { drifted = null }: { readonly drifted?: boolean | null } = {}): void {
  const { phase, generation } = node.row
  const { keptSpec, keptRevision, drifted: was } = instanceDetails(node)
  if (phase === 'CREATE_ERROR') return vanish(node, slice, { message: node.error?.message ?? null })
  if (phase === 'UPDATE_ERROR' && keptSpec && keptRevision !== null) {
    slice.setSpec(node, keptSpec)
    slice.patch(node, { generation: generation + 1 })
    slice.setDetails(node, { specRevision: keptRevision })
  }
  slice.setDetails(node, { ...NOTHING_KEPT, drifted: drifted ?? was })
  slice.move(node, 'READY', {})
  finish(node, slice)
}
