import type { Actor, ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import type { RowOf } from '../../src/store/statement.ts'
import * as tables from '../../src/store/tables.ts'

/**
 * The evidence that the checker of a chaos run reads: the log and tables of the database, the records of agents and gadgets,
 * the changes that readers received, and the answers that users got. Times (`…Ms`) use the machine's monotonic clock, which
 * all processes of a run share, whatever their wall clocks say.
 */
export interface Evidence {
  readonly log: readonly LoggedChange[]
  readonly tables: Tables
  /** Tickets and overrides of limits and pauses of trees, each time that a row has changed, in the order of the transactions. */
  readonly flow: readonly FlowChange[]
  /** The project's secrets, opened. */
  readonly secrets: readonly { readonly name: string; readonly value: string | null }[]
  /** The secrets copied into events, opened. */
  readonly copies: readonly { readonly eventId: string; readonly value: string | null }[]
  /** The time of the database when the tables were read. */
  readonly databaseNow: Date
  /** Mutations that users sent. */
  readonly mutations: readonly UserMutation[]
  /** Requests with tokens that may be revoked. */
  readonly probes: readonly TokenProbe[]
  readonly readers: readonly ReaderRecord[]
  /** Requests of senders to the hook. */
  readonly deliveries: readonly SentDelivery[]
  /** Requests that receivers of notifications got, in their order. */
  readonly messages: readonly ReceivedMessage[]
  /** The trees whose gates may open by the answer of an address. */
  readonly answered: ReadonlySet<string>
  /** Work of deployers, as their own processes wrote it down. */
  readonly spans: readonly WorkSpan[]
  /** Lines of gadgets, in the order in which they were written into one file. */
  readonly gadgets: readonly GadgetLine[]
  /** Workers, once for each time that one was started. */
  readonly starts: readonly WorkerStart[]
  /** The most workers that may run at a time. */
  readonly maxWorkers: number
  /** Objects that deployers have installed and not removed. */
  readonly installed: readonly string[]
  /** Workloads of which runtimes still have a folder. */
  readonly leftovers: readonly string[]
  readonly edge: { readonly recorded: readonly string[]; readonly found: readonly string[] }
  readonly faults: readonly PerformedFault[]
  /** Ends of agents, each seen by its parent: no process of that id does anything later. */
  readonly deaths: readonly Death[]
}

/** Tables of the store whose rows the promises are about. The others have their reasons in `UNWATCHED`. */
export const WATCHED = [
  'object',
  'objectSpec',
  'tally',
  'edge',
  'installation',
  'specSnapshot',
  'run',
  'specGeneration',
  'deployItem',
  'event',
  'eventSecret',
  'workload',
  'capacity',
  'task',
  'gadgetJob',
  'journal',
  'lock',
  'cloudlet',
  'edgeInst',
  'crmLease',
  'work',
  'clock',
  'wake',
  'rootQueue',
  'rootExport',
  'rootImport',
  'dataObject',
  'exportPin',
  'logBatch',
  'logObject',
  'logMeta',
  'logLine',
  'logTail',
  'idempotencyKey',
  'principal',
  'principalGrant',
  'token',
  'auditEvent',
  'auditAnchor',
  'schedule',
  'firing',
  'hook',
  'hookDelivery',
  'notificationRule',
  'notification',
  'flowLimit',
  'limitTicket',
  'limitGrant',
  'rootPause',
] as const satisfies readonly (keyof typeof tables)[]
export const UNWATCHED: Readonly<Partial<Record<keyof typeof tables, string>>> = {
  project: 'users of the run create one and never change it',
  subscription: 'the project has none',
  secret: 'is read opened',
  objectStatus: 'errors and progress are for people: nothing is decided by them',
  logContent: 'is read by its view, a row for each change',
  logText: 'an index, made anew from the log',
  logSeal: 'no key of the run signs any: a log is verified by them in tests of its own',
  logLineText: 'an index, made anew from the output',
  floorState: 'nothing is pruned within a run',
  agent: 'who has been heard of, by the minute',
  artifact: 'no workload of the run leaves any',
  artifactChunk: 'the same',
  place: 'no agent of the run registers one',
  schemaRange: 'is of migrations',
  target: 'no item of the run selects one',
  backfill: 'no user of the run asks for one: their own test kills servers and counts',
  bulkOperation: 'no user of the run asks for one: their own test kills servers and counts',
  bulkTarget: 'as bulk operations are',
  hookSecret: 'is read opened, by each delivery',
  hold: 'nobody of the run holds anything',
  gatePoll: 'no gate of the run has an address: their own test kills servers and counts',
  limitOverride:
    'ends before a run is at rest: each change of a row is read, and each grant is judged by the overrides at its time',
  invariant: 'no project of the run has one: their own tests kill servers and play random orders',
  invariantWait: 'as invariants are',
  notificationCursor: 'a position: the messages say what it has passed',
  dryRun: 'changes nothing, and no user of the run asks for one',
  dryRunItem: 'as dry runs are',
}
export type WatchedTable = (typeof WATCHED)[number]
const ALL: typeof tables = { ...tables }
export const columnsOf = <T extends WatchedTable>(table: T): (typeof tables)[T] => ALL[table]
export type Row<T extends WatchedTable> = RowOf<(typeof tables)[T]>
export type Tables = { readonly [T in WatchedTable]: readonly Row<T>[] }

export interface LoggedChange {
  readonly sequence: number
  readonly objectId: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly rejected: boolean
  readonly reason: string | null
  /** The object's revision after the change; null: it was refused, or is a request that waits. */
  readonly revision: number | null
  readonly jobId: string | null
  readonly at: Date
  /** The name of the principal. */
  readonly by: string | null
  readonly message: string | null
}
export type FlowChange = TicketChange | PauseChange | OverrideChange
/** An object asks for a limit, is granted it, or gives it back, whether it held it or waited. */
export interface TicketChange {
  readonly did: 'ASK' | 'GRANT' | 'RELEASE'
  readonly objectId: string
  /** The kind of the object: each has lines of its own. */
  readonly kind: string
  readonly limitId: string
  readonly key: string
  readonly priority: number
  /** By the clock of the database; of a grant the time that its row has. */
  readonly at: Date
  /** Null: it is no grant. */
  readonly bounds: LimitBounds | null
}
export interface LimitBounds {
  readonly max: number | null
  readonly isPaused: boolean
  /** The other keys have 1. */
  readonly weights: Readonly<Record<string, number>>
  /** Bounds of a key without an override, and of each key that has one. */
  readonly usual: KeyBounds
  readonly overridden: Readonly<Record<string, KeyBounds>>
}
export interface KeyBounds {
  readonly maxPerKey: number | null
  readonly rateCount: number | null
  readonly rateMs: number | null
}
/** A key gets other bounds for a time, or its row goes. */
export interface OverrideChange {
  readonly did: 'OVERRIDE' | 'OVERRIDE_ENDS'
  readonly limitId: string
  readonly key: string
  readonly at: Date
  readonly until: Date
  /** Null: that of the limit. */
  readonly bounds: KeyBounds
}
/** A tree is paused or resumed. */
export interface PauseChange {
  readonly did: 'PAUSE' | 'RESUME'
  readonly rootId: string
  readonly at: Date
}
export interface DeclaredLock {
  readonly resource: string
  readonly exclusive: boolean
}
/** A mutation that a user sent, and its answer. */
export interface UserMutation {
  readonly mutation: string
  /** The id of the changed thing; null: it is not known, e.g. of a creation without an answer. */
  readonly id: string | null
  readonly kind: ObjectKind | 'SECRET' | 'DATA_OBJECT' | 'TOKEN' | 'PRINCIPAL' | 'LIMIT'
  readonly name: string
  readonly askedMs: number
  /** Null: there was no answer, so that it may have happened, and may happen later. Refused ones are not in the evidence. */
  readonly answeredMs: number | null
  /** The `idempotencyKey` that it was sent with. */
  readonly key: string | null
  /** The new spec, secret, data or roles. */
  readonly value: unknown
  /** The object's generation, as the answer gives it. */
  readonly generation: number | null
  /** The running job that it was about; null: there was none. */
  readonly jobId: string | null
  /** The name of the principal that sent it; null: the administrator's. */
  readonly by: string | null
}
/** A user's request with a token. */
export interface TokenProbe {
  readonly tokenId: string
  readonly askedMs: number
  readonly isValid: boolean
}
/** Changes that one reader received: a part begins when the reader hears that its place is gone. */
export interface ReaderRecord {
  readonly name: string
  readonly parts: readonly (readonly LoggedChange[])[]
}
/** One request with a delivery, and its answer. */
export interface SentDelivery {
  /** The same for all repetitions. */
  readonly id: string
  readonly askedMs: number
  /** Null: there was no answer, so that it may have been accepted. */
  readonly answeredMs: number | null
  readonly status: number | null
  readonly eventId: string | null
}
export interface ReceivedMessage {
  readonly id: string
  readonly rule: string
  readonly objectId: string
  readonly sequence: number
  readonly to: Phase
  readonly atMs: number
  /** False: the receiver has answered with a failure, or not at all. */
  readonly isTaken: boolean
}
export interface WorkSpan {
  /** `pid-n`; the exports of what it deployed name it. */
  readonly span: string
  readonly objectId: string
  readonly jobId: string | null
  readonly process: string
  readonly pid: number
  readonly action: string
  readonly fromMs: number
  /** Infinity: it never said so, e.g. since it was killed. */
  readonly toMs: number
}
export interface GadgetLine {
  readonly did: 'RUN' | 'END' | 'UNDO' | 'CONFLICT'
  /** `task/job`. */
  readonly job: string
  readonly atMs: number
}
export interface WorkerStart {
  readonly id: string
  readonly atMs: number
  /** The value of the project's secret that it got. */
  readonly secret: string
}
export interface PerformedFault {
  readonly kind: string
  /** The process or server that had it. */
  readonly target: string
  /** A process that is frozen counts since it was seen to stand still. */
  readonly fromMs: number
  readonly toMs: number
}
export interface Death {
  readonly pid: number
  readonly atMs: number
}

/** Each lasts from the copy of the database to the switch to that copy. Work in between is lost, and readers get an error. */
export const failovers = ({ faults }: Pick<Evidence, 'faults'>): readonly PerformedFault[] =>
  faults.filter(({ kind }) => kind === 'failover')

/** Agents may work for so long on work of a lost database: for the length of a lease, or of a freeze. */
const AFTERMATH_MS = 20_000
/** True if a commit at that time, or within that stretch of time, may be lost. */
export const mayBeLost = (evidence: Pick<Evidence, 'faults'>, fromMs: number, toMs = fromMs): boolean =>
  failovers(evidence).some((fault) => fromMs <= fault.toMs && toMs >= fault.fromMs)
/** The same, and the time after it in which agents may still work for the lost database. */
export const mayBeUnknown = (evidence: Pick<Evidence, 'faults'>, fromMs: number, toMs = fromMs): boolean =>
  mayBeLost(evidence, fromMs - AFTERMATH_MS, toMs)

export interface AcceptedMutation extends UserMutation {
  readonly answeredMs: number
}
const isAccepted = (one: UserMutation): one is AcceptedMutation => one.answeredMs !== null
/** Mutations that succeeded by their answer, and that no failover can have lost. */
export const accepted = (evidence: Evidence): readonly AcceptedMutation[] =>
  evidence.mutations.filter(isAccepted).filter((one) => !mayBeLost(evidence, one.askedMs, one.answeredMs))
