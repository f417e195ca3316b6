import type { LimitRequest } from '../../../core/limit-request.ts'
import type { Retry } from '../../../core/retry.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import type { Gate } from '../../gate.ts'
import type { Editor } from '../../on-behalf.ts'
import type { PendingOrigin, RunOrigin } from './origin.ts'
import type { AutomaticReconcile } from './spec.ts'

/** The family's own columns. */

/** They are set by users, and need no job. */
export const SETTINGS = ['description', 'ignored'] as const

/** Kept beside the spec, which the end of a job does not read. */
export interface AutomaticState {
  readonly policy: AutomaticReconcile
  /** Jobs that begin by themselves have the rights of this principal, and no more. */
  readonly editor: Editor
  /** The next time, as ISO 8601; null: none until the end of a job sets one. */
  readonly due: string | null
  /** Jobs that began by themselves since the last success, edit or request. */
  readonly retries: number
  /** Why the last time has begun no job; left out: it has. */
  readonly problem?: string
}

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
  /** Jobs of a root that begin by themselves; null: none do. */
  readonly automaticReconcile: AutomaticState | null
  /** The principal that has written the spec; null: an earlier version has noted none. */
  readonly editorId: string | null
}
/** Kept beside the item, since a claim and a report read no spec. */
export interface ItemRetry extends Retry {
  /** The pickup timeout of the item, whose clock starts again with each attempt; null: never. */
  readonly pickupMs: number | null
  /** Claims of the attempts that have ended; left out: none has. */
  readonly claims?: number
}
export interface DeployItemDetails {
  readonly type: string
  readonly target: string | null
  readonly exports: Readonly<Record<string, unknown>> | null
  /** The retry policy of the running or last job, and its attempts that have ended; null: it has none. */
  readonly retry: ItemRetry | null
  /** The gate of the running or last job; null: it is none. */
  readonly gate: Gate | null
  /** Null: it neither waits for limits nor holds any. */
  readonly limits: ItemLimits | null
}
export interface ItemLimits {
  /** Requests of the running job. */
  readonly requests: readonly LimitRequest[]
  /** From the offer until no deployer can be at work. False: it waits for them, or for the time of its next attempt. */
  readonly held: boolean
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
  automaticReconcile: null,
  editorId: null,
}
export const NEW_DEPLOY_ITEM: DeployItemDetails = {
  ...{ type: '', target: null, exports: null, retry: null, gate: null, limits: null },
}

export const installation = (node: Node): InstallationDetails => node.details as InstallationDetails
export const deployItem = (node: Node): DeployItemDetails => node.details as DeployItemDetails

/** A cancel is requested of the root and applies to its running job. */
export const isCancelled = (slice: Slice): boolean => installation(slice.root).cancelRequestedAt !== null
/** FORCE: the job waits neither for failed objects nor for other trees. */
export const isForced = (slice: Slice): boolean => installation(slice.root).mode === 'FORCE'
/** Requested with the running deletion. A pending deletion does not affect the orphans of the job before it. */
export const skipsUninstall = (slice: Slice): boolean =>
  slice.root.row.deletionRequestedAt !== null && installation(slice.root).withoutUninstall
/** True if the next deletion calls no deployer. Without a word of its own it is as the one before. */
export const willSkipUninstall = ({
  nextOrigin,
  withoutUninstall,
}: Pick<InstallationDetails, 'nextOrigin' | 'withoutUninstall'>): boolean =>
  nextOrigin?.withoutUninstall ?? withoutUninstall

const RANK: Readonly<Record<ReconcileMode, number>> = { IF_CHANGED: 0, STANDARD: 1, FORCE: 2 }
/** FORCE beats STANDARD beats IF_CHANGED. */
export const strongerMode = (a: ReconcileMode | null, b: ReconcileMode): ReconcileMode =>
  a && RANK[a] >= RANK[b] ? a : b
