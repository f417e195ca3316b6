import type { AuditedCall } from '../audit.ts'
import type { Grant } from '../rights.ts'
import type { Actor } from '../vocabulary.ts'

/** The principal behind a change, as the log records it: `by` and `byId`. */
export interface Principal {
  readonly principalId: string
  /** Not unique, and may change. */
  readonly name: string
}

/** The caller, by its credentials. */
export interface Viewer extends Principal {
  readonly tokenId: string
  readonly actor: Actor
  readonly grants: readonly Grant[]
  /** Ids of the projects that it may read; null: all. */
  readonly projects: readonly string[] | null
  /** Work types that an agent may claim; null: all. */
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
  /** The root of the one tree that it may read, such as the event of a worker; absent: it may read all trees. */
  readonly rootId?: string
  /** The attempt of a worker that its token is of, from 0; absent: the first. */
  readonly attempt?: number
  /** When its credentials expire; absent: never. */
  readonly expiresAt?: Date
  /** The origin of the request; absent for a viewer that no gateway has authenticated. */
  readonly origin?: RequestOrigin
  /** The mutation that runs, for the audit. */
  readonly call?: AuditedCall
  /** Writes with each object that is written for this viewer, in the same transaction; a refusal of it rolls both back. */
  readonly alsoWrite?: (client: unknown, objectId: string) => Promise<void>
}

export interface RequestOrigin {
  /** The group of addresses that the request comes from. */
  readonly address: string
  /** The request's own, or one that the gateway has made. */
  readonly requestId: string
  /** Absent: none was sent, or nothing is traced here. Not judged yet. */
  readonly trace?: CallerTrace
}

/** The headers of W3C Trace Context. */
export interface CallerTrace {
  readonly traceparent: string
  readonly tracestate?: string
}
