import type { Machine } from '../core/machine.ts'
import type { Place } from '../core/place.ts'
import type { ClaimedItem, Report } from '../core/ports/agents.ts'
import type { Principal } from '../core/ports/viewer.ts'
import type { ServedTargets } from '../core/target.ts'
import type { FamilyEffects, FamilyQuestion, FamilyQuestions, Node, Slice, Work } from '../core/tree.ts'
import type { Actor, ObjectKind, Phase, WorkAction } from '../core/vocabulary.ts'
import type { Client } from '../store/client.ts'
import type { Pause } from '../store/pauses.ts'
import type { Records } from '../store/records.ts'
import type { Gates } from './gate.ts'

/** A details table of some kinds: one row per object, keyed by object_id. The engine reads and writes it set-based. */
export interface DetailsTable {
  readonly table: string
  readonly kinds: readonly ObjectKind[]
  /** Property name → column and its SQL type. */
  readonly columns: Readonly<Record<string, { readonly column: string; readonly type: string }>>
  readonly defaults: object
}

/** The interface between the engine and a family. The engine knows nothing else of it. */
export interface Family {
  readonly name: string
  readonly machines: readonly Machine[]
  readonly details: readonly DetailsTable[]
  /** All its objects are roots without children, and no agent works on them: several are decided in one transaction. */
  readonly isLone?: boolean
  /** Its objects depend on no others, and no parent counts its children: all that is written of an object makes a revision of it. */
  readonly isUncounted?: boolean
  /** Actions of work that is still to be done when its object is gone; a report that it is done carries no phase. */
  readonly outlivingActions?: readonly WorkAction[]
  /** Phases besides GONE with which an agent reports that the real object is gone; repeats after its deletion are accepted. */
  readonly gonePhases?: readonly Phase[]
  /** Runs the rules of one object. Pure: all its data comes from the slice. */
  decide(node: Node, slice: Slice): void
  /** Handles a wake request of another tree or of a command. The reasons are the family's own. */
  onWake(node: Node, reason: string, slice: Slice): void
  /** Left out: no object of the family has a gate. */
  readonly gates?: Gates
  /** Applies an agent's report, including its phase change, after asking the guard. */
  report(node: Node, report: Report, by: Principal, slice: Slice): ReportVerdict
  /** True if the family itself issued this fence to this principal, if it is not the fence of the object's work. */
  holds?(node: Node, fenceHash: Buffer, principalId: string): boolean
  /**
   * Renews the leases of fences that the family itself issued. `skipLocked`: a lease of a tree that another transaction has
   * locked is answered without a time, instead of waiting for it.
   */
  renew?(
    client: Client,
    fences: readonly { readonly objectId: string; readonly hash: Buffer }[],
    by: {
      readonly principalId: string
      readonly leaseMs: number
      readonly time: Date | null
      readonly skipLocked: boolean
    },
  ): Promise<readonly { readonly objectId: string; readonly hash: Buffer; readonly leaseUntil: Date | null }[]>
  /**
   * Claims dry runs, which the family keeps beside the work of objects. They move no phase, so no tree is locked. Each secret
   * becomes the fence of one.
   */
  claimDryRuns?(client: Client, wanted: WantedDryRuns): Promise<ClaimedDryRuns>
  /** Decides about work that waits for its next attempt. False: it does not wait for one. */
  resolveBackoff?(node: Node, decision: BackoffDecision, by: Principal, slice: Slice): boolean
  /** Applies a claim to the object; the claim counts as the pickup. */
  claimed(node: Node, by: Principal, slice: Slice, placeId: string | null): void
  /** The placement of the family's work; absent: anywhere. */
  readonly placement?: Placement
  /** Queries that answer the family's questions, set-based: one answer for each args, in order. */
  readonly questions: { readonly [Q in FamilyQuestion]?: Answer<Q> }
  /** Effects in the same transaction, in order. Each returns the roots to wake. */
  readonly effects: { readonly [E in keyof FamilyEffects]?: RunEffect<E> }
  /**
   * Effects under a lock of the instance. Each runs once for all trees that a transaction writes, after their own effects, so that the
   * lock is taken late and once. A tree that is being deleted has a run of its own.
   */
  readonly sharedEffects?: { readonly [E in keyof FamilyEffects]?: RunSharedEffect<E> }
  /** Enqueues wake requests for objects that may start under other limits of a project, in the transaction that changes them. */
  limitsChanged?(client: Client, now: Date): Promise<void>
  /**
   * Enqueues wake requests for objects that wait without a reason. Every engine calls it every few seconds, in a transaction.
   * @param time null: that of the database
   */
  recoverStalled?(client: Client, time: Date | null): Promise<void>
}

/** One answer for each args, in order. */
export type Answer<Q extends FamilyQuestion> = (
  client: Client,
  rootId: string,
  args: readonly FamilyQuestions[Q]['args'][],
) => Promise<readonly FamilyQuestions[Q]['answer'][]>
/** `pipeline` takes sent statements of which only the success matters: the next effect does not wait for them. */
export type RunEffect<E extends keyof FamilyEffects> = (
  client: Client,
  root: Node,
  args: FamilyEffects[E],
  now: Date,
  pipeline: (sent: Promise<unknown>) => void,
) => Promise<readonly string[]>

/** @param goes the root that is being deleted, or null */
export type RunSharedEffect<E extends keyof FamilyEffects> = (
  client: Client,
  args: readonly FamilyEffects[E][],
  now: Date,
  goes: string | null,
) => Promise<readonly string[]>

/** The next attempt begins at once, or the failure of the last one is final. */
export type BackoffDecision = 'NOW' | 'GIVE_UP'

export interface WantedDryRuns {
  readonly principalId: string
  readonly instance: string
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  /** Ids; null: all. */
  readonly projects: readonly string[] | null
  readonly max: number
  readonly leaseMs: number
  /** Null: the database's own. */
  readonly time: Date | null
  secret(): Uint8Array
}

export interface ClaimedDryRuns {
  readonly items: readonly ClaimedItem[]
  /** If there are no items: milliseconds until the time alone offers one, as at the end of a lease; null: it offers none. */
  readonly nextMs: number | null
}

/** A place as its agent names it. */
export interface PlaceKey {
  readonly principalId: string
  readonly type: string
  readonly instance: string
}

/** Work that is started at places: a place that is drained or full starts nothing new. */
export interface Placement {
  readonly actor: Actor
  /** True if a claim of the work would start it, rather than continue it or clean up after it. */
  isStart(work: Work): boolean
  /** The places of these keys, in order. */
  readPlaces(client: Client, keys: readonly PlaceKey[]): Promise<readonly Place[]>
  /** The same, locked until the transaction ends: no place is drained meanwhile, and no other claim fills it. */
  lockPlaces(client: Client, keys: readonly PlaceKey[]): Promise<readonly Place[]>
}

export type ReportVerdict =
  | { readonly ok: true; readonly changed: boolean }
  | {
      readonly ok: false
      readonly refused: 'TRANSITION'
      readonly to: Phase
      /** Present if the actor differs from the token's, or if the report concerns the secondary machine. */
      readonly actor?: Actor
      readonly secondary?: SecondaryMachine
    }
  /** The fence is one that the family has taken back. */
  | { readonly ok: false; readonly refused: 'STALE' }

/** A second lifecycle of an object, and its phase there. */
export interface SecondaryMachine {
  readonly machine: Machine
  readonly from: Phase
}

/** A tree under its root's lock, in one transaction. Closing the transaction writes its changes. */
export interface LockedTree {
  readonly client: Client
  readonly slice: Slice
  readonly root: Node
  readonly projectName: string
  /** True if this transaction creates the tree. */
  readonly isNew: boolean
  /** Loads objects of this tree with their ancestors. */
  load(ids: readonly string[]): Promise<void>
  /** Takes a sent statement of which only the success matters: the commit does not wait for its answer first. */
  pipeline(sent: Promise<unknown>): void
  /** Answers a question of the family before a rule asks it. */
  answer<Q extends FamilyQuestion>(
    question: Q,
    args: FamilyQuestions[Q]['args'],
    answer: FamilyQuestions[Q]['answer'],
  ): void
  /** Holds back new work of the tree from now on; null: hands it out again. */
  pause(pause: Pause | null): Promise<void>
  /** Makes the engine decide these objects soon after the commit; a reason is passed to `onWake`. */
  wake(ids: readonly string[], reason?: string): void
  /**
   * Decides the root, or this object, as far as possible before the commit, or soon after it if the tree is large or many calls wait
   * for the project. For a new tree whose rules wait for no other tree.
   * @param objects how many the tree will have; absent: those that it has now
   */
  decideNow(node?: Node, objects?: number): Promise<void>
  /** Records a request that the guard refused; changes nothing. */
  reject(
    node: Node,
    to: Phase,
    by: Principal,
    reason: string,
    more?: { readonly actor?: Actor; readonly secondary?: SecondaryMachine },
  ): void
}

export interface NewRoot {
  readonly kind: ObjectKind
  readonly name: string
  readonly spec: unknown
  readonly details: object
  readonly labels: Readonly<Record<string, string>>
  readonly by: Principal
}

/** A project under its lock, in one transaction, so that one transaction at a time writes the specs of its roots. */
export interface LockedProject {
  readonly client: Client
  readonly projectId: string
  readonly now: Date
  /** The command need not query for taken names: the database refuses one, and the command then runs again without trust. */
  readonly assumesNamesFree: boolean
  /** It has an invariant, which the rules of a new root read under locks that come after this one. */
  readonly hasInvariants: boolean
  createRoot(root: NewRoot): LockedTree
  /** As that of a tree. */
  pipeline(sent: Promise<unknown>): void
  /** Null: the tree does not exist. */
  lockTree(rootId: string): Promise<LockedTree | null>
  /** Makes claims for these types of work search again after the commit. */
  offer(types: readonly string[]): void
  /** Makes the engine decide these trees soon after the commit. */
  wake(rootIds: readonly string[], reason: string): Promise<void>
}

/** Transactions of the engine for commands. */
export interface Trees extends Records {
  /**
   * Runs under the project's lock; null: the project does not exist. `canShare`: the write only creates objects, and the
   * database refuses conflicting ones, so several writes share a transaction and run concurrently. A write may run twice.
   */
  inProject<T>(
    project: string,
    work: (project: LockedProject) => Promise<T>,
    options?: { readonly canShare?: boolean },
  ): Promise<T | null>
  /** Runs under the lock of the tree's root; null: the tree does not exist. */
  inTree<T>(rootId: string, work: (tree: LockedTree) => Promise<T>): Promise<T | null>
}
