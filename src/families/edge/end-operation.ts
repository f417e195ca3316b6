import type { ObjectFailure } from '../../core/errors.ts'
import type { MoveOptions, Node, Slice } from '../../core/tree.ts'
import type { Actor } from '../../core/vocabulary.ts'
import { instanceDetails } from './details.ts'
import { operationAt } from './operations.ts'
import { ask, dispatch, settleRequest } from './requests.ts'

/** How the operations of an instance begin to fail, are undone, and end. */

const NOTHING_KEPT = { keptSpec: null, keptRevision: null, undoing: false } as const

/** It is there as it was asked for. `drifted`: it is there, and not quite so. */
export function succeed(node: Node, slice: Slice, options: MoveOptions, { drifted = false } = {}): void {
  slice.move(node, 'READY', options)
  slice.setDetails(node, { ...NOTHING_KEPT, drifted })
  if (node.error) slice.setError(node, null)
  finish(node, slice)
}

/** It is not there any more: its record goes. */
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
  settleRequest(node, slice)
  if (node.hasProgress) slice.setProgress(node, null)
  const parent = slice.parent(node)
  if (parent) slice.touch(parent)
}

export interface Failing {
  readonly actor: Actor
  readonly by?: string | null
  /** Of the phase change, e.g. `timeout`. */
  readonly reason?: string
  readonly error: { readonly code: string; readonly message: string }
  /** The CRM may have begun, or even be done, unseen: it has to take it back. */
  readonly unseen: boolean
  /** Whether what is there now differs from what was recorded before; absent or null: nobody has said. */
  readonly drifted?: boolean | null
}

/** The operation has failed; it is undone at once, or when the CRM has taken it back. */
export function fail(node: Node, slice: Slice, { actor, by = null, reason, error, unseen, drifted }: Failing): void {
  const operation = operationAt(node.row.phase)
  if (!operation) throw new Error(`${node.row.name} is in no operation that could fail: ${node.row.phase}`)
  slice.move(node, operation.failed, { actor, by, message: error.message, ...(reason ? { reason } : {}) })
  slice.setError(node, failureOf(error, slice))
  if (!unseen) return undone(node, slice, { drifted: drifted ?? null })
  slice.setDetails(node, { undoing: true })
  ask(node, slice)
  slice.touch(node)
}

/** The CRM has not taken it back so far: it is asked again. */
export function askAgain(node: Node, slice: Slice): void {
  ask(node, slice)
  dispatch(node, slice)
}

/** What the failed operation was to change is as it was before. Null: and so is whether it has drifted. */
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

export const failureOf = (
  { code, message }: { readonly code: string; readonly message: string },
  slice: Slice,
): ObjectFailure => ({ code, message, at: slice.now.toISOString(), causeCount: 0, causes: [] })
