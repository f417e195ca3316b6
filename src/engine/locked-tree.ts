import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { Node } from '../core/tree.ts'
import type { LockedTree as LockedTreePort } from '../families/family.ts'
import { appendChanges } from '../log/append.ts'
import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { enqueueWakes, forgetRoot, nextDue, scheduleRoot } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import { runIn } from '../tracing/spans.ts'
import type { EngineContext } from './context.ts'
import { flush, onlyInserts } from './flush.ts'
import { load } from './load.ts'
import { applyReleases, runToFixpoint } from './run-to-fixpoint.ts'
import type { Effect, TreeSlice } from './slice/tree-slice.ts'
import type { TrackedObject } from './tracked-object.ts'
import type { Transaction } from './transaction.ts'

/** A row for the table `wake`: the engine decides these objects soon, and passes a reason to `onWake` of the family. */
export interface WakeRequest {
  readonly rootId: string
  readonly ids: readonly string[]
  readonly reason: string | null
}

interface TreeState {
  readonly slice: TreeSlice
  /** When the tree is due next according to the store; null: never. */
  readonly wakeAt: Date | null
  /** Consecutive failures to decide this tree. */
  readonly failures: number
  readonly isNew: boolean
  /** Objects that came from the cache instead of the store. */
  readonly recalled: ReadonlyMap<string, LoadedNode>
}

/** One tree in one transaction, its root row locked. Closing the transaction writes the changes of rules and commands. */
export class LockedTree implements LockedTreePort {
  readonly slice: TreeSlice
  readonly client: Client
  readonly isNew: boolean
  /** Commands decide at once only while no other call waits for the same lock. */
  readonly #budget: number
  readonly #tx: Transaction
  readonly #context: EngineContext
  readonly #state: TreeState
  readonly #wakeRequests: WakeRequest[] = []
  #undecided: ReadonlySet<string> = new Set()
  #hasDecided = false
  #isReconciled = false
  #isClockDue = false

  /** @param budget phase writes that `decideNow` may do; 0: it enqueues a wake request instead */
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
  get projectName(): string {
    return this.slice.projectName
  }
  get wakeAt(): Date | null {
    return this.#state.wakeAt
  }
  get hasDecided(): boolean {
    return this.#hasDecided
  }
  /** Objects whose rules have to run again: the budget was spent, or an expression has to be evaluated first. */
  get undecided(): ReadonlySet<string> {
    return this.#undecided
  }

  // Properties rather than methods, so that commands can take them apart.
  readonly load = (ids: readonly string[]): Promise<void> => load(this.client, this.slice, this.#context.kinds, ids)
  readonly wake = (ids: readonly string[], reason: string | null = null): void => {
    this.#wakeRequests.push({ rootId: this.root.row.id, ids, reason })
  }
  readonly pipeline = (sent: Promise<unknown>): void => this.#tx.pipeline([sent])
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

  /** Lets the rules decide until they reach the fixpoint or have spent the budget of phase writes. */
  async decide(budget: number): Promise<void> {
    this.#hasDecided = true
    this.#undecided = await runToFixpoint(this.client, this.slice, this.#context.kinds, budget)
  }
  /** Leaves the touched objects, and those that were waiting for what has ended, to the next reconcile. */
  async deferDecisions(): Promise<void> {
    await applyReleases(this.client, this.slice, this.#context.kinds)
    this.#undecided = new Set([...this.slice.touched].flatMap(({ gone, row }) => (gone ? [] : row.id)))
  }
  /** Notes that the wake requests of the tree were taken. `isClockDue`: the tree was due by its clock, too. */
  reconciled(isClockDue: boolean): void {
    this.#isReconciled = true
    this.#isClockDue = isClockDue
  }

  /** Writes all changes, the log last. Statements that only insert are not awaited: the commit is pipelined with them. */
  async flush(): Promise<void> {
    const { slice } = this
    const { kinds, log } = this.#context
    this.#traceOffers()
    const locking = this.#lockPlaces()
    if (locking) await locking
    this.#dispatch()
    const { gone } = slice.root
    const effects = slice.effects.splice(0)
    // Effects of a deleted root run while its rows exist. All others run after the rows that they refer to.
    if (gone) await this.#runEffects(effects)
    const inserts = onlyInserts(slice) && !gone && effects.length === 0
    const sent = [...flush(this.client, slice, kinds)]
    if (!gone) sent.push(this.#runEffects(effects))
    sent.push(...this.#enqueueWakes(), this.#schedule())
    // A due tree reads its rows to compute its schedule. The log waits for that, since it has to come last.
    if (this.#isClockDue || this.#state.failures > 0) await awaitAll(sent.splice(0))
    const { trace } = this.#tx
    // Its place is known once all trees are written: what they hand out may belong to other traces.
    const place = (batch: WrittenBatch) => (trace ? { ...batch, traceparent: trace.traceparent } : batch)
    sent.push(appendChanges(this.client, slice.changes).then((batches) => log.appended(batches.map(place))))
    const { changes } = slice
    if (changes.length > 0) this.#tx.onCommit(() => this.#context.counts.changed(changes))
    if (inserts) this.#tx.pipeline(sent)
    else await awaitAll(sent)
    this.#checkRecalled()
    this.#publish()
  }

  /** Null: no claim that waits could start new work of this tree at a place. */
  #lockPlaces(): Promise<unknown> | null {
    const { places } = this.#tx
    const needed = this.#context.dispatcher.placesFor(this.slice, places)
    if (needed.length === 0) return null
    return Promise.all(needed.map(({ placement, keys }) => places.lock(this.client, placement, keys)))
  }
  /** The transaction becomes part of the trace of what has asked for it. */
  follow(traceparent: string | null): void {
    this.#tx.trace?.follow(traceparent)
  }
  /** Runs `act` in the transaction's span. */
  inTrace<T>(act: () => T): T {
    const context = this.#tx.trace?.context
    return context ? runIn(context, act) : act()
  }

  /** New work carries the trace context of the transaction that offers it. Offered again in one job, it stays in its trace. */
  #traceOffers(): void {
    const { slice } = this
    const own = slice.offered.size > 0 ? (this.#tx.trace?.traceparent ?? null) : null
    for (const tracked of slice.offered) {
      const { work, persistedWork } = tracked
      if (!work) continue
      const kept = persistedWork?.jobId === work.jobId ? persistedWork.traceparent : null
      const traceparent = own ?? kept
      if (traceparent !== work.traceparent) slice.setWork(tracked, { traceparent })
    }
  }

  /** Dispatches new work to waiting claims within this transaction. */
  #dispatch(): void {
    const handoff = this.#context.dispatcher.dispatch(this.slice, this.#tx.places, this.#tx.trace)
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
        this.#tx.events.rootsToWake.add(rootId)
    }
  }

  #enqueueWakes(): readonly Promise<unknown>[] {
    const rootId = this.root.row.id
    const traceparent =
      this.#wakeRequests.length > 0 || this.#undecided.size > 0 ? (this.#tx.trace?.traceparent ?? null) : null
    if (this.#undecided.size > 0) this.#wakeRequests.unshift({ rootId, ids: [...this.#undecided], reason: null })
    return this.#wakeRequests.map(({ rootId, ids, reason }) => {
      this.#tx.events.rootsToWake.add(rootId)
      return enqueueWakes(this.client, rootId, ids, { reason, traceparent })
    })
  }

  /** Writes when the tree is due next, but only if that is earlier than before or has passed. */
  async #schedule(): Promise<void> {
    const { client, root, slice } = this
    const { wakeAt, failures } = this.#state
    const rootId = root.row.id
    if (root.gone) await forgetRoot(client, rootId)
    else if (this.#isClockDue || failures > 0) await scheduleRoot(client, rootId, await nextDue(client, rootId))
    else if (slice.due && (!wakeAt || slice.due < wakeAt)) await scheduleRoot(client, rootId, slice.due)
  }

  /** Writing a recalled object verifies its revision. Decisions about one that was not written have to be repeated. */
  #checkRecalled(): void {
    const { recalled } = this.#state
    const unverified = [...recalled].filter(([id, { row }]) => this.slice.nodes.get(id)?.row.revision === row.revision)
    if (unverified.length > 0) throw new RevisionConflict(recalled.size, recalled.size - unverified.length)
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
