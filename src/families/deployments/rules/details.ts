import type { Node, Slice } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import type { DetailsTable } from '../../family.ts'
import type { PendingOrigin, RunOrigin } from './origin.ts'

/** The family's own columns. */

export interface InstallationDetails {
  readonly ignored: boolean
  /** The mode of the running or last job. */
  readonly mode: ReconcileMode
  /** The mode of a pending reconcile; null: none. */
  readonly nextMode: ReconcileMode | null
  /** A deletion is pending. */
  readonly nextDeletion: boolean
  readonly forceDeletion: boolean
  readonly withoutUninstall: boolean
  readonly cancelRequestedAt: Date | null
  readonly cancelBy: string | null
  /** Values as read on entering INIT, valid for the whole job. */
  readonly imports: Readonly<Record<string, unknown>> | null
  /** Exports of the last success, which a failing job does not remove. */
  readonly exports: Readonly<Record<string, unknown>> | null
  /** The origin of the running or last job; null: an earlier version began it. */
  readonly origin: RunOrigin | null
  /** The origin of the pending job. */
  readonly nextOrigin: PendingOrigin | null
}
export interface DeployItemDetails {
  readonly type: string
  readonly target: string | null
  readonly exports: Readonly<Record<string, unknown>> | null
}

const INSTALLATION: DetailsTable = {
  table: 'installation',
  kinds: ['INSTALLATION'],
  columns: {
    ignored: { column: 'ignored', type: 'boolean' },
    mode: { column: 'mode', type: 'reconcile_mode' },
    nextMode: { column: 'next_mode', type: 'reconcile_mode' },
    nextDeletion: { column: 'next_deletion', type: 'boolean' },
    forceDeletion: { column: 'force_deletion', type: 'boolean' },
    withoutUninstall: { column: 'without_uninstall', type: 'boolean' },
    cancelRequestedAt: { column: 'cancel_requested_at', type: 'timestamptz' },
    cancelBy: { column: 'cancel_by', type: 'text' },
    imports: { column: 'imports', type: 'jsonb' },
    exports: { column: 'exports', type: 'jsonb' },
    origin: { column: 'origin', type: 'jsonb' },
    nextOrigin: { column: 'next_origin', type: 'jsonb' },
  },
  defaults: {
    ignored: false,
    mode: 'STANDARD',
    nextMode: null,
    nextDeletion: false,
    forceDeletion: false,
    withoutUninstall: false,
    cancelRequestedAt: null,
    cancelBy: null,
    imports: null,
    exports: null,
    origin: null,
    nextOrigin: null,
  } satisfies InstallationDetails,
}
const DEPLOY_ITEM: DetailsTable = {
  table: 'deploy_item',
  kinds: ['DEPLOY_ITEM'],
  columns: {
    type: { column: 'type', type: 'text' },
    target: { column: 'target', type: 'text' },
    exports: { column: 'exports', type: 'jsonb' },
  },
  defaults: { type: '', target: null, exports: null } satisfies DeployItemDetails,
}
export const detailsTables: readonly DetailsTable[] = [INSTALLATION, DEPLOY_ITEM]

export const installation = (node: Node): InstallationDetails => node.details as InstallationDetails
export const deployItem = (node: Node): DeployItemDetails => node.details as DeployItemDetails

/** A cancel is requested of the root and applies to its running job. */
export const isCancelled = (slice: Slice): boolean => installation(slice.root).cancelRequestedAt !== null
/** FORCE: the job waits neither for failed objects nor for other trees. */
export const isForced = (slice: Slice): boolean => installation(slice.root).mode === 'FORCE'
/** Requested with the running deletion. A pending deletion does not affect the orphans of the job before it. */
export const skipsUninstall = (slice: Slice): boolean =>
  slice.root.row.deletionRequestedAt !== null && installation(slice.root).withoutUninstall

const RANK: Readonly<Record<ReconcileMode, number>> = { IF_CHANGED: 0, STANDARD: 1, FORCE: 2 }
/** FORCE beats STANDARD beats IF_CHANGED. */
export const strongerMode = (a: ReconcileMode | null, b: ReconcileMode): ReconcileMode =>
  a && RANK[a] >= RANK[b] ? a : b
