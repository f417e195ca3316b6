import { transitionRefused } from '../../../core/errors.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { uuid } from '../../../store/column-types.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { type CommandResult, type Fenced, ifUnchanged, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { rights } from '../rights.ts'
import { isOver } from '../rules/details.ts'
import { countFailure, endJob, journal, offerJob, offerUndo } from '../rules/end-job.ts'
import type { OperationsParts } from './parts.ts'

/** Commands that end tasks, and that decide about jobs that could not be undone. */

type Refused = 'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'
type FencedResult = CommandResult<Refused | 'ConflictError'>
type Ended = CommandResult<'TransitionError'>

interface CancelTask extends Keyed, Fenced {
  readonly id: string
  readonly reason?: string | null
}
export const cancelTask = (parts: OperationsParts, viewer: Viewer, input: CancelTask): Promise<FencedResult> =>
  onObject(
    parts,
    viewer,
    { right: rights.cancel, id: input.id, what: 'task', once: byKey('cancelTask', input) },
    (tree) => ifUnchanged(tree, input, () => cancel(tree, viewer, input.reason ?? null)),
  )

interface DeleteTask extends Fenced {
  readonly id: string
}
export const deleteTask = (parts: OperationsParts, viewer: Viewer, input: DeleteTask): Promise<FencedResult> =>
  onObject(parts, viewer, { right: rights.delete, id: input.id, what: 'task' }, (tree) =>
    ifUnchanged(tree, input, () => remove(tree, viewer)),
  )

export interface ResolveUndo extends Keyed {
  /** The job's id. */
  readonly id: string
  readonly decision: 'RETRY' | 'GIVE_UP'
}
export const resolveUndo = (
  parts: OperationsParts,
  viewer: Viewer,
  input: ResolveUndo,
): Promise<CommandResult<Refused>> =>
  onObject(
    parts,
    viewer,
    { right: rights.resolveUndo, id: input.id, what: 'job', once: byKey('resolveUndo', input) },
    (tree, node) => resolve(tree, node, viewer, input),
  )

const TASK_JOB_IDS = statement({
  name: 'task-job-ids',
  text: 'select id from object where parent_id = $1 order by ordinal',
  params: [uuid],
  row: { id: table.object.id },
})

async function jobsOf(tree: LockedTree): Promise<readonly Node[]> {
  const { rows } = await TASK_JOB_IDS.query(tree.client, [tree.root.row.id])
  await tree.load(rows.map(({ id }) => id))
  return rows.flatMap(({ id }) => tree.slice.get(id) ?? [])
}

async function cancel(tree: LockedTree, viewer: Viewer, reason: string | null): Promise<Ended> {
  const { root, slice } = tree
  const { phase, kind, id } = root.row
  if (phase !== 'PENDING' && phase !== 'RUNNING') {
    tree.reject(root, 'ABORTING', viewer, 'It has ended, or is being aborted already.')
    const refusal = transitionRefused(kind, phase, 'USER', 'ABORTING', [])
    return refuse({ ...refusal, message: `It cannot be cancelled any more: it is ${phase}.` })
  }
  const { name } = viewer
  const message = reason ? `Cancelled by ${name}: ${reason}` : `Cancelled by ${name}.`
  slice.move(root, 'ABORTING', { actor: 'USER', by: viewer, message })
  slice.setDetails(root, { cancelBy: name })
  for (const node of await jobsOf(tree)) abort(node, slice, viewer, message)
  tree.wake([id])
  return { ok: true, objectId: id }
}

function abort(node: Node, slice: Slice, by: Principal, message: string): void {
  const { phase } = node.row
  if (phase === 'PENDING' || phase === 'DECLARING' || phase === 'WAITING') {
    const error = { code: 'CANCELED', message }
    return endJob(node, slice, { to: 'ABORTED', actor: 'USER', by, error, satisfies: false })
  }
  // A job that is being undone is undone completely, but does not run again.
  if (phase !== 'RUNNING') return
  slice.move(node, 'ABORTING', { actor: 'USER', by, message })
  if (node.work?.state === WORK_STATE.CLAIMED) slice.setWork(node, { abortRequestedAt: slice.now })
  else offerJob(node, slice, 'ABORT')
}

async function remove(tree: LockedTree, viewer: Viewer): Promise<Ended> {
  const { root, slice } = tree
  const { phase, kind, id } = root.row
  if (phase !== 'SUCCEEDED' && phase !== 'FAILED' && phase !== 'ABORTED') {
    tree.reject(root, 'GONE', viewer, 'It has not ended.')
    const refusal = transitionRefused(kind, phase, 'USER', 'GONE', [])
    const undecided = (await jobsOf(tree)).find(({ row }) => row.phase === 'UNDO_FAILED')
    const first = undecided
      ? `decide about its job ${undecided.row.name}, which could not be undone,`
      : 'cancel it, or wait for its end,'
    return refuse({ ...refusal, message: `It is ${phase}: ${first} before it is deleted.` })
  }
  for (const node of await jobsOf(tree)) slice.move(node, 'GONE', { reason: 'deleted with its task' })
  slice.move(root, 'GONE', { actor: 'USER', by: viewer })
  return { ok: true, objectId: id }
}

function resolve(tree: LockedTree, node: Node, viewer: Viewer, { decision }: ResolveUndo): Ended {
  const { slice, wake, reject } = tree
  const { phase, kind, id } = node.row
  const to = decision === 'RETRY' ? 'UNDOING' : 'FAILED'
  if (phase !== 'UNDO_FAILED' || isOver(phase)) {
    reject(node, to, viewer, 'Its undo has not failed.')
    const refusal = transitionRefused(kind, phase, 'USER', to, [])
    return refuse({ ...refusal, message: `There is nothing to decide: the job is ${phase}.` })
  }
  const by = viewer
  if (decision === 'RETRY') {
    countFailure(node, slice, () => slice.move(node, 'UNDOING', { actor: 'USER', by }))
    slice.setError(node, null)
    offerUndo(node, slice)
  } else {
    journal(node, slice, 'FAILED')
    const error = { code: 'UNDO_GIVEN_UP', message: `${by.name} has given up undoing it: ${node.error?.message ?? ''}` }
    endJob(node, slice, { to: 'FAILED', actor: 'USER', by, error, satisfies: false })
  }
  wake([tree.root.row.id])
  return { ok: true, objectId: id }
}
