import type { FailureCause, ObjectFailure } from '../../core/errors.ts'
import { type Node, type Slice, WORK_STATE } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { installation, isForced } from './details.ts'
import { INSTALLING } from './machines.ts'

/** What ends an object's part in a job, and what its parent and siblings then have to know. The same for all three kinds. */

export const failure = (
  slice: Slice,
  code: string,
  message: string,
  causes: readonly FailureCause[] = [],
  causeCount = causes.length,
): ObjectFailure => ({ code, message, at: slice.now.toISOString(), causeCount, causes })

export interface Ending {
  readonly to: Phase
  readonly error?: ObjectFailure | null
  readonly actor?: 'CONTROLLER' | 'DEPLOYER'
  readonly by?: string | null
  readonly message?: string | null
}

/** Moves an object that has the job to where the job ends for it. */
export function finish(node: Node, slice: Slice, ending: Ending): void {
  const { error = null, actor = 'CONTROLLER', by = null } = ending
  if (error || node.error) slice.setError(node, error)
  if (!slice.parent(node) && wasEdited(node)) slice.effect('editedJobEnded', null)
  slice.move(node, ending.to, {
    actor,
    by,
    reason: error?.code ?? null,
    message: error?.message ?? ending.message ?? null,
  })
  closeWork(node, slice, actor)
  if (ending.to === 'GONE') return
  if (ending.to === 'DELETE_FAILED' && !slice.parent(node)) slice.effect('deletionFailed', null)
  const good = ending.to === 'SUCCEEDED'
  slice.patch(node, { finishedJobId: node.row.jobId })
  tellParent(node, slice, { open: -1, failed: good ? 0 : 1 })
  tellSiblings(node, slice, good)
}

/** Its spec, while its job worked from it. */
const wasEdited = ({ row }: Node): boolean =>
  INSTALLING.includes(row.phase) && row.generation !== row.observedGeneration

/** The object exists no more: what waited for that goes on. */
export function vanish(node: Node, slice: Slice, ending: Omit<Ending, 'to'> & { readonly triggered: boolean }): void {
  finish(node, slice, { ...ending, to: 'GONE' })
  slice.release(node, 'dependencies', 1)
  tellParent(node, slice, ending.triggered ? { open: -1, total: -1 } : { untriggered: -1, total: -1 })
}

/** Unchanged, or ignored: it has had the job without a phase change and counts with the phase that it has. */
export function keep(node: Node, slice: Slice, jobId: string): void {
  slice.patch(node, { jobId, finishedJobId: jobId })
  tellSiblings(node, slice, node.row.phase === 'SUCCEEDED')
}

function closeWork(node: Node, slice: Slice, actor: Ending['actor']): void {
  if (!node.work || node.work.state === WORK_STATE.DONE) return
  // An agent that ended its work itself has let go; one that was overruled may still be at it until its lease ends.
  const lease = actor === 'DEPLOYER' ? { leaseUntil: null } : {}
  slice.setWork(node, { state: WORK_STATE.DONE, dueAt: null, doneAt: slice.now, ...lease })
}

function tellParent(
  node: Node,
  slice: Slice,
  delta: { open?: number; failed?: number; total?: number; untriggered?: number },
) {
  const parent = slice.parent(node)
  if (!parent) return slice.touch(node)
  slice.addChildCounts(parent, delta)
  slice.touch(parent)
}

function tellSiblings(node: Node, slice: Slice, good: boolean): void {
  // A root and an execution depend on nobody, and nobody on them.
  if (!slice.parent(node) || node.row.kind === 'EXECUTION') return
  if (good || isPassedOver(node, slice)) slice.release(node, 'dependents', 1)
  // A nested installation fails with its predecessor, and a deletion stops when a dependent's has failed.
  else if (node.row.kind === 'INSTALLATION') {
    slice.release(node, 'dependents', 0)
    slice.release(node, 'dependencies', 0)
  }
}

/** Its dependents wait for the others that they depend on, and not for its success. */
const isPassedOver = ({ row }: Node, slice: Slice): boolean =>
  row.kind === 'INSTALLATION' && row.deletionRequestedAt === null && isForced(slice)

export function failWithCauses(parent: Node, slice: Slice, to: 'FAILED' | 'DELETE_FAILED'): void {
  const causes = slice.ask<readonly FailureCause[]>('failedChildren', parent.row.id)
  if (!causes) return
  const count = Math.max(parent.childCounts.failed, causes.length)
  if (causes.length === 0) {
    const message = `${count} of its children disappeared.`
    return finish(parent, slice, { to, error: failure(slice, 'ITEM_DISAPPEARED', message, [], count) })
  }
  const names = causes.map((cause) => `${cause.name} (${cause.code})`).join(', ')
  const message = `${names}${count > causes.length ? ` and ${count - causes.length} more` : ''} did not succeed.`
  finish(parent, slice, { to, error: failure(slice, 'CHILDREN_FAILED', message, causes, count) })
}

export const cancelMessage = (slice: Slice): string => {
  const by = installation(slice.root).cancelBy
  return by ? `Cancelled by ${by}.` : 'Cancelled.'
}

/** While orphans are being deleted the parent's tally counts them alone. */
export function orphansFirst(parent: Node, slice: Slice): 'gone' | 'waiting' {
  const { total, untriggered, open, failed } = parent.childCounts
  if (total === 0 || untriggered + open + failed === 0) return 'gone'
  if (failed > 0 && open === 0) failWithCauses(parent, slice, 'FAILED')
  return 'waiting'
}
