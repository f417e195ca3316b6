import { isDatabaseAway } from '../core/database-unavailable.ts'
import type { Evaluated, Work } from '../core/tree.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { forgetRoot } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { EngineContext } from './context.ts'
import { type Attempted, Lane, type Outcome, type Queued } from './lane.ts'
import { lockTree } from './lock-tree.ts'
import type { LockedTree } from './locked-tree.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import { type Transaction, transaction } from './transaction.ts'
import type { RequestTrace } from './transaction-trace.ts'
import { isTransient } from './transient.ts'
import { TreeLocked } from './tree-locked.ts'
import { takeWakeUps } from './wake-ups.ts'

/** Bounds the phase writes of one transaction, so that a large tree does not delay the others. */
const BUDGET = 2_000
const RETRIES = 3

/** An agent's claims or reports on one tree. */
export interface TreeTask<T> {
  /** Objects to load. */
  readonly ids: readonly string[]
  /** Most of the objects end, so their dependents are loaded too. */
  readonly ends: boolean
  /** True if the cached state of the work is usable. */
  canRecall(work: Work, now: Date): boolean
  /** Reads and locks what `apply` needs besides the tree. */
  prepare?(slice: TreeSlice, tx: Transaction): Promise<void>
  apply(slice: TreeSlice, tx: Transaction): T
}
/** Null: the tree is gone. */
export type Ran<T> = { readonly value: T } | null

/** The tree as it was decided; its expressions may still have to be evaluated. `locked`: another engine has it. */
export type Reconciled = LockedTree | 'gone' | 'locked'

/** A task that waits for a locked tree for this time only, in milliseconds. */
interface Impatient {
  readonly patienceMs?: number
}
/** A command that writes one tree. It may run twice. */
interface Command {
  readonly command: (tree: LockedTree) => Promise<unknown>
}
/** A transaction of its own that needs this tree among others. It may run twice: it fails with `TreeLocked`. */
interface Turn {
  readonly turn: () => Promise<unknown>
}
interface Reconcile {
  readonly skipLocked: boolean
  /** Results of expressions. */
  readonly evaluated: ReadonlyMap<string, Evaluated>
}

type Report = TreeTask<unknown> & Impatient
type Task = Report | Command | Turn | Reconcile
interface Attempt {
  readonly failures: number
  readonly decidesInline: boolean
}
type Answer = Ran<unknown> | Reconciled
const isReport = (task: Task): task is Report => 'apply' in task
const isReconcile = (task: Task): task is Reconcile => 'skipLocked' in task

/**
 * Runs the transactions of this process on one tree. Reports that wait together share a transaction, and so do reconciles;
 * each command has one of its own.
 */
export class TreeLane extends Lane<Task, Answer> {
  readonly #context: EngineContext
  readonly #rootId: string
  /** Reports went before the reconciles that wait. */
  #hasReconcileWaited = false

  constructor(context: EngineContext, rootId: string, onIdle: () => void) {
    super(onIdle, context.laneWaitMs)
    this.#context = context
    this.#rootId = rootId
  }

  protected override get subject(): string {
    return `The tree ${this.#rootId}`
  }

  /**
   * The first task decides what runs, with all others of its kind; a command runs alone. Reports that wait go before
   * reconciles once, so that one reconcile takes the wake requests that they enqueue.
   */
  protected override takeBatch(queue: Queued<Task, Answer>[]): readonly Queued<Task, Answer>[] {
    const [first] = queue
    if (!first || !(isReport(first.task) || isReconcile(first.task))) return queue.splice(0, 1)
    const takesReports = isReport(first.task) || (!this.#hasReconcileWaited && queue.some(({ task }) => isReport(task)))
    this.#hasReconcileWaited = takesReports && isReconcile(first.task)
    const isTaken = takesReports ? isReport : isReconcile
    const batch = queue.filter(({ task }) => isTaken(task))
    queue.splice(0, queue.length, ...queue.filter(({ task }) => !isTaken(task)))
    return batch
  }

  protected override whenLocked(task: Task, waitedMs: number): Outcome<Answer> | null {
    const patienceMs = isReport(task) ? task.patienceMs : isReconcile(task) && task.skipLocked ? 0 : undefined
    return patienceMs !== undefined && waitedMs >= patienceMs ? { value: 'locked' } : null
  }

  protected override async runBatch(
    batch: readonly Task[],
    _isAlone: boolean,
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<Answer>[]> {
    try {
      const [first] = batch
      if (first && 'command' in first) return [await this.#command(first, asked)]
      if (first && 'turn' in first) return [{ value: { value: await first.turn() } }]
      const reports = batch.filter(isReport)
      return await (reports.length > 0 ? this.#report(reports, asked) : this.#reconcile(batch.filter(isReconcile)))
    } catch (error) {
      if (isLockTimeout(error) || (error instanceof TreeLocked && error.rootId === this.#rootId))
        return batch.map(() => 'locked')
      throw error
    }
  }

  async #command({ command }: Command, asked: readonly RequestTrace[]): Promise<Attempted<Answer>> {
    for (let failures = 0; ; ) {
      try {
        return await transaction(
          this.#context,
          async (tx) => {
            const tree = await lockTree(tx, this.#context, this.#rootId, { mayWait: !this.isLocked })
            if (tree === 'locked') return tree
            return { value: tree === 'gone' ? null : { value: await command(tree) } }
          },
          asked,
        )
      } catch (error) {
        if (++failures >= RETRIES || !isTransient(error)) throw error
      }
    }
  }

  async #report(
    tasks: readonly TreeTask<unknown>[],
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<Answer>[]> {
    let attempt: Attempt = { failures: 0, decidesInline: true }
    for (;;) {
      try {
        return await transaction(this.#context, (tx) => this.#apply(tx, tasks, attempt), asked)
      } catch (error) {
        attempt = this.#next(attempt, error)
      }
    }
  }

  async #apply(
    tx: Transaction,
    tasks: readonly TreeTask<unknown>[],
    { failures, decidesInline }: Attempt,
  ): Promise<readonly Attempted<Answer>[]> {
    // Only after connecting: a new connection may lead to another copy of the database, which clears the cache.
    const recalled = decidesInline && failures === 0 ? this.#recall(tasks) : NOTHING_RECALLED
    const tree = await lockTree(tx, this.#context, this.#rootId, {
      ids: tasks.flatMap(({ ids }) => ids),
      ending: decidesInline ? tasks.flatMap(({ ends, ids }) => (ends ? ids : [])) : [],
      recalled,
      specs: this.#context.specs.of(this.#rootId),
      mayWait: !this.isLocked,
    })
    if (tree === 'locked') return tasks.map(() => tree)
    if (tree === 'gone') return tasks.map(() => ({ value: null }))
    checkRecalled(tasks, recalled, tree.slice.now)
    for (const task of tasks) if (task.prepare) await task.prepare(tree.slice, tx)
    const outcomes = tasks.map((task) => applyTask(task, tree.slice, tx))
    if (decidesInline) await tree.decide(BUDGET)
    else await tree.deferDecisions()
    return outcomes
  }

  /** The next attempt; throws the error if there is none. */
  #next({ failures, decidesInline }: Attempt, error: unknown): Attempt {
    if (failures + 1 < RETRIES && isTransient(error)) return { failures: failures + 1, decidesInline }
    if (!decidesInline || isDatabaseAway(error) || isLockTimeout(error)) throw error
    // A report must not be lost because rules fail on the rest of the tree, or there is no space for it.
    const { logger } = this.#context
    const at = { err: error, rootId: this.#rootId }
    logger.error(at, 'a tree could not be decided: its reports are stored without, the engine tries again')
    return { failures: 0, decidesInline: false }
  }

  /** A cached object is usable only if every task that needs it accepts it. */
  #recall(tasks: readonly TreeTask<unknown>[]): ReadonlyMap<string, LoadedNode> {
    const byId = new Map<string, TreeTask<unknown>[]>()
    for (const task of tasks) for (const id of task.ids) byId.set(id, [...(byId.get(id) ?? []), task])
    const now = this.#context.system.now()
    const canRecall = (id: string, work: Work) => byId.get(id)?.every((task) => task.canRecall(work, now)) ?? false
    return this.#context.work.find(this.#rootId, byId.keys(), canRecall)
  }

  async #reconcile(batch: readonly Reconcile[]): Promise<readonly Attempted<Answer>[]> {
    const evaluated = new Map(batch.flatMap((task) => [...task.evaluated]))
    const mayWait = !this.isLocked && batch.some(({ skipLocked }) => !skipLocked)
    for (let failures = 0; ; ) {
      try {
        const tree = await this.#reconcileOnce(mayWait, evaluated)
        if (tree === 'gone') await forgetRoot(this.#context.pool, this.#rootId)
        return batch.map(() => (tree === 'locked' ? tree : { value: tree }))
      } catch (error) {
        if (++failures >= RETRIES || !isTransient(error)) throw error
      }
    }
  }

  #reconcileOnce(mayWait: boolean, evaluated: ReadonlyMap<string, Evaluated>): Promise<LockedTree | 'gone' | 'locked'> {
    return transaction(this.#context, async (tx) => {
      const specs = this.#context.specs.of(this.#rootId)
      const tree = await lockTree(tx, this.#context, this.#rootId, { mayWait, evaluated, specs })
      if (typeof tree === 'string') return tree
      await takeWakeUps(tree, this.#context.kinds)
      await tree.decide(BUDGET)
      return tree
    })
  }
}

const NOTHING_RECALLED: ReadonlyMap<string, LoadedNode> = new Map()

function applyTask(task: TreeTask<unknown>, slice: TreeSlice, tx: Transaction): Outcome<Ran<unknown>> {
  try {
    return { value: { value: task.apply(slice, tx) } }
  } catch (error) {
    return { error }
  }
}

/** Checks recalled work again at the time of the lock, since a lease may have ended meanwhile. */
function checkRecalled(
  tasks: readonly TreeTask<unknown>[],
  recalled: ReadonlyMap<string, LoadedNode>,
  now: Date,
): void {
  if (recalled.size === 0) return
  for (const task of tasks)
    for (const id of task.ids) {
      const work = recalled.get(id)?.work
      if (work && !task.canRecall(work, now)) throw new RevisionConflict(recalled.size, 0)
    }
}
