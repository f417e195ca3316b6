import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { FamilyQuestion, FamilyQuestions, Node } from '../core/tree.ts'
import type { LockedTree as LockedTreePort } from '../families/family.ts'
import { appendChanges } from '../log/append.ts'
import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { endPause, type Pause, writePause } from '../store/pauses.ts'
import { enqueueWakes, forgetRoot, nextDue, scheduleRoot, scheduleRoots, unscheduleIdleRoots } from '../store/queue.ts'
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

/** Bounds the phase writes of a new tree while its project is locked. */
const INLINE_BUDGET = 500

interface TreeState {
  readonly slice: TreeSlice
  /** When the tree is due next according to the store; null: never. */
  readonly wakeAt: Date | null
  /** Consecutive failures to decide this tree. */
  readonly failures: number
  readonly isNew: boolean
  /** The root has no children ever. */
  readonly isLone?: boolean
  /** Objects that came from the cache instead of the store. */
  readonly recalled: ReadonlyMap<string, LoadedNode>
}

/** One tree in one transaction, its root row locked. Closing the transaction writes the changes of rules and commands. */
export class LockedTree implements LockedTreePort {
  readonly slice: TreeSlice
  readonly client: Client
  readonly isNew: boolean
  readonly #decidesInline: (objects: number) => boolean
  readonly #tx: Transaction
  readonly #context: EngineContext
  readonly #state: TreeState
  readonly #wakeRequests: WakeRequest[] = []
  #undecided: ReadonlySet<string> = new Set()
  #hasDecided = false
  #isReconciled = false
  #isClockDue = false

  /** @param decidesInline whether `decideNow` decides a tree of so many objects; otherwise it enqueues a wake request */
  constructor(tx: Transaction, context: EngineContext, state: TreeState, decidesInline = (_objects: number) => false) {
    this.#tx = tx
    this.#context = context
    this.#state = state
    this.#decidesInline = decidesInline
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
  answer<Q extends FamilyQuestion>(
    question: Q,
    args: FamilyQuestions[Q]['args'],
    answer: FamilyQuestions[Q]['answer'],
  ): void {
    this.slice.questions.answer({ type: 'own', question, args }, answer)
  }
  readonly pause = async (pause: Pause | null): Promise<void> => {
    const { client, root, slice } = this
    slice.isPaused = pause !== null
    if (pause) return writePause(client, root.row.id, pause)
    for (const { type, due } of await endPause(client, root.row.id, slice.now)) {
      this.#tx.events.workTypes.add(type)
      if (due) slice.wakeAt(due)
    }
  }
  readonly decideNow = async (node: Node = this.root, objects = this.slice.nodes.size): Promise<void> => {
    if (!this.#decidesInline(objects)) return this.wake([node.row.id])
    this.slice.touch(node)
    await this.decide(INLINE_BUDGET)
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
  /** Leaves the touched objects, and the dependents of ended ones, to the next reconcile. */
  async deferDecisions(): Promise<void> {
    await applyReleases(this.client, this.slice, this.#context.kinds)
    this.#undecided = new Set([...this.slice.touched].flatMap(({ gone, row }) => (gone ? [] : row.id)))
  }
  /** Notes that the wake requests of the tree were taken. `isClockDue`: the tree was due by its clock, too. */
  reconciled(isClockDue: boolean): void {
    this.#isReconciled = true
    this.#isClockDue = isClockDue
  }

  /**
   * Writes all changes of the trees of one transaction, the log last. Statements that only insert are not awaited: the commit is
   * pipelined with them.
   */
  async flush(trees: readonly LockedTree[]): Promise<void> {
    const { client } = this
    const { kinds } = this.#context
    const slices = trees.map(({ slice }) => slice)
    await awaitAll(trees.map((tree) => tree.#beforeRows()))
    const inserts = trees.every(({ slice }) => onlyInserts(slice) && !slice.root.gone && slice.effects.length === 0)
    const sent = [...flush(client, slices, kinds)]
    for (const tree of trees) sent.push(...tree.#afterRows())
    const due = trees.flatMap((tree) => {
      const at = tree.#dueAt
      return at === undefined ? [] : [{ id: tree.root.row.id, at }]
    })
    if (due.length > 0) sent.push(scheduleRoots(client, due))
    const idle = trees.filter((tree) => tree.#mayBeIdle)
    if (idle.length > 0)
      sent.push(
        unscheduleIdleRoots(
          client,
          idle.map(({ root }) => root.row.id),
        ),
      )
    // A due tree reads its rows to compute its schedule. The log waits for that, since it has to come last. Shared effects wait for
    // all others, since the lock that they take is held until the commit.
    const hasShared = slices.some(({ effects }) => effects.length > 0)
    if (hasShared || trees.some((tree) => tree.#readsClock)) await awaitAll(sent.splice(0))
    sent.push(this.#runSharedEffects(slices, null))
    for (const tree of trees) sent.push(tree.#appendLog())
    if (inserts) this.#tx.pipeline(sent)
    else await awaitAll(sent)
    for (const tree of trees) {
      tree.#checkRecalled()
      tree.#publish()
    }
  }

  async #beforeRows(): Promise<void> {
    const { slice } = this
    this.#traceOffers()
    const locking = this.#lockPlaces()
    if (locking) await locking
    this.#dispatch()
    // Effects of a deleted root run while its rows exist. All others run after the rows that they refer to.
    if (!slice.root.gone) return
    await this.#runEffects()
    await this.#runSharedEffects([slice], slice.root.row.id)
  }

  #afterRows(): readonly Promise<unknown>[] {
    return [this.#runEffects(), ...this.#enqueueWakes(), this.#schedule()]
  }

  async #appendLog(): Promise<void> {
    const { slice } = this
    const { log, counts } = this.#context
    const { trace } = this.#tx
    // The place in the trace is known only once all trees are written, since their offered work may belong to other traces.
    const place = (batch: WrittenBatch) => (trace ? { ...batch, traceparent: trace.traceparent } : batch)
    const { changes } = slice
    if (changes.length > 0) this.#tx.onCommit(() => counts.changed(changes))
    log.appended((await appendChanges(this.client, changes)).map(place))
  }

  /** Null: no claim that waits could start new work of this tree at a place. */
  #lockPlaces(): Promise<unknown> | null {
    const { places } = this.#tx
    const needed = this.#context.dispatcher.placesFor(this.slice, places)
    if (needed.length === 0) return null
    return Promise.all(needed.map(({ placement, keys }) => places.lock(this.client, placement, keys)))
  }
  /** The transaction joins the trace of the request that caused it. */
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

  /** Leaves the shared ones. */
  async #runEffects(): Promise<void> {
    const { slice, client, root, pipeline } = this
    const { kinds } = this.#context
    const isShared = ({ name }: Effect) => kinds.sharedEffect(name) !== undefined
    const effects = slice.effects.splice(0)
    slice.effects.push(...effects.filter(isShared))
    for (const { name, args } of effects.filter((effect) => !isShared(effect)))
      this.#woke(await kinds.effect(name)(client, root, args as never, slice.now, pipeline))
  }

  async #runSharedEffects(slices: readonly TreeSlice[], goes: string | null): Promise<void> {
    const effects = slices.flatMap((slice) => slice.effects.splice(0))
    for (const [name, some] of Map.groupBy(effects, ({ name }) => name)) {
      const args = some.map((effect) => effect.args as never)
      this.#woke((await this.#context.kinds.sharedEffect(name)?.(this.client, args, this.slice.now, goes)) ?? [])
    }
  }
  #woke(rootIds: readonly string[]): void {
    for (const rootId of rootIds) this.#tx.events.rootsToWake.add(rootId)
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

  /** Its clock has run out, and is all that makes it due. */
  get #isLoneDue(): boolean {
    return this.#state.isLone === true && this.#isClockDue && !this.root.gone
  }
  get #readsClock(): boolean {
    return (this.#isClockDue || this.#state.failures > 0) && !this.#isLoneDue
  }

  /** The root has reached a final phase. */
  get #hasEnded(): boolean {
    const { row } = this.root
    const { final } = this.#context.kinds.machine(row.kind)
    return final.includes(row.phase) && this.slice.changes.some(({ objectId }) => objectId === row.id)
  }

  /** When the tree is due next, if that is earlier than before, or has passed and is known; null: never. Undefined: nothing is to be written. */
  get #dueAt(): Date | null | undefined {
    const { root, slice } = this
    const { wakeAt } = this.#state
    if (root.gone || this.#readsClock) return undefined
    if (this.#isLoneDue) return root.clock
    return slice.due && (!wakeAt || slice.due < wakeAt) ? slice.due : undefined
  }
  /** It has ended: unless a clock still runs in it, nothing of it is due any more. */
  get #mayBeIdle(): boolean {
    const { wakeAt } = this.#state
    return wakeAt !== null && this.#hasEnded && !this.root.gone && !this.#readsClock && this.#dueAt === undefined
  }

  /** Writes when a tree that is gone, or was due, is due next. */
  async #schedule(): Promise<void> {
    const { client, root } = this
    const rootId = root.row.id
    if (root.gone) await forgetRoot(client, rootId)
    else if (this.#readsClock) await scheduleRoot(client, rootId, await nextDue(client, rootId))
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
    const { work, specs, kinds } = this.#context
    const keepsRoot = kinds.family(this.root.row.kind).isUncounted ?? false
    this.#tx.onCommit(() => {
      work.keep(this.slice, keepsRoot)
      if (this.#isReconciled || this.#undecided.size > 0) specs.keep(this.slice, this.#undecided)
    })
  }
}
