import type { Machine } from '../core/machine.ts'
import type { Report } from '../core/ports/agents.ts'
import type { Node, Slice } from '../core/tree.ts'
import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'
import type { Client } from '../store/client.ts'

/** A side table of some kinds: one row an object, keyed by object_id. The engine reads and writes it set-based. */
export interface DetailsTable {
  readonly table: string
  readonly kinds: readonly ObjectKind[]
  /** Property name → column and its SQL type. */
  readonly columns: Readonly<Record<string, { readonly column: string; readonly type: string }>>
  readonly defaults: object
}

/** What the engine must know of a family. It knows nothing else of it, not even its name. */
export interface Family {
  readonly name: string
  readonly machines: readonly Machine[]
  readonly details: readonly DetailsTable[]
  /** Looks at one object and does what is to be done now. Pure: everything it knows comes from the slice. */
  decide(node: Node, slice: Slice): void
  /** Handles a wake request of another tree or of a command. The reasons are the family's own. */
  onWake(node: Node, reason: string, slice: Slice): void
  /** Takes in an agent's report that the guard has let pass or that carries no phase; does the phase write itself. */
  report(node: Node, report: Report, by: string, slice: Slice): ReportVerdict
  /** Whether a fence that is not that of the object's work is one that the family has given out itself, to this principal. */
  holds?(node: Node, fenceHash: Buffer, principal: string): boolean
  /** Renews leases that the family keeps itself, of those fences that it knows. */
  renew?(
    client: Client,
    fences: readonly { readonly objectId: string; readonly hash: Buffer }[],
    by: { readonly principal: string; readonly leaseMs: number; readonly time: Date | null },
  ): Promise<readonly { readonly objectId: string; readonly hash: Buffer; readonly leaseUntil: Date }[]>
  /** The claim is the pickup: what it does to the object. */
  claimed(node: Node, by: string, slice: Slice): void
  /** Answers of the family's own questions, each set-based: one answer for each args, in order. */
  readonly questions: Readonly<
    Record<string, (client: Client, rootId: string, args: readonly unknown[]) => Promise<readonly unknown[]>>
  >
  /** Effects in the same transaction, in order. What they return are roots to wake. */
  readonly effects: Readonly<
    Record<string, (client: Client, root: Node, args: unknown, now: Date) => Promise<readonly string[]>>
  >
  /** Called by every engine every few seconds, in a transaction: enqueues wake requests for objects that wait without a reason. */
  recoverStalled?(client: Client): Promise<void>
}

export type ReportVerdict =
  | { readonly ok: true; readonly changed: boolean }
  | {
      readonly ok: false
      readonly refused: 'TRANSITION'
      readonly to: Phase
      /** The actor where it is not simply that of the token, and the secondary machine where it is about that one. */
      readonly actor?: Actor
      readonly secondary?: SecondaryMachine
    }

/** A second lifecycle of an object, and its phase there. */
export interface SecondaryMachine {
  readonly machine: Machine
  readonly from: Phase
}

/** A tree under its root's lock, in one transaction. What was done to it is written when the transaction closes. */
export interface LockedTree {
  readonly client: Client
  readonly slice: Slice
  readonly root: Node
  /** Created in this transaction: the store has nothing of it yet. */
  readonly isNew: boolean
  /** Loads objects of this tree with their ancestors. */
  load(ids: readonly string[]): Promise<void>
  /** Has the engine decide these objects soon after the commit; a reason goes to `onWake`. */
  wake(ids: readonly string[], reason?: string): void
  /**
   * Decides the root, or this object, as far as possible before the commit; soon after it, where others wait for the
   * project. For a new tree whose rules wait for nobody.
   */
  decideNow(node?: Node): Promise<void>
  /** Records a request that the guard refused; changes nothing. */
  reject(
    node: Node,
    to: Phase,
    by: string,
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
  readonly by: string
}

/** A project under its lock, in one transaction: the specs of its roots are written by one transaction at a time. */
export interface LockedProject {
  readonly client: Client
  readonly projectId: string
  readonly now: Date
  /** Unique names need not be asked for: the database refuses a taken one, and then the command runs again, asking. */
  readonly trusts: boolean
  createRoot(root: NewRoot): LockedTree
  /** Null: there is no such tree. */
  lockTree(rootId: string): Promise<LockedTree | null>
  /** Has the engine decide these trees soon after the commit. */
  wake(rootIds: readonly string[], reason: string): Promise<void>
}

/** How commands write: in transactions of the engine. */
export interface Trees {
  /**
   * Runs under the project's lock; null: there is no such project. `canShare`: the write only creates, and the database
   * itself refuses what two of them may not do both, so several share a transaction and run at the same time. It may
   * run twice.
   */
  inProject<T>(
    project: string,
    work: (project: LockedProject) => Promise<T>,
    options?: { readonly canShare?: boolean },
  ): Promise<T | null>
  /** Runs under the tree's root lock; null: there is no such tree. */
  inTree<T>(rootId: string, work: (tree: LockedTree) => Promise<T>): Promise<T | null>
}
