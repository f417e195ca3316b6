import { notFound, transitionRefused } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isFinished } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { activeIds } from '../../../store/objects.ts'
import { type CommandResult, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { idempotent } from '../../idempotent.ts'
import { askForJob } from '../ask-for-job.ts'
import { installation } from '../details.ts'
import { onRoot } from './access.ts'
import type { CommandParts } from './parts.ts'

/** Commands on the job of a root: delete, cancel, reconcile. Each enqueues a wake-up; the engine does the rest. */

type RootRefusal = 'NotFoundError' | 'InvalidInputError' | 'ForbiddenError'
/** The API promises two more refusals than there are at present. */
type JobResult = CommandResult<RootRefusal | 'ConflictError' | 'TransitionError'>

export const deleteInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: { id: string; withoutUninstall: boolean; force: boolean },
): Promise<JobResult> =>
  onRoot(parts, viewer, input.id, async ({ root, slice, wake }) => {
    const { forceDeletion } = installation(root)
    slice.setDetails(root, {
      nextDeletion: true,
      withoutUninstall: input.withoutUninstall,
      forceDeletion: input.force || (forceDeletion && root.row.deletionRequestedAt !== null),
    })
    wake([root.row.id])
    return { ok: true, objectId: root.row.id }
  })

export const cancelInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: { id: string; reason?: string | null },
): Promise<CommandResult<RootRefusal | 'TransitionError'>> =>
  onRoot(parts, viewer, input.id, async (tree) =>
    cancel(tree, viewer, input.reason ? `${viewer.name} (${input.reason})` : viewer.name),
  )

export async function reconcileInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: { id: string; mode: ReconcileMode; idempotencyKey?: string | null },
): Promise<JobResult> {
  const remember = async ({ root, slice, wake }: LockedTree): Promise<CommandResult<never>> => {
    askForJob(root, input.mode, slice)
    wake([root.row.id])
    return { ok: true, objectId: root.row.id }
  }
  if (!input.idempotencyKey) return onRoot(parts, viewer, input.id, remember)
  // Stores the key and its effect together, under the lock of the project, or not at all.
  return onRoot(parts, viewer, input.id, remember, ({ rootId, projectName }, work) =>
    parts.trees.inProject(projectName, (project) =>
      idempotent(project, viewer, 'reconcileInstallation', input, async () => {
        const tree = await project.lockTree(rootId)
        return tree ? work(tree) : refuse(notFound(input.id, 'installation'))
      }),
    ),
  )
}

/** Drops a reconcile that is still to begin, and keeps such a deletion. */
async function cancel(
  { root, slice, client, wake, reject }: LockedTree,
  viewer: Viewer,
  by: string,
): Promise<CommandResult<'TransitionError'>> {
  const { row } = root
  const details = installation(root)
  if (isFinished(row)) {
    if (!details.nextMode) {
      const refusal = transitionRefused(row.kind, row.phase, 'USER', 'ABORTED', [])
      reject(root, 'ABORTED', viewer.name, 'Nothing is running that could be cancelled.')
      return refuse({ ...refusal, message: 'Nothing is running that could be cancelled.' })
    }
    slice.setDetails(root, { nextMode: null })
    return { ok: true, objectId: row.id }
  }
  slice.setDetails(root, {
    nextMode: null,
    cancelRequestedAt: details.cancelRequestedAt ?? slice.now,
    cancelBy: details.cancelBy ?? by,
  })
  wake(await activeIds(client, row.id))
  return { ok: true, objectId: row.id }
}
