import { transitionRefused } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { activeIds } from '../../../store/objects.ts'
import { type CommandResult, type Fenced, ifUnchanged, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { rights } from '../rights.ts'
import { askForJob } from '../rules/ask-for-job.ts'
import { installation } from '../rules/details.ts'
import { requestedBy } from '../rules/origin.ts'
import { remember } from '../rules/pending-requests.ts'
import { requireRoot } from './access.ts'
import type { CommandParts } from './parts.ts'

/** Commands on a whole tree: delete, cancel, reconcile. They write what is wanted; the engine does the rest. */

type RootRefusal = 'NotFoundError' | 'InvalidInputError' | 'ForbiddenError'
/** The API promises one more refusal than there is at present. */
type JobResult = CommandResult<RootRefusal | 'ConflictError' | 'TransitionError'>

interface DeleteInstallation extends Fenced {
  readonly id: string
  readonly withoutUninstall: boolean
  readonly force: boolean
}
export const deleteInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: DeleteInstallation,
): Promise<JobResult> =>
  onObject(parts, viewer, { right: rights.delete, id: input.id, what: 'installation' }, (tree) =>
    ifUnchanged(tree, input, () => requestDeletion(tree, viewer, input)),
  )

interface CancelInstallation extends Keyed, Fenced {
  readonly id: string
  readonly reason?: string | null
}
export const cancelInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: CancelInstallation,
): Promise<CommandResult<RootRefusal | 'ConflictError' | 'TransitionError'>> =>
  onObject(
    parts,
    viewer,
    { right: rights.cancel, id: input.id, what: 'installation', once: byKey('cancelInstallation', input) },
    (tree) => ifUnchanged(tree, input, () => cancel(tree, viewer, input)),
  )

interface ReconcileInstallation extends Keyed, Fenced {
  readonly id: string
  readonly mode: ReconcileMode
}
export const reconcileInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: ReconcileInstallation,
): Promise<JobResult> =>
  onObject(
    parts,
    viewer,
    { right: rights.reconcile, id: input.id, what: 'installation', once: byKey('reconcileInstallation', input) },
    (tree) => ifUnchanged(tree, input, () => requestJob(tree, viewer, input)),
  )

function requestJob(
  tree: LockedTree,
  viewer: Viewer,
  { id, mode }: ReconcileInstallation,
): CommandResult<'InvalidInputError'> {
  const refused = requireRoot(tree, id)
  if (refused) return refuse(refused)
  askForJob(tree.root, mode, requestedBy(viewer, 'REQUESTED'), tree.slice, viewer)
  tree.wake([id])
  return { ok: true, objectId: id }
}

async function requestDeletion(
  tree: LockedTree,
  viewer: Viewer,
  { id, withoutUninstall, force }: DeleteInstallation,
): Promise<CommandResult<'InvalidInputError'>> {
  const refused = requireRoot(tree, id)
  if (refused) return refuse(refused)
  const { root, slice, client, wake } = tree
  const { forceDeletion, nextDeletion } = installation(root)
  const isRequested = root.row.deletionRequestedAt !== null || nextDeletion
  const asked = {
    nextDeletion: true,
    // A deletion that runs stays as it was requested.
    nextOrigin: { ...requestedBy(viewer, 'DELETED'), at: slice.now.toISOString(), withoutUninstall },
    forceDeletion: force || (forceDeletion && isRequested),
  } as const
  remember(root, slice, asked, viewer)
  // It also releases the nested ones that wait for importers in a running deletion.
  wake(force ? [id, ...(await activeIds(client, id))] : [id])
  return { ok: true, objectId: id }
}

/** Drops a reconcile that has not begun; keeps a requested deletion. */
async function cancel(
  tree: LockedTree,
  viewer: Viewer,
  { id, reason }: CancelInstallation,
): Promise<CommandResult<'InvalidInputError' | 'TransitionError'>> {
  const refused = requireRoot(tree, id)
  if (refused) return refuse(refused)
  const { root, slice, client, wake, reject } = tree
  const { row } = root
  const details = installation(root)
  if (isFinished(row)) {
    if (!details.nextMode) {
      const refusal = transitionRefused(row.kind, row.phase, 'USER', 'ABORTED', [])
      reject(root, 'ABORTED', viewer, NOTHING_RUNS)
      return refuse({ ...refusal, message: NOTHING_RUNS })
    }
    dropReconcile(root, slice, viewer)
    // Roots that import from it have waited for the job that is dropped.
    slice.effect('ready', null)
    return { ok: true, objectId: id }
  }
  dropReconcile(root, slice, viewer)
  const asked = {
    cancelRequestedAt: details.cancelRequestedAt ?? slice.now,
    cancelBy: details.cancelBy ?? (reason ? `${viewer.name} (${reason})` : viewer.name),
  }
  remember(root, slice, asked, viewer)
  wake(await activeIds(client, id))
  return { ok: true, objectId: id }
}

/** The log says what does not run: the job that is dropped may hold the spec that was to repair the running one. */
function dropReconcile(root: Node, slice: Slice, by: Viewer): void {
  const { nextDeletion, nextOrigin, nextMode } = installation(root)
  if (!nextMode) return
  slice.setDetails(root, { nextMode: null, nextOrigin: nextDeletion ? nextOrigin : null })
  if (nextDeletion) return
  const { generation, observedGeneration } = root.row
  const unused = generation === observedGeneration ? '' : ` No job has used generation ${generation}: reconcile it.`
  const message = `The job that was to follow is dropped.${unused}`
  slice.recordRequest(root, { by, reason: 'reconcile dropped', message })
}

const NOTHING_RUNS = 'Nothing is running that could be cancelled.'
