import type { Node, Slice } from '../../../core/tree.ts'
import { automaticBegun, beginByItself } from './automatic-reconcile.ts'
import { installation, willSkipUninstall } from './details.ts'
import type { RunOrigin } from './origin.ts'

/** A finished root starts its pending jobs: a deletion first, then one reconcile for any number of requests. */
export function startJob(root: Node, slice: Slice): void {
  const details = installation(root)
  const { ignored, nextMode, nextDeletion, nextOrigin, forceDeletion } = details
  const { phase, deletionRequestedAt } = root.row
  // A root that was never reconciled is in no final phase. `ignored` then applies only to a deletion that could lose data.
  if (slice.isPaused || (ignored && phase !== 'PENDING')) return beginByItself(root, slice)
  if (!nextDeletion && !nextMode) return beginByItself(root, slice)
  // A deletion can be repeated, but not undone.
  const deleting = nextDeletion || deletionRequestedAt !== null
  const requestedAt = nextOrigin?.at === undefined ? slice.now : new Date(nextOrigin.at)
  const jobId = slice.newId()
  const mode = nextMode ?? 'STANDARD'
  const cause = nextDeletion ? 'DELETED' : (nextOrigin?.cause ?? 'REQUESTED')
  slice.setDetails(root, {
    // A version that does not write origins leaves none.
    origin: {
      by: nextOrigin?.by ?? null,
      ...(nextOrigin?.byId !== undefined && { byId: nextOrigin.byId }),
      cause,
      jobId,
      startedAt: slice.now.toISOString(),
    } satisfies RunOrigin,
    nextOrigin: null,
    nextMode: null,
    nextDeletion: false,
    mode,
    forceDeletion: deleting && (forceDeletion || nextMode === 'FORCE'),
    withoutUninstall: deleting && willSkipUninstall(details),
    cancelRequestedAt: null,
    cancelBy: null,
    ...automaticBegun(root, cause, mode),
  })
  // A job has clocks of its own.
  slice.setClock(root, null)
  slice.patch(root, {
    jobId,
    deletionRequestedAt: deleting ? (deletionRequestedAt ?? requestedAt) : null,
  })
  slice.touch(root)
}
