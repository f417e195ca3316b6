import type { Node } from '../core/tree.ts'
import type { LockedTree as LockedTreePort } from '../families/family.ts'
import { appendChanges } from '../log/append.ts'
import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { forgetRoot, insertWakes, nextDue, scheduleRoot } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { EngineContext } from './context.ts'
import { flush, onlyInserts } from './flush.ts'
import { load } from './load.ts'
import { runToFixpoint } from './run-to-fixpoint.ts'
import type { Effect, TreeSlice } from './slice/tree-slice.ts'
import type { TrackedObject } from './tracked-object.ts'
import type { Transaction } from './transaction.ts'

/** A row of `wake` to be written: the tree is decided soon; a reason goes to `onWake` of its family. */
export interface WakeRequest {
  readonly rootId: string
  readonly ids: readonly string[]
  readonly reason: string | null
}

interface TreeState {
  readonly slice: TreeSlice
  /** When the clock next matters to this tree, as the store knows it; null: never. */
  readonly wakeAt: Date | null
  /** Decisions of this tree that failed in a row. */
  readonly failures: number
  readonly isNew: boolean
  /** Objects that were remembered instead of read. */
  readonly recalled: ReadonlyMap<string, LoadedNode>
}

/** One tree in one transaction, its root row locked. Closing the transaction writes what rules and commands did to it. */
export class LockedTree implements LockedTreePort {
  readonly slice: TreeSlice
  readonly client: Client
  readonly isNew: boolean
  /** Commands may decide at once only where nobody waits for the same lock. */
  readonly #budget: number
  readonly #tx: Transaction
  readonly #context: EngineContext
  readonly #state: TreeState
  readonly #wakeRequests: WakeRequest[] = []
  #undecided: ReadonlySet<string> = new Set()
  #hasDecided = false
  #isReconciled = false
  #isClockDue = false

  /** @param budget phase writes that `decideNow` may do; 0: it enqueues a wake instead */
  constructor(tx: Transaction, context: EngineContext, state: TreeState, budget = 0) {
    this.#tx = tx
    this.#context = context
    this.#state = state
    this.#budget = budget
    this.slice = state.slice
    this.client = tx.client
    this.isNew = state.isNew
    tx.enlist(this)
  }

  get root(): TrackedObject {
    return this.slice.root
  }
  get wakeAt(): Date | null {
    return this.#state.wakeAt
  }
  get hasDecided(): boolean {
    return this.#hasDecided
  }
  /** Objects that still want their turn: the budget was spent, or an expression has to be evaluated first. */
  get undecided(): ReadonlySet<string> {
    return this.#undecided
  }

  // Properties rather than methods, so that commands can take them apart.
  readonly load = (ids: readonly string[]): Promise<void> => load(this.client, this.slice, this.#context.kinds, ids)
  readonly wake = (ids: readonly string[], reason: string | null = null): void => {
    this.#wakeRequests.push({ rootId: this.root.row.id, ids, reason })
  }
  readonly decideNow = async (node: Node = this.root): Promise<void> => {
    if (this.#budget === 0) return this.wake([node.row.id])
    this.slice.touch(node)
    await this.decide(this.#budget)
  }
  readonly reject = (
    ...[node, to, by, reason, { actor = 'USER', secondary } = {}]: Parameters<LockedTreePort['reject']>
  ): void => {
    this.slice.reject({ node, to, actor, by, reason, secondary })
  }

  /** Lets the rules decide until nothing is left to do, or so many phases are written. */
  async decide(budget: number): Promise<void> {
    this.#hasDecided = true
    this.#undecided = await runToFixpoint(this.client, this.slice, this.#context.kinds, budget)
  }
  /** Leaves what was touched to the next reconcile. */
  deferDecisions(): void {
    this.#undecided = new Set([...this.slice.touched].map(({ row }) => row.id))
  }
  /** The wake requests of the tree were taken; `isClockDue`: its clock has run out, too. */
  reconciled(isClockDue: boolean): void {
    this.#isReconciled = true
    this.#isClockDue = isClockDue
  }

  /** Writes everything, the log last. What only inserts is not waited for: the commit travels with it. */
  async flush(): Promise<void> {
    const { slice } = this
    const { kinds, log } = this.#context
    this.#dispatch()
    const { gone } = slice.root
    const effects = slice.effects.splice(0)
    // An effect that removes what hangs on the root needs the root; any other needs the rows that it belongs to.
    if (gone) await this.#runEffects(effects)
    const inserts = onlyInserts(slice) && !gone && effects.length === 0
    const sent = [...flush(this.client, slice, kinds.details)]
    if (!gone) sent.push(this.#runEffects(effects))
    sent.push(...this.#enqueueWakes(), this.#schedule())
    // The schedule of a due tree is computed from the rows before it is written.
    if (this.#isClockDue || this.#state.failures > 0) await awaitAll(sent.splice(0))
    sent.push(appendChanges(this.client, slice.changes).then((batches) => log.appended(batches)))
    if (inserts) this.#tx.pipeline(sent)
    else await awaitAll(sent)
    this.#checkRecalled()
    this.#publish()
  }

  /** Gives new work to claims that wait, in this very transaction. */
  #dispatch(): void {
    const handoff = this.#context.dispatcher.dispatch(this.slice)
    if (!handoff) return
    this.#tx.events.hasDispatched = true
    this.#tx.onCommit(() => handoff.committed())
    this.#tx.onRollback(() => handoff.rolledBack())
  }

  async #runEffects(effects: readonly Effect[]): Promise<void> {
    const { families } = this.#context.kinds
    for (const { name, args } of effects) {
      const run = families.find((family) => family.effects[name])?.effects[name]
      if (!run) throw new Error(`no family has the effect ${name}`)
      for (const rootId of await run(this.client, this.root, args, this.slice.now))
        this.#tx.events.wokenRoots.add(rootId)
    }
  }

  #enqueueWakes(): readonly Promise<unknown>[] {
    const rootId = this.root.row.id
    if (this.#undecided.size > 0) this.#wakeRequests.unshift({ rootId, ids: [...this.#undecided], reason: null })
    return this.#wakeRequests.map(({ rootId, ids, reason }) => {
      this.#tx.events.wokenRoots.add(rootId)
      return insertWakes(this.client, rootId, ids, reason)
    })
  }

  /** One row for each tree says when its clock matters next: written only when that gets earlier, or has passed. */
  async #schedule(): Promise<void> {
    const { client, root, slice } = this
    const { wakeAt, failures } = this.#state
    const rootId = root.row.id
    if (root.gone) await forgetRoot(client, rootId)
    else if (this.#isClockDue || failures > 0) await scheduleRoot(client, rootId, await nextDue(client, rootId))
    else if (slice.due && (!wakeAt || slice.due < wakeAt)) await scheduleRoot(client, rootId, slice.due)
  }

  /** Writing an object proves that it was remembered right. What was decided about any other has to be decided again. */
  #checkRecalled(): void {
    const { recalled } = this.#state
    const unproved = [...recalled].filter(([id, { row }]) => this.slice.nodes.get(id)?.row.revision === row.revision)
    if (unproved.length > 0) throw new RevisionConflict(recalled.size, recalled.size - unproved.length)
  }

  #publish(): void {
    const { events } = this.#tx
    for (const type of this.slice.offers) events.workTypes.add(type)
    if (this.slice.changes.length > 0) events.hasChanges = true
    const { work, specs } = this.#context
    this.#tx.onCommit(() => {
      work.keep(this.slice)
      if (this.#isReconciled || this.#undecided.size > 0) specs.keep(this.slice, this.#undecided)
    })
  }
}
