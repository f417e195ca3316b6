import type { Principal } from '../../../core/ports/viewer.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'

/** Stored specs of cloudlets and instances. */

/** Spec of cluster and app instances: a JSON object that only the CRM interprets. */
export type InstanceSpec = Readonly<Record<string, unknown>>

export type CrmRole = 'CRM' | 'CRM_V1' | 'CRM_V2'
export type CrmAction = 'CREATE' | 'UPDATE' | 'DELETE'

/** One process that serves a cloudlet. */
export interface Session extends Principal {
  /** CRM serves the cloudlet; CRM_V2 is started by an upgrade. */
  readonly role: 'CRM' | 'CRM_V2'
  readonly epoch: number
  readonly instance: string
  readonly version: string
  readonly connectedAt: string
  /** Salt of its fences, as hex, so that a process that reconnects has the same ones. */
  readonly salt: string
  /** Hash of the session's own fence, as hex. */
  readonly fenceHash: string
  /** The data that CRM_V2 gathered, applied when it takes over. */
  readonly objects: readonly ReportedObject[] | null
  /** The number of its last call of connectCrm; 0: the process does not count its calls. */
  readonly call: number
}

/** An instance that a CRM reports. */
export interface ReportedObject {
  readonly kind: ObjectKind
  /** Names from the cloudlet down. */
  readonly path: readonly string[]
  readonly phase: Phase
  readonly specRevision: number | null
}
