import type { Node, Slice } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import type { PendingOrigin, RunOrigin } from './origin.ts'

/** The family's own columns. */

/** They are set by users, and need no job. */
export const SETTINGS = ['description', 'ignored'] as const

export interface InstallationDetails {
  readonly description: string
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

export const NEW_INSTALLATION: InstallationDetails = {
  description: '',
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
}
export const NEW_DEPLOY_ITEM: DeployItemDetails = { type: '', target: null, exports: null }

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
