import type { Node } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { InstanceSpec, ReportedObject, Session } from './spec.ts'

/** The family's own columns. */

export interface CloudletDetails {
  readonly version: string | null
  /** Present while an upgrade runs or is not resolved. */
  readonly wantedVersion: string | null
  /** The last assigned epoch. */
  readonly epoch: number
  readonly sessions: readonly Session[]
  /** The last process instances that newer ones have replaced. */
  readonly replaced: readonly string[]
  readonly upgradePhase: Phase
  readonly upgradeSince: Date | null
  readonly upgradeDue: Date | null
  /** End of the wait for the first CRM. */
  readonly connectDue: Date | null
  readonly orphans: readonly ReportedObject[]
  readonly resyncedAt: Date | null
}
export interface InstanceDetails {
  readonly specRevision: number
  /** The greatest one so far. */
  readonly lastRevision: number
  /** The spec that a failed update restores. */
  readonly keptSpec: InstanceSpec | null
  readonly keptRevision: number | null
  readonly drifted: boolean
  /** The CRM has to undo an operation that was withdrawn or has timed out. */
  readonly undoing: boolean
}

export const NEW_CLOUDLET: CloudletDetails = {
  version: null,
  wantedVersion: null,
  epoch: 0,
  sessions: [],
  replaced: [],
  upgradePhase: 'READY',
  upgradeSince: null,
  upgradeDue: null,
  connectDue: null,
  orphans: [],
  resyncedAt: null,
}
export const NEW_INSTANCE: InstanceDetails = {
  specRevision: 1,
  lastRevision: 1,
  keptSpec: null,
  keptRevision: null,
  drifted: false,
  undoing: false,
}

export const cloudletDetails = (node: Node): CloudletDetails => node.details as CloudletDetails
export const instanceDetails = (node: Node): InstanceDetails => node.details as InstanceDetails

/** The session that serves the cloudlet, or was the last to do so. */
export const servingSession = (cloudlet: Node): Session | null =>
  cloudletDetails(cloudlet).sessions.find(({ role }) => role === 'CRM') ?? null
export const upgradeSession = (cloudlet: Node): Session | null =>
  cloudletDetails(cloudlet).sessions.find(({ role }) => role === 'CRM_V2') ?? null

/** A newer process has replaced the one that got the request, although nothing was dispatched in its place. */
export const isFromReplacedCrm = ({ work }: Node, cloudlet: Node): boolean =>
  (work?.instance ?? null) !== null &&
  !cloudletDetails(cloudlet).sessions.some(({ instance }) => instance === work?.instance)

const UPGRADING: readonly Phase[] = ['UPDATE_REQUESTED', 'UPDATING', 'INIT_OK']
/** An upgrade runs. */
export const isUpgrading = (cloudlet: Node): boolean => UPGRADING.includes(cloudletDetails(cloudlet).upgradePhase)
