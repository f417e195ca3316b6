import type { Principal } from '../../../core/ports/viewer.ts'
import { isFinished, type Node, type ObjectRow, type Slice } from '../../../core/tree.ts'
import { type InstallationDetails, installation, willSkipUninstall } from './details.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    endWaits: null
  }
}

/** Requests on a root that have not begun, or have not ended the running job. */

export interface PendingRequest {
  readonly verb: 'delete' | 'reconcile' | 'cancel'
  readonly mode: string | null
  /** Null: the engine itself, or an earlier version has not noted it. */
  readonly by: string | null
  readonly at: Date | null
  readonly message: string
}
export type RequestedDetails = Pick<
  InstallationDetails,
  | 'ignored'
  | 'nextMode'
  | 'nextDeletion'
  | 'nextOrigin'
  | 'forceDeletion'
  | 'withoutUninstall'
  | 'cancelRequestedAt'
  | 'cancelBy'
> & { readonly isPaused: boolean }
type Lifecycle = Pick<ObjectRow, 'parentId' | 'phase' | 'jobId' | 'finishedJobId'>

/** At most a cancel and one more: a deletion beats a reconcile. */
export function pendingRequestsOf(row: Lifecycle, details: RequestedDetails): readonly PendingRequest[] {
  if (row.parentId !== null) return []
  const { nextMode, nextDeletion, nextOrigin, forceDeletion, cancelRequestedAt, cancelBy } = details
  const at = nextOrigin?.at === undefined ? null : new Date(nextOrigin.at)
  const next = { by: nextOrigin?.by ?? null, at }
  const cancel: PendingRequest = {
    verb: 'cancel',
    mode: null,
    by: cancelBy,
    at: cancelRequestedAt,
    message: 'Nothing more is started, and what runs is being stopped.',
  }
  const isStopping = cancelRequestedAt !== null && !isFinished(row)
  const begins = beginOf(row, details)
  if (nextDeletion) {
    const mode = forceDeletion || nextMode === 'FORCE' ? 'FORCE' : 'STANDARD'
    const how = willSkipUninstall(details) ? ', without uninstalling anything' : ''
    const deletion: PendingRequest = { verb: 'delete', mode, ...next, message: `Its deletion begins ${begins}${how}.` }
    return isStopping ? [cancel, deletion] : [deletion]
  }
  const reconcile: readonly PendingRequest[] = nextMode
    ? [{ verb: 'reconcile', mode: nextMode, ...next, message: `${causeOf(nextOrigin?.cause)}A job begins ${begins}.` }]
    : []
  return isStopping ? [cancel, ...reconcile] : reconcile
}

/** An item whose deployer should stop. */
export function stopOf({
  abortRequestedAt,
  abortCode,
  stoppedBy,
}: {
  readonly abortRequestedAt: Date | null
  readonly abortCode: string | null
  /** The principal that cancelled the job. */
  readonly stoppedBy: string | null
}): readonly PendingRequest[] {
  if (abortRequestedAt === null) return []
  const isCancelled = abortCode === 'ABORTED'
  const message = `${isCancelled ? '' : 'It has taken too long. '}Its deployer is asked to stop.`
  return [{ verb: 'cancel', mode: null, by: isCancelled ? stoppedBy : null, at: abortRequestedAt, message }]
}

/** When a job that is requested begins. */
export const beginOf = (row: Lifecycle, details: RequestedDetails): string => {
  if (!isFinished(row)) return 'once the running job has ended'
  if (details.isPaused) return 'once it is resumed'
  return isIgnored(row, details) ? 'once `ignored` is false' : 'now'
}
/** A root that was never reconciled is in no final phase, so `ignored` does not hold it back. */
const isIgnored = (row: Lifecycle, { ignored }: Pick<RequestedDetails, 'ignored'>): boolean =>
  ignored && row.phase !== 'PENDING'

function causeOf(cause: string | undefined): string {
  if (cause === 'IMPORTS_CHANGED') return 'Its imports have changed. '
  if (cause === 'AUTOMATIC') return 'Its time has come. '
  if (cause === 'CHANGED') return 'It was changed. '
  return cause === 'ROLLED_BACK' ? 'An earlier spec was brought back. ' : ''
}

/** Writes a request, and records it in the log if it waits, and is not the same as before. */
export function remember(
  root: Node,
  slice: Slice,
  patch: Partial<InstallationDetails>,
  by: Principal | null = null,
): void {
  const requests = () => pendingRequestsOf(root.row, { ...installation(root), isPaused: slice.isPaused })
  const known = new Set(requests().map(keyOf))
  slice.setDetails(root, patch)
  if (!isFinished(root.row) && (patch.nextMode || patch.nextDeletion)) slice.effect('endWaits', null)
  if (isFinished(root.row) && !slice.isPaused && !isIgnored(root.row, installation(root))) return
  for (const request of requests()) {
    if (known.has(keyOf(request))) continue
    const { verb, mode, message } = request
    const reason = `${verb} requested${mode === null || mode === 'STANDARD' ? '' : `, ${mode}`}`
    slice.recordRequest(root, { by, reason, message })
  }
}
const keyOf = ({ verb, mode, by, message }: PendingRequest): string => `${verb} ${mode} ${by} ${message}`
