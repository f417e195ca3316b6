import type { Phase } from '../../core/vocabulary.ts'
import type { LogStream } from '../agent/work.ts'
import type { Client } from '../client.ts'

/** A ClusterInst or an AppInst as it really is. */
export interface CrmObject {
  readonly kind: 'CLUSTER_INST' | 'APP_INST'
  /** Names, from the cloudlet's down. */
  readonly path: readonly string[]
  /** READY, for what is there and as its spec says. */
  readonly phase: Phase
  /** Of the spec that it was made by; null when that is not known. */
  readonly specRevision: number | null
}

/** What the server wants to be done. The spec may hold secrets: never log it. */
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
 * Why a request must stop: a newer one for the same object has come, the server wants it no more, or this CRM ends.
 * In all three cases nobody asks how it ended.
 */
export type CrmStopReason = 'REPLACED' | 'STALE' | 'SHUTDOWN'

export interface CrmContext {
  /** Aborts when the request must stop; its `reason` is a CrmStopReason. Then end as soon as nothing goes on any more. */
  readonly signal: AbortSignal
  /**
   * Tells how far it has got, and so that it is alive: the server gives up what it has not heard of for long. A step that
   * is a new one becomes a line of the log, too. Not told any more when newer progress comes first; the last is told before the end.
   */
  readonly progress: (step: string, value?: number, total?: number) => void
  /** A function of its own, like `progress`: both may be taken out of the context. */
  readonly log: (stream: LogStream, text: string) => void
}

/**
 * What really makes, changes and removes instances. Each method is called for one object at a time, must be idempotent,
 * and resolves once the object is as it was asked for; for different objects they are called at the same time. Before it
 * throws it puts things back as they were. Only the message of a CrmProblem is shown to users, since that of any other
 * error may hold anything.
 */
export interface CrmDriver {
  /** All that is really there, whoever made it. What is half made is not there. */
  list(): Promise<readonly CrmObject[]>
  /** Of what is there already: makes it as the request says. */
  create(request: CrmRequest, context: CrmContext): Promise<void>
  /** Of what is not there: makes it as the request says. */
  update(request: CrmRequest, context: CrmContext): Promise<void>
  /** Of what is not there: nothing. */
  delete(request: CrmRequest, context: CrmContext): Promise<void>
}

/** Why something could not be done, for the user. The message holds no secret. */
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
  /** Settles, either way with the reason, when the new CRM could not be brought up and has been cleaned up. */
  readonly failed: Promise<unknown>
}

export interface CrmOptions {
  readonly client: Client
  readonly cloudletId: string
  /** Names this process: another one must never use it. */
  readonly instance: string
  /** CRM_V2: started by an upgrade, to take over from the CRM that runs. CRM by default. */
  readonly role?: 'CRM' | 'CRM_V1' | 'CRM_V2' | undefined
  /** Of the CRM's software. */
  readonly version: string
  /** Milliseconds: how long the cloudlet counts as connected when nothing is heard of this CRM; 30,000 by default. */
  readonly leaseMs?: number | undefined
  readonly driver: CrmDriver
  /**
   * Starts a CRM of the version that the request's spec names, with the role CRM_V2. It resolves once that is started,
   * and rejects when it could not be. Left out: every upgrade fails.
   */
  readonly onUpgrade?: ((request: CrmRequest, context: CrmContext) => Promise<CrmUpgrade | undefined>) | undefined
  /**
   * With the role CRM_V2, once connected: ends the CRM that runs, and resolves when that has ended. Nothing is asked of
   * the driver but `list` before. When it rejects this CRM ends.
   */
  readonly onTakeOver?: ((signal: AbortSignal) => Promise<void>) | undefined
  /** Ends the CRM: what it is doing is stopped and not reported, since the next one says what is really there. */
  readonly signal: AbortSignal
  /** Told of every trouble. Left out: they are printed to standard error, and what repeats itself once a minute. */
  readonly onProblem?: ((problem: CrmError) => void) | undefined
}

/** Something went wrong that the CRM goes on after. The error is for whoever runs it: it may hold secrets of a spec. */
export interface CrmError {
  readonly what: 'list' | 'connect' | 'listen' | 'renew' | 'report' | 'log' | 'work' | 'upgrade'
  readonly error: Error
  readonly objectId?: string
}

/** `STOPPED`: the signal aborted. `SUPERSEDED`: a newer CRM has connected for the same cloudlet. */
export type CrmEnd = 'STOPPED' | 'SUPERSEDED'
