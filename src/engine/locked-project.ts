import type { LockedProject as LockedProjectPort, NewRoot } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { insertWakes } from '../store/queue.ts'
import { lockKnownScope, lockScope } from '../store/scope.ts'
import type { EngineContext } from './context.ts'
import { createRoot, lockTree } from './lock-tree.ts'
import type { LockedTree } from './locked-tree.ts'
import type { Transaction } from './transaction.ts'

interface ProjectState {
  readonly name: string
  readonly projectId: string
  readonly now: Date
  readonly trusts: boolean
  readonly budget: number
}

/** A project in one transaction, its row locked: the specs of its roots are written by one transaction at a time. */
export class LockedProject implements LockedProjectPort {
  readonly client: Client
  readonly projectId: string
  readonly now: Date
  readonly trusts: boolean
  readonly #tx: Transaction
  readonly #context: EngineContext
  readonly #state: ProjectState
  readonly #created: LockedTree[] = []

  constructor(tx: Transaction, context: EngineContext, state: ProjectState) {
    this.#tx = tx
    this.#context = context
    this.#state = state
    this.client = tx.client
    this.projectId = state.projectId
    this.now = state.now
    this.trusts = state.trusts
  }

  createRoot(root: NewRoot): LockedTree {
    const { name: project, projectId, now, budget } = this.#state
    const tree = createRoot(this.#tx, this.#context, { project, projectId, now, budget }, root)
    this.#created.push(tree)
    return tree
  }
  /** Rules have decided a new tree. */
  get hasDecided(): boolean {
    return this.#created.some((tree) => tree.hasDecided)
  }

  async lockTree(rootId: string): Promise<LockedTree | null> {
    const tree = await lockTree(this.#tx, this.#context, rootId)
    return typeof tree === 'string' ? null : tree
  }

  async wake(rootIds: readonly string[], reason: string): Promise<void> {
    for (const rootId of rootIds) {
      await insertWakes(this.client, rootId, [rootId], reason)
      this.#tx.events.wokenRoots.add(rootId)
    }
  }
}

export interface ProjectOptions {
  /** As an earlier transaction knew it: then the lock is not waited for. */
  readonly knownId: string | null
  /** Unique names need not be asked for. */
  readonly trusts: boolean
  /** Phase writes that new trees may do in this transaction. */
  readonly budget: number
}

/**
 * Locks a project; null: there is none of this name. Where its id is known, the statement travels with what is asked for
 * under the lock, and fails, with the transaction, if the name is another project's by now or the clock of this process is off.
 */
export async function lockProject(
  tx: Transaction,
  context: EngineContext,
  name: string,
  { knownId, trusts, budget }: ProjectOptions,
): Promise<LockedProject | null> {
  const { system } = context
  if (knownId === null) {
    const locked = await lockScope(tx.client, name, system.fixedTime)
    return locked && new LockedProject(tx, context, { name, ...locked, now: locked.at, trusts: false, budget })
  }
  const now = system.now()
  tx.pipeline([lockKnownScope(tx.client, { project: name, id: knownId, now: system.fixedTime ? null : now })])
  return new LockedProject(tx, context, { name, projectId: knownId, now, trusts, budget })
}
