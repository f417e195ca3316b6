import { notFound, transitionRefused } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports.ts'
import { isFinished } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { activeIds } from '../../../store/objects.ts'
import { type Done, refuse } from '../../access.ts'
import type { HeldTree } from '../../family.ts'
import { once } from '../../keys.ts'
import { askForJob } from '../ask-for-job.ts'
import { installation } from '../facts.ts'
import { onRoot } from './access.ts'
import type { CommandParts } from './parts.ts'

/** Asked of a root: delete, cancel, reconcile. Each only leaves word. */

export const deleteInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: { id: string; withoutUninstall: boolean; force: boolean },
): Promise<Done> =>
  onRoot(parts, viewer, input.id, async ({ root, slice, wake }) => {
    const { forceDeletion } = installation(root)
    slice.setFacts(root, {
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
): Promise<Done> =>
  onRoot(parts, viewer, input.id, async (held) =>
    cancel(held, viewer, input.reason ? `${viewer.name} (${input.reason})` : viewer.name),
  )

export async function reconcileInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: { id: string; mode: ReconcileMode; idempotencyKey?: string | null },
): Promise<Done> {
  const remember = async ({ root, slice, wake }: HeldTree): Promise<Done> => {
    askForJob(root, input.mode, slice)
    wake([root.row.id])
    return { ok: true, objectId: root.row.id }
  }
  if (!input.idempotencyKey) return onRoot(parts, viewer, input.id, remember)
  // The key and what it stands for are kept together, under the scope's lock, or not at all.
  return onRoot(parts, viewer, input.id, remember, ({ rootId, projectName }, work) =>
    parts.trees.inScope(projectName, (scope) =>
      once(scope, viewer, 'reconcileInstallation', input, async () => {
        const held = await scope.hold(rootId)
        return held ? work(held) : refuse(notFound(input.id, 'installation'))
      }),
    ),
  )
}

/** Drops a remembered reconcile, keeps a remembered deletion. */
async function cancel({ root, slice, client, wake, reject }: HeldTree, viewer: Viewer, by: string): Promise<Done> {
  const { row } = root
  const facts = installation(root)
  if (isFinished(row)) {
    if (!facts.nextMode) {
      const refusal = transitionRefused(row.kind, row.phase, 'USER', 'ABORTED', [])
      reject(root, 'ABORTED', viewer.name, 'Nothing is running that could be cancelled.')
      return refuse({ ...refusal, message: 'Nothing is running that could be cancelled.' })
    }
    slice.setFacts(root, { nextMode: null })
    return { ok: true, objectId: row.id }
  }
  slice.setFacts(root, {
    nextMode: null,
    cancelRequestedAt: facts.cancelRequestedAt ?? slice.now,
    cancelBy: facts.cancelBy ?? by,
  })
  wake(await activeIds(client, row.id))
  return { ok: true, objectId: row.id }
}
