import { isDue } from '../../../core/deadline.ts'
import { objectFailure } from '../../../core/errors.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { instanceDetails } from './details.ts'
import { askAgain, fail, finish, forget, undone, vanish } from './end-operation.ts'
import { isFailed, isRequested, isWorking, operationAt } from './operations.ts'
import { ask, dispatch } from './requests.ts'

/** Rules of a cluster or app instance. */
export function decideInstance(node: Node, slice: Slice): void {
  const { phase } = node.row
  if (phase === 'DELETE_PREPARE') prepareDeletion(node, slice)
  else if (phase === 'DELETED') vanish(node, slice, {})
  else if (phase === 'NOT_PRESENT') forget(node, slice)
  else if (isRequested(phase) || isWorking(phase)) wait(node, slice)
  else if (isFailed(phase)) undo(node, slice)
}

function wait(node: Node, slice: Slice): void {
  const { work, row } = node
  if (!isDue(work?.dueAt ?? null, slice.now)) return isRequested(row.phase) ? dispatch(node, slice) : undefined
  const seconds = Math.round(slice.timeouts.crmSilenceMs / 1_000)
  const message = work?.pickedUpAt
    ? `Nothing was heard of its CRM about it for ${seconds} s.`
    : `No CRM has connected for ${seconds} s to take it.`
  const unseen = (work?.pickedUpAt ?? null) !== null
  fail(node, slice, { actor: 'CONTROLLER', reason: 'timeout', error: { code: 'TIMEOUT', message }, unseen })
}

function undo(node: Node, slice: Slice): void {
  if (!instanceDetails(node).undoing) undone(node, slice)
  else if (isDue(node.work?.dueAt ?? null, slice.now)) askAgain(node, slice)
  else dispatch(node, slice)
}

/** App instances are deleted before their cluster instance. */
function prepareDeletion(node: Node, slice: Slice): void {
  const children = slice.children(node)
  if (!children) return
  if (children.length === 0) {
    slice.move(node, 'DELETE_REQUESTED')
    ask(node, slice)
    return dispatch(node, slice)
  }
  // Deletion of all was requested, so a READY one could not be removed.
  const remaining = children.filter(({ row }) => row.phase === 'READY')
  if (remaining.length === 0 || children.some(({ row }) => operationAt(row.phase) || row.phase === 'DELETE_PREPARE'))
    return
  const names = remaining.map(({ row }) => row.name)
  const error = { code: 'IN_USE', message: `${names.slice(0, 10).join(', ')} could not be removed.` }
  slice.setError(node, objectFailure(slice, error.code, error.message))
  slice.move(node, 'READY', { message: error.message })
  finish(node, slice)
}
