import type { ObjectFailure } from './errors.ts'
import type { Machine, Step } from './machine.ts'
import type { Actor, ObjectKind, Phase, WorkAction } from './vocabulary.ts'

/** The plain data that rules see of a tree, and what they may do to it. Types only: the engine implements `Slice`. */

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
  /** Siblings that are still to be done before this one, in the flow that runs. */
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
  /** Not yet given the current job. */
  readonly untriggered: number
  /** Given the current job and not finished in it. */
  readonly open: number
  /** Finished in it without success. */
  readonly failed: number
  /** How far a walk over the children in their order has come; the meaning is the phase's. */
  readonly cursor: number
}
export const NO_CHILD_COUNTS: ChildCounts = { total: 0, untriggered: 0, open: 0, failed: 0, cursor: 0 }

/** `OFFERED`: to be claimed; `CLAIMED`: somebody has a fence and a lease; `DONE`: kept so that a repeated report is answered. */
export const WORK_STATE = { OFFERED: 0, CLAIMED: 1, DONE: 2 } as const
export type WorkState = (typeof WORK_STATE)[keyof typeof WORK_STATE]

/** The work that agents have of one object. Times in milliseconds where named so; null means never. */
export interface Work {
  readonly type: string
  readonly target: string | null
  readonly action: WorkAction
  readonly state: WorkState
  readonly config: unknown
  /** What an agent last got, kept so that an uninstall undoes what was really deployed. */
  readonly handedConfig: unknown
  readonly handed: boolean
  readonly fenceHash: Buffer | null
  readonly jobId: string | null
  readonly principal: string | null
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
  /** The one clock that runs: pickup, progressing or aborting. */
  readonly dueAt: Date | null
  readonly doneAt: Date | null
  /** Its agent is missed when the lease ends, and not only when its time is up. */
  readonly leaseWatched: boolean
}

/** A new piece of work that nobody has had so far; what it is, and its clocks, is added. */
export const NEW_WORK = {
  state: WORK_STATE.OFFERED,
  fenceHash: null,
  principal: null,
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
} as const satisfies Partial<Work>

/** One object in a slice. Read it; change it only through the slice. */
export interface Node {
  readonly row: ObjectRow
  readonly childCounts: ChildCounts
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly hasProgress: boolean
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
  readonly by?: string | null
}

export interface MoveOptions {
  readonly actor?: Actor
  readonly by?: string | null
  readonly reason?: string | null
  readonly message?: string | null
}

export type Evaluated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/** Server defaults of timeouts, in milliseconds. */
export interface TimeoutDefaults {
  readonly pickupMs: number
  readonly progressingMs: number
  readonly abortingMs: number
  /** How long a runtime that is missed may take to come back. */
  readonly runtimeLostMs: number
  /** From the end of a workload until its resources are removed. */
  readonly cleanupMs: number
  /** How long a request may stay without a word of its CRM. */
  readonly crmSilenceMs: number
}

/**
 * The part of one tree that a decision looks at: the root, the ancestors of whatever was touched, the touched objects.
 * It knows no I/O. A question whose answer is not loaded yet returns undefined: the rule returns, and is asked again
 * when the answer is there. So a rule asks first and acts afterwards.
 */
export interface Slice {
  readonly now: Date
  readonly root: Node
  readonly timeouts: TimeoutDefaults
  newId(): string
  random(): number

  parent(node: Node): Node | null
  get(id: string): Node | undefined
  /** All direct children, in their order. */
  children(node: Node): readonly Node[] | undefined
  /** Children of one kind by name; absent ones are left out. Their specs are loaded too. */
  childrenNamed(node: Node, kind: ObjectKind, names: readonly string[]): ReadonlyMap<string, Node> | undefined
  /** Children after this ordinal that wait for nothing and have not got the node's job, at most `limit`. */
  readyChildren(node: Node, after: number, limit: number): readonly Node[] | undefined
  spec(node: Node): unknown
  /** Loads the node's dependents (`from`) or what it depends on (`to`). */
  neighbours(node: Node, side: 'dependents' | 'dependencies'): readonly Node[] | undefined
  /** The same as far as memory has it, as of what is new: undefined asks nothing. */
  known(node: Node, side: 'dependents' | 'dependencies'): readonly Node[] | undefined
  /** A question of the family's own. The key and its arguments are plain JSON. */
  ask<T>(question: string, args: unknown): T | undefined
  /** Resolves the expressions of a template, outside of the lock; taken over only if template and scope are still these. */
  evaluate(node: Node, template: unknown, scope: Readonly<Record<string, unknown>>): Evaluated | undefined
  /** Judges a value by a JSON Schema, likewise outside of the lock. */
  validate(node: Node, schema: unknown, value: unknown): Evaluated | undefined

  /** The guard's verdict on a report, before anything follows from it. `secondary`: on the object's secondary machine. */
  judge(node: Node, actor: Actor, to: Phase, secondary?: { readonly machine: Machine; readonly from: Phase }): Step
  /** The one way to change a phase. The guard judges it; a missing row is a bug of the rule and throws. */
  move(node: Node, to: Phase, options?: MoveOptions): void
  /** The same for a lifecycle beside the phase: the family keeps that phase among its details. */
  moveSecondary(node: Node, machine: Machine, from: Phase, to: Phase, options?: MoveOptions): void
  patch(node: Node, patch: LifecyclePatch): void
  setDetails(node: Node, patch: object): void
  setSpec(node: Node, spec: unknown): void
  setError(node: Node, error: ObjectFailure | null): void
  setProgress(node: Node, progress: unknown): void
  setWork(node: Node, patch: Partial<Work>): void
  setChildCounts(node: Node, patch: Partial<ChildCounts>): void
  addChildCounts(node: Node, delta: Partial<ChildCounts>): void
  create(parent: Node, child: NewChild): Node
  /** Replaces what the node depends on. */
  setDependencies(node: Node, dependencies: readonly Node[]): void
  /**
   * Counts `by` off `waitingFor` of every neighbour on that side, and looks at those that wait for nothing more.
   * With 0 nothing is counted and all of them are looked at.
   */
  release(node: Node, side: 'dependents' | 'dependencies', by: 0 | 1): void
  /** Looks at the node again in this run. */
  touch(node: Node): void
  /** Work that the family does in the same transaction, after the objects are written, e.g. storing exports. */
  effect(name: string, args: unknown): void
}

/** In no job: it has taken part in none, or ended the last one that it got. */
export const isFinished = (row: Pick<ObjectRow, 'jobId' | 'finishedJobId'>): boolean => row.jobId === row.finishedJobId
