import { isDatabaseAway } from '../core/database-unavailable.ts'
import type { Evaluated } from '../core/tree.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { forgetRoot } from '../store/queue.ts'
import { type Attempt, applyTasks, BUDGET, FIRST_ATTEMPT, type Ran, type TreeTask } from './apply-tasks.ts'
import type { EngineContext } from './context.ts'
import { type Attempted, Lane, type Outcome, type Queued } from './lane.ts'
import { lockTree } from './lock-tree.ts'
import type { LockedTree } from './locked-tree.ts'
import { transaction } from './transaction.ts'
import type { RequestTrace } from './transaction-trace.ts'
import { isRefused, isTransient } from './transient.ts'
import { TreeLocked } from './tree-locked.ts'
import { takeWakeUps } from './wake-ups.ts'

const RETRIES = 3

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
/** A transaction of its own that locks this tree and others. It may run twice: it fails with `TreeLocked`. */
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
type Answer = Ran<unknown> | Reconciled
const isReport = (task: Task): task is Report => 'apply' in task
const isReconcile = (task: Task): task is Reconcile => 'skipLocked' in task

/**
 * Runs the transactions of this process on one tree. Reports that wait together share a transaction, and so do reconciles;
 * each command has one of its own.
 *
 * - Idle: no task waits and nothing is held. A task makes its caller the leader.
 * - Running: a batch holds one connection, and the tree's lock from `lockTree` to its commit. Tasks that arrive meanwhile wait without either.
 *   Transient errors repeat the batch, at most `RETRIES` times; a report whose tree cannot be decided is stored without a decision.
 * - Resting: another transaction has the lock. The batch is back in the queue and nothing is held; `isLocked` makes the next attempt give
 *   up at once instead of waiting on its connection. Impatient tasks are answered `locked` once their patience is over.
 * - From running and resting the lane is idle again when its queue is empty: `onIdle` lets its owner forget it.
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
    let attempt: Attempt = FIRST_ATTEMPT
    for (;;) {
      try {
        return await transaction(
          this.#context,
          (tx) =>
            applyTasks(tx, this.#context, { rootId: this.#rootId, tasks }, { ...attempt, mayWait: !this.isLocked }),
          asked,
        )
      } catch (error) {
        attempt = this.#next(attempt, error)
      }
    }
  }

  /** The next attempt; throws the error if there is none. */
  #next({ failures, decidesInline }: Attempt, error: unknown): Attempt {
    // The next attempt recalls nothing.
    const mayBeStale = failures === 0 && isRefused(error)
    if (failures + 1 < RETRIES && (isTransient(error) || mayBeStale)) return { failures: failures + 1, decidesInline }
    if (!decidesInline || isDatabaseAway(error) || isLockTimeout(error)) throw error
    // A report must not be lost because rules fail on the rest of the tree, or there is no space for it.
    const { logger } = this.#context
    const at = { err: error, rootId: this.#rootId }
    logger.error(at, 'a tree could not be decided: its reports are stored without, the engine tries again')
    return { failures: 0, decidesInline: false }
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
