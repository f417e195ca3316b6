import type { LockedProject as LockedProjectPort, NewRoot } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { enqueueWakes } from '../store/queue.ts'
import { lockKnownScope, lockScope } from '../store/scope.ts'
import type { EngineContext } from './context.ts'
import { createRoot, lockTree } from './lock-tree.ts'
import type { LockedTree } from './locked-tree.ts'
import type { Transaction } from './transaction.ts'
import { TreeLocked } from './tree-locked.ts'

interface ProjectState {
  readonly name: string
  readonly projectId: string
  readonly now: Date
  readonly assumesNamesFree: boolean
  readonly hasInvariants: boolean
  readonly inline: InlineLimit
}

/** Objects of new trees that are decided while their project is locked. The engine decides larger trees, and the rest. */
export interface InlineLimit {
  readonly ofTree: number
  readonly all: number
}

/** A project in one transaction, its row locked, so that one transaction at a time writes the specs of its roots. */
export class LockedProject implements LockedProjectPort {
  readonly client: Client
  readonly projectId: string
  readonly now: Date
  readonly assumesNamesFree: boolean
  readonly hasInvariants: boolean
  readonly #tx: Transaction
  readonly #context: EngineContext
  readonly #state: ProjectState
  readonly #created: LockedTree[] = []
  #inline = 0

  constructor(tx: Transaction, context: EngineContext, state: ProjectState) {
    this.#tx = tx
    this.#context = context
    this.#state = state
    this.client = tx.client
    this.projectId = state.projectId
    this.now = state.now
    this.assumesNamesFree = state.assumesNamesFree
    this.hasInvariants = state.hasInvariants
  }

  createRoot(root: NewRoot): LockedTree {
    const { name: project, projectId, now, inline } = this.#state
    const decidesInline = (objects: number): boolean => {
      if (objects > inline.ofTree || this.#inline + objects > inline.all) return false
      this.#inline += objects
      return true
    }
    const tree = createRoot(this.#tx, this.#context, { project, projectId, now, decidesInline }, root)
    this.#created.push(tree)
    return tree
  }
  pipeline(sent: Promise<unknown>): void {
    this.#tx.pipeline([sent])
  }
  /** True if rules have decided a new tree in this transaction. */
  get hasDecided(): boolean {
    return this.#created.some((tree) => tree.hasDecided)
  }

  async lockTree(rootId: string): Promise<LockedTree | null> {
    const tree = await lockTree(this.#tx, this.#context, rootId)
    if (tree === 'locked') throw new TreeLocked(rootId)
    return tree === 'gone' ? null : tree
  }

  offer(types: readonly string[]): void {
    for (const type of types) this.#tx.events.workTypes.add(type)
  }

  async wake(rootIds: readonly string[], reason: string): Promise<void> {
    for (const rootId of rootIds) {
      await enqueueWakes(this.client, rootId, [rootId], { reason, traceparent: this.#tx.trace?.traceparent ?? null })
      this.#tx.events.rootsToWake.add(rootId)
    }
  }
}

export interface ProjectOptions {
  /** The id from an earlier transaction, with which the lock is pipelined; null: unknown. */
  readonly knownId: string | null
  /** Commands rely on the unique indexes instead of a query for taken names. */
  readonly assumesNamesFree: boolean
  readonly inline: InlineLimit
  /** Waits for another transaction that has the lock, if few others do, instead of answering 'locked'. */
  readonly mayWait: boolean
}

/**
 * Locks a project; null: no project has this name. With a known id, the statement is pipelined with the ones that need
 * the lock. It fails the transaction if the name has another id by now, if the project has an invariant, if another transaction
 * has the lock and this one does not wait, or if the clock of this process is wrong.
 */
export async function lockProject(
  tx: Transaction,
  context: EngineContext,
  name: string,
  { knownId, assumesNamesFree, inline, mayWait }: ProjectOptions,
): Promise<LockedProject | null | 'locked'> {
  const { system, lockWaits } = context
  if (knownId === null) {
    const locking = lockWaits.during(mayWait, (waits) =>
      lockScope(tx.client, name, { skipLocked: !waits, time: system.fixedTime }),
    )
    const locked = await (tx.trace ? tx.trace.locking(locking) : locking)
    if (locked === null || locked === 'locked') return locked
    return new LockedProject(tx, context, { name, ...locked, now: locked.at, assumesNamesFree: false, inline })
  }
  const now = system.now()
  const known = { project: name, id: knownId, now: system.fixedTime ? null : now }
  const locking = lockWaits.during(mayWait, (waits) => lockKnownScope(tx.client, { ...known, skipLocked: !waits }))
  tx.pipeline([tx.trace ? tx.trace.locking<unknown>(locking) : locking])
  return new LockedProject(tx, context, {
    name,
    projectId: knownId,
    now,
    assumesNamesFree,
    hasInvariants: false,
    inline,
  })
}
