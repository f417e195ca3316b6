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
  /** Looks at one object and does what is to be done now. Pure: all it knows comes from the slice. */
  decide(node: Node, slice: Slice): void
  /** Another tree, or a user, left word for this object. The reasons are the family's own. */
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
  /** Called now and then by every engine, in a transaction: leaves word for whatever waits without need. */
  recoverStalled?(client: Client): Promise<void>
}

export type ReportVerdict =
  | { readonly ok: true; readonly changed: boolean }
  | {
      readonly ok: false
      readonly refused: 'TRANSITION'
      readonly to: Phase
      /** Whoever it was, when not simply the actor of the token, and about which lifecycle. */
      readonly actor?: Actor
      readonly secondary?: SecondaryMachine
    }

/** A lifecycle beside the phase, and where it stands. */
export interface SecondaryMachine {
  readonly machine: Machine
  readonly from: Phase
}

/** A tree that a mutation holds: under its root's lock, in one transaction. */
export interface LockedTree {
  readonly client: Client
  readonly slice: Slice
  readonly root: Node
  /** Planted in this transaction: the store has nothing of it yet. */
  readonly isNew: boolean
  /** Loads objects of this tree, and their ancestors. */
  load(ids: readonly string[]): Promise<void>
  /** The engine is to look at these once this is committed; a reason goes to `woken`. */
  wake(ids: readonly string[], reason?: string): void
  /**
   * Lets the root, or this object, go on as far as it can before this is committed, or at least soon. For a new tree whose
   * rules wait for nobody: meanwhile others may be waiting for the scope.
   */
  decideNow(node?: Node): void
  /** Records a request that the guard refused, and nothing else. */
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

/** A project's scope, held. */
export interface Scope {
  readonly client: Client
  readonly projectId: string
  readonly now: Date
  /** Whether a root's name is taken need not be asked for: the database refuses it, and then all of this runs again, asking. */
  readonly trusts: boolean
  createRoot(root: NewRoot): LockedTree
  lockTree(rootId: string): Promise<LockedTree | null>
  /** These trees are to be looked at once this is committed. */
  wake(rootIds: readonly string[], reason: string): Promise<void>
}

/** How mutations write: the engine's own transactions, handed to the families. */
export interface Trees {
  /**
   * Runs under the project's scope lock: specs of its roots are serialised. `plant` makes a root in the same transaction.
   * With `joins` others like it share the transaction and run at the same time: for what only plants, where the
   * database itself refuses what two of them may not do both. It may run twice. Null: there is no such project.
   */
  inScope<T>(
    project: string,
    work: (scope: Scope) => Promise<T>,
    options?: { readonly joins?: boolean },
  ): Promise<T | null>
  /** Runs under the tree's root lock; null: there is no such tree. */
  inTree<T>(rootId: string, work: (tree: LockedTree) => Promise<T>): Promise<T | null>
}
