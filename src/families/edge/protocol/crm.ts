import type { LogStream } from '../../../client/agent/work.ts'
import type { Client } from '../../../client/client.ts'
import type { Phase } from '../../../core/vocabulary.ts'

/** A ClusterInst or an AppInst as it exists on the cloudlet. */
export interface CrmObject {
  readonly kind: 'CLUSTER_INST' | 'APP_INST'
  /** Names, from the cloudlet's down. */
  readonly path: readonly string[]
  /** READY when it exists as its spec says. */
  readonly phase: Phase
  /** Revision of the spec that it was made from; null when unknown. */
  readonly specRevision: number | null
}

/** One operation that the server requests. The spec may hold secrets: never log it. */
export interface CrmRequest {
  /** Opaque; the same for every repetition of one request. */
  readonly fence: string
  readonly objectId: string
  readonly kind: 'CLOUDLET' | 'CLUSTER_INST' | 'APP_INST'
  /** Names, from the cloudlet's down. */
  readonly path: readonly string[]
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly operationId: string
  readonly specRevision: number
  readonly spec: unknown
}

/**
 * Why a request must stop: a newer one for the same object has arrived, the server has withdrawn it, or this CRM ends.
 * In all three cases its outcome is not reported.
 */
export type CrmStopReason = 'REPLACED' | 'STALE' | 'SHUTDOWN'

export interface CrmContext {
  /** Aborts when the request must stop; its `reason` is a CrmStopReason. Then settle as soon as all its work has stopped. */
  readonly signal: AbortSignal
  /**
   * Reports progress, and so that the work is alive: the server gives up a request without a report for long. A new step
   * also becomes a log line. Newer progress replaces progress not sent yet; the last is sent before the outcome.
   */
  readonly progress: (step: string, value?: number, total?: number) => void
  /** Not bound to the context, like `progress`: a driver may destructure it. */
  readonly log: (stream: LogStream, text: string) => void
}

/**
 * Creates, changes and removes the instances themselves. Each method must be idempotent and resolves once the object is as
 * requested; it is called for one object at a time, and for different objects at the same time. Before it throws it
 * restores the previous state. Users see only the message of a CrmProblem, since that of any other error may hold secrets.
 */
export interface CrmDriver {
  /** All complete objects that exist, also those that another CRM has made. */
  list(): Promise<readonly CrmObject[]>
  /** If the object exists already, makes it as the request says. */
  create(request: CrmRequest, context: CrmContext): Promise<void>
  /** If the object does not exist, makes it as the request says. */
  update(request: CrmRequest, context: CrmContext): Promise<void>
  /** If the object does not exist, does nothing. */
  delete(request: CrmRequest, context: CrmContext): Promise<void>
}

/** Why a request failed, for the user. The message must hold no secret. */
export class CrmProblem extends Error {
  override name = 'CrmProblem'
  /** In capitals, e.g. QUOTA_EXCEEDED. */
  readonly code: string
  constructor(message: string, code = 'CRM_FAILED') {
    super(message)
    this.code = code
  }
}

export interface CrmUpgrade {
  /** Settles, either way with the reason, when the new CRM could not be started and has been cleaned up. */
  readonly failed: Promise<unknown>
}

export interface CrmOptions {
  readonly client: Client
  readonly cloudletId: string
  /** Names this process: no other one may ever use it. */
  readonly instance: string
  /** CRM_V2: started by an upgrade, to take over from the running CRM. CRM by default. */
  readonly role?: 'CRM' | 'CRM_V1' | 'CRM_V2' | undefined
  /** Version of the CRM's software. */
  readonly version: string
  /** Milliseconds for which the cloudlet counts as connected without a message of this CRM; 30,000 by default. */
  readonly leaseMs?: number | undefined
  readonly driver: CrmDriver
  /**
   * Interval of checks of the driver's list, in milliseconds. When the list differs from the server's knowledge, the
   * CRM connects again, so that the server records the drift. Absent: only connecting checks it.
   */
  readonly lookMs?: number | undefined
  /**
   * Starts a CRM of the version that the request's spec names, with the role CRM_V2. It resolves once that has started,
   * and rejects when it could not. Without it every upgrade fails.
   */
  readonly onUpgrade?: ((request: CrmRequest, context: CrmContext) => Promise<CrmUpgrade | undefined>) | undefined
  /**
   * With the role CRM_V2, once connected: ends the running CRM, and resolves when that has ended. Until then the driver
   * gets no call but `list`. When it rejects, this CRM ends.
   */
  readonly onTakeOver?: ((signal: AbortSignal) => Promise<void>) | undefined
  /** Ends the CRM: it stops its requests and does not report them, since the next CRM lists the objects that exist. */
  readonly signal: AbortSignal
  /** Receives every problem. By default they are printed to standard error, repeated ones once a minute. */
  readonly onProblem?: ((problem: CrmError) => void) | undefined
}

/** A failure that the CRM survives. The error is for its operator: it may hold secrets of a spec. */
export interface CrmError {
  readonly what: 'list' | 'connect' | 'listen' | 'renew' | 'report' | 'log' | 'work' | 'upgrade'
  readonly error: Error
  readonly objectId?: string
}

/** `STOPPED`: the signal aborted. `SUPERSEDED`: a newer CRM has connected for the same cloudlet. */
export type CrmEnd = 'STOPPED' | 'SUPERSEDED'
