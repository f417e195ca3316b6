import type { ObjectFailure } from './errors.ts'
import type { Machine, Step } from './machine.ts'
import type { Principal } from './ports/viewer.ts'
import type { Actor, ObjectKind, Phase, WorkAction } from './vocabulary.ts'

/** The plain data of a tree that rules read, and the changes that they may make. Types only: the engine implements `Slice`. */

/** Lifecycle columns of one object. */
export interface ObjectRow {
  readonly id: string
  readonly rootId: string
  readonly parentId: string | null
  readonly projectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly ordinal: number
  readonly phase: Phase
  readonly phaseSince: Date
  readonly revision: number
  readonly generation: number
  readonly observedGeneration: number
  readonly jobId: string | null
  readonly finishedJobId: string | null
  readonly deletionRequestedAt: Date | null
  /** Number of siblings that have to end before this one, in the running job. */
  readonly waitingFor: number
  readonly createdAt: Date
  readonly updatedAt: Date
}
export type LifecyclePatch = Partial<
  Pick<
    ObjectRow,
    'ordinal' | 'generation' | 'observedGeneration' | 'jobId' | 'finishedJobId' | 'deletionRequestedAt' | 'waitingFor'
  >
>

/** Counts over the direct children within the current job. */
export interface ChildCounts {
  readonly total: number
  /** Children without the current job. */
  readonly untriggered: number
  /** Children that have the current job and have not finished it. */
  readonly open: number
  /** Children that finished the current job without success. */
  readonly failed: number
  /** Position of a walk over the children in their order; its meaning depends on the phase. */
  readonly cursor: number
}
export const NO_CHILD_COUNTS: ChildCounts = { total: 0, untriggered: 0, open: 0, failed: 0, cursor: 0 }

/** `OFFERED`: can be claimed; `CLAIMED`: an agent has a fence and a lease; `DONE`: kept to answer repeated reports. */
export const WORK_STATE = { OFFERED: 0, CLAIMED: 1, DONE: 2 } as const
export type WorkState = (typeof WORK_STATE)[keyof typeof WORK_STATE]

/** The work of agents for one object. Names in `Ms` are durations in milliseconds; null means never. */
export interface Work {
  readonly type: string
  readonly target: string | null
  readonly action: WorkAction
  readonly state: WorkState
  readonly config: unknown
  /** The config that an agent last got, kept so that an uninstall undoes what was really deployed. */
  readonly handedConfig: unknown
  readonly handed: boolean
  readonly fenceHash: Buffer | null
  readonly jobId: string | null
  readonly principalId: string | null
  readonly instance: string | null
  readonly attempt: number
  readonly leaseUntil: Date | null
  readonly offerAfter: Date | null
  readonly triggeredAt: Date
  readonly pickedUpAt: Date | null
  readonly abortRequestedAt: Date | null
  readonly abortCode: string | null
  readonly progressingMs: number | null
  readonly abortingMs: number | null
  /** The end of the one timeout that runs: pickup, progressing or aborting. */
  readonly dueAt: Date | null
  readonly doneAt: Date | null
  /** The end of the lease counts as a lost agent, without waiting for `dueAt`. */
  readonly leaseWatched: boolean
  /** Labels that the place of new work must have; null: any place. */
  readonly targetLabels: Readonly<Record<string, string>> | null
  /** Trace context of the transaction that has offered it; null: no sampled trace. */
  readonly traceparent: string | null
}

/** Defaults of work that was never claimed. */
export const NEW_WORK = {
  state: WORK_STATE.OFFERED,
  fenceHash: null,
  principalId: null,
  instance: null,
  attempt: 0,
  leaseUntil: null,
  offerAfter: null,
  pickedUpAt: null,
  abortRequestedAt: null,
  abortCode: null,
  progressingMs: null,
  abortingMs: null,
  dueAt: null,
  doneAt: null,
  leaseWatched: false,
  targetLabels: null,
  traceparent: null,
} as const satisfies Partial<Work>

/** One object in a slice. Read it; change it only through the slice. */
export interface Node {
  readonly row: ObjectRow
  readonly childCounts: ChildCounts
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly hasProgress: boolean
  /** When its rules run by themselves; null: never. */
  readonly clock: Date | null
  /** The family's own columns; the family knows their shape. */
  readonly details: unknown
  readonly gone: boolean
}

export interface NewChild {
  readonly kind: ObjectKind
  readonly name: string
  readonly ordinal: number
  readonly spec: unknown
  readonly details?: unknown
  readonly labels?: Readonly<Record<string, string>>
  readonly waitingFor?: number
  readonly by?: Principal | null
}

export interface MoveOptions {
  readonly actor?: Actor
  readonly by?: Principal | null
  readonly reason?: string | null
  readonly message?: string | null
}

export type Evaluated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/** Server defaults of timeouts, in milliseconds. Families add theirs by declaration merging, and declare their settings. */
export interface TimeoutDefaults {
  readonly pickupMs: number
  readonly progressingMs: number
  readonly abortingMs: number
}
/** A timeout of a family, in milliseconds, and the setting of the environment that changes it. */
export interface TimeoutSetting {
  readonly name: keyof TimeoutDefaults
  readonly setting: string
  readonly defaultMs: number
}

/**
 * The part of one tree that a decision needs: the root, the touched objects and their ancestors. It does no I/O. A question
 * whose answer is not loaded yet returns undefined: the rule returns, and runs again once the answer is loaded. So a rule
 * asks first and acts afterwards.
 */
export interface Slice {
  readonly now: Date
  readonly root: Node
  readonly timeouts: TimeoutDefaults
  /** Nothing new is handed to agents: work that `isHeld` waits. */
  readonly isPaused: boolean
  /** The project of the tree has an invariant. */
  readonly hasInvariants: boolean
  newId(): string
  random(): number

  parent(node: Node): Node | null
  get(id: string): Node | undefined
  /** All direct children by ordinal. */
  children(node: Node): readonly Node[] | undefined
  /** Children of one kind by name; names without a child are absent. Their specs are loaded too. */
  childrenNamed(node: Node, kind: ObjectKind, names: readonly string[]): ReadonlyMap<string, Node> | undefined
  /** Children after this ordinal that wait for nothing and do not have the node's job yet, at most `limit`. */
  readyChildren(node: Node, after: number, limit: number): readonly Node[] | undefined
  spec(node: Node): unknown
  /** Loads the node's dependents or dependencies. */
  neighbours(node: Node, side: 'dependents' | 'dependencies'): readonly Node[] | undefined
  /** The same from memory, as for new objects; undefined: not loaded, and not asked for. */
  known(node: Node, side: 'dependents' | 'dependencies'): readonly Node[] | undefined
  /** Asks a question of the family. */
  ask<Q extends FamilyQuestion>(question: Q, args: FamilyQuestions[Q]['args']): FamilyQuestions[Q]['answer'] | undefined
  /** Resolves the expressions of a template outside of the lock; the result is used only for equal template and scope. */
  evaluate(node: Node, template: unknown, scope: Readonly<Record<string, unknown>>): Evaluated | undefined
  /** Validates a value against a JSON Schema, also outside of the lock. */
  validate(node: Node, schema: unknown, value: unknown): Evaluated | undefined

  /** Asks the guard about a report before it has effects. `secondary`: on the object's secondary machine. */
  judge(node: Node, actor: Actor, to: Phase, secondary?: { readonly machine: Machine; readonly from: Phase }): Step
  /** The only way to change a phase. The guard judges it; a missing transition is a bug of the rule and throws. */
  move(node: Node, to: Phase, options?: MoveOptions): void
  /** The same for a secondary machine, whose phase the family keeps in its details. */
  moveSecondary(node: Node, machine: Machine, from: Phase, to: Phase, options?: MoveOptions): void
  /** Records a request, or a fact of the work: a record of the log in which the phase stays. It changes nothing else. */
  recordRequest(node: Node, request: MoveOptions): void
  patch(node: Node, patch: LifecyclePatch): void
  setDetails(node: Node, patch: object): void
  setSpec(node: Node, spec: unknown): void
  setError(node: Node, error: ObjectFailure | null): void
  setProgress(node: Node, progress: unknown): void
  setWork(node: Node, patch: Partial<Work>): void
  /** Sets when the node's rules run by themselves, without any work of an agent; null: never. */
  setClock(node: Node, at: Date | null): void
  setChildCounts(node: Node, patch: Partial<ChildCounts>): void
  addChildCounts(node: Node, delta: Partial<ChildCounts>): void
  create(parent: Node, child: NewChild): Node
  /** Replaces the node's dependencies. */
  setDependencies(node: Node, dependencies: readonly Node[]): void
  /**
   * Subtracts `by` from `waitingFor` of every neighbour on that side, and touches those that wait for nothing more.
   * With 0 it touches all of them.
   */
  release(node: Node, side: 'dependents' | 'dependencies', by: 0 | 1): void
  /** Runs the node's rules (again) in this transaction. */
  touch(node: Node): void
  /**
   * True if nothing else in the tree has a decision to make or an expression to evaluate; otherwise the node's rules
   * run again once that is so. A rule that concludes from what others have not done checks this first.
   */
  isAtRest(node: Node): boolean
  /** A write of the family in the same transaction, after the objects are written, e.g. storing exports. */
  effect<E extends keyof FamilyEffects>(name: E, args: FamilyEffects[E]): void
}

/** The questions of all families, with their arguments and answers: a rule that asks one adds it, in place. Plain JSON. */
// biome-ignore lint/suspicious/noEmptyInterface: families add to it
export interface FamilyQuestions {}
/** The arguments of all families' effects, in the same way. */
// biome-ignore lint/suspicious/noEmptyInterface: families add to it
export interface FamilyEffects {}
/** The name of a question. */
export type FamilyQuestion = keyof FamilyQuestions

/** True between two attempts: the work was claimed before, and is offered again only later. */
export const isInBackoff = ({ state, offerAfter, pickedUpAt }: BackoffWork, now: Date): boolean =>
  state === WORK_STATE.OFFERED && pickedUpAt !== null && offerAfter !== null && offerAfter > now
type BackoffWork = Pick<Work, 'state' | 'offerAfter' | 'pickedUpAt'>

/** Work that no agent has yet, or whose agent is lost. @param work without its lease once its agent was asked to stop */
export const awaitsAgent = ({ state, leaseUntil }: Pick<Work, 'state' | 'leaseUntil'>, now: Date): boolean =>
  state === WORK_STATE.OFFERED || (state === WORK_STATE.CLAIMED && leaseUntil !== null && leaseUntil <= now)

/** True without a running job: the object has had none, or has ended its last one. */
export const isFinished = (row: Pick<ObjectRow, 'jobId' | 'finishedJobId'>): boolean => row.jobId === row.finishedJobId
