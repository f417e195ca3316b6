import type { ObjectKind, Phase } from '../../core/vocabulary.ts'

/** What is stored of cloudlets and instances. */

/** Of cluster instances and app instances: a JSON object that is the CRM's business. */
export type InstanceSpec = Readonly<Record<string, unknown>>

export type CrmRole = 'CRM' | 'CRM_V1' | 'CRM_V2'
export type CrmAction = 'CREATE' | 'UPDATE' | 'DELETE'

/** One process that serves a cloudlet. */
export interface Session {
  /** CRM serves the cloudlet; CRM_V2 is being brought up by an upgrade. */
  readonly role: 'CRM' | 'CRM_V2'
  readonly epoch: number
  readonly instance: string
  readonly principal: string
  readonly version: string
  readonly connectedAt: string
  /** What its fences are made of, as hex: a process that comes back has the same ones. */
  readonly salt: string
  /** Of the session's own fence, as hex. */
  readonly fenceHash: string
  /** What CRM_V2 has found: taken in when it takes over. */
  readonly objects: readonly ReportedObject[] | null
  /** The number of its last call of connectCrm; 0: it counts none. */
  readonly call: number
}

/** Something that a CRM says to have. */
export interface ReportedObject {
  readonly kind: ObjectKind
  /** Names from the cloudlet down. */
  readonly path: readonly string[]
  readonly phase: Phase
  readonly specRevision: number | null
}
