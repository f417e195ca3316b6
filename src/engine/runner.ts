import type { Evaluated, Work } from '../core/tree.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { forgetRoot } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { EngineContext } from './context.ts'
import type { Evaluate } from './evaluate.ts'
import { Lane, type Outcome, type Queued } from './lane.ts'
import { type LockedTree, lockTree } from './locked-tree.ts'
import type { Evaluation } from './slice/slice-reader.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import { transaction } from './transaction.ts'
import { takeWakeUps } from './wake-ups.ts'

/** Phase writes of one transaction, at most: then other trees have their turn. */
const BUDGET = 2_000
const RETRIES = 3

/** An agent's claims or reports on one tree. Tasks of one tree that meet share a transaction. */
export interface TreeTask<T> {
  /** Objects that it needs to see. */
  readonly ids: readonly string[]
  /** Most of them end, so what depends on them is loaded too. */
  readonly ends: boolean
  /** Whether it can use the work as this process remembers it. */
  canRecall(work: Work, now: Date): boolean
  apply(slice: TreeSlice): T
}

export type Ran<T> = { readonly found: true; readonly value: T } | { readonly found: false }

/** `locked`: another engine has it. */
export type Reconciled = 'done' | 'gone' | 'locked'

type LaneTask =
  | { readonly type: 'run'; readonly task: TreeTask<unknown> }
  | { readonly type: 'reconcile'; readonly skipLocked: boolean }
type TreeLane = Lane<LaneTask, Ran<unknown> | Reconciled>

/** All transactions of this process on trees. Each tree has one at a time; tasks that arrive meanwhile join the next. */
export class TreeRunner {
  readonly #context: EngineContext
  readonly #evaluate: Evaluate
  readonly #lanes = new Map<string, TreeLane>()
  readonly #active = new Set<Promise<unknown>>()

  constructor(context: EngineContext, evaluate: Evaluate) {
    this.#context = context
    this.#evaluate = evaluate
  }

  run<T>(rootId: string, task: TreeTask<T>): Promise<Ran<T>> {
    return this.#inLane(rootId, { type: 'run', task }) as Promise<Ran<T>>
  }
  /** Takes wake requests and due clocks in, and decides the tree as far as possible. */
  reconcile(rootId: string, skipLocked: boolean): Promise<Reconciled> {
    return this.#inLane(rootId, { type: 'reconcile', skipLocked }) as Promise<Reconciled>
  }

  /** The database may be another one, so what was remembered says nothing. */
  forget(): void {
    this.#context.work.clear()
    this.#context.specs.clear()
  }
  /** The tree of an object, if this process remembers it: the object may be gone by now. */
  rootOf(objectId: string): string | undefined {
    return this.#context.work.rootOf(objectId)
  }
  /** Waits until every transaction has ended. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
  }

  async #inLane(rootId: string, task: LaneTask): Promise<Ran<unknown> | Reconciled> {
    const lane = this.#lanes.get(rootId) ?? this.#openLane(rootId)
    const running = lane.run(task)
    this.#active.add(running)
    try {
      return await running
    } finally {
      this.#active.delete(running)
      if (lane.isIdle && this.#lanes.get(rootId) === lane) this.#lanes.delete(rootId)
    }
  }

  #openLane(rootId: string): TreeLane {
    const lane: TreeLane = new Lane({ takeBatch, run: (tasks) => this.#runBatch(rootId, tasks) })
    this.#lanes.set(rootId, lane)
    return lane
  }

  async #runBatch(rootId: string, batch: readonly LaneTask[]): Promise<readonly Outcome<Ran<unknown> | Reconciled>[]> {
    const tasks = batch.flatMap((task) => (task.type === 'run' ? [task.task] : []))
    if (tasks.length > 0) return await this.#runTasks(rootId, tasks)
    const skipLocked = batch.every((task) => task.type === 'reconcile' && task.skipLocked)
    const value = await this.#reconcile(rootId, skipLocked)
    return batch.map(() => ({ value }))
  }

  async #runTasks(rootId: string, tasks: readonly TreeTask<unknown>[]): Promise<readonly Outcome<Ran<unknown>>[]> {
    let decides = true
    for (let failures = 0; ; ) {
      try {
        return await this.#applyTasks(rootId, tasks, { recalls: decides && failures === 0, decides })
      } catch (error) {
        if (++failures < RETRIES && isTransient(error)) continue
        if (!decides) throw error
        // A report must not be lost because the tree cannot decide what follows from it.
        const { logger } = this.#context
        logger.error({ err: error, rootId }, 'a tree could not decide: the report is kept, the engine tries again')
        decides = false
        failures = 0
      }
    }
  }

  #applyTasks(
    rootId: string,
    tasks: readonly TreeTask<unknown>[],
    { recalls, decides }: { readonly recalls: boolean; readonly decides: boolean },
  ): Promise<readonly Outcome<Ran<unknown>>[]> {
    const ids = tasks.flatMap((task) => task.ids)
    const ending = decides ? tasks.flatMap((task) => (task.ends ? task.ids : [])) : []
    return transaction(this.#context, async (tx) => {
      // Only now: a new connection may be to another database, and then nothing is remembered any more.
      const recalled = recalls ? this.#recall(rootId, tasks) : NOTHING_RECALLED
      const specs = this.#context.specs.of(rootId)
      const tree = await lockTree(tx, this.#context, rootId, { ids, ending, recalled, specs })
      if (typeof tree === 'string') return tasks.map(() => ({ value: { found: false } }))
      checkRecalled(tasks, recalled, tree.slice.now)
      const outcomes = tasks.map((task) => applyTask(task, tree.slice))
      if (decides) await tree.decide(BUDGET)
      else tree.deferDecisions()
      return outcomes
    })
  }

  /** An object that several tasks need must be good enough for all of them. */
  #recall(rootId: string, tasks: readonly TreeTask<unknown>[]): ReadonlyMap<string, LoadedNode> {
    const byId = new Map<string, TreeTask<unknown>[]>()
    for (const task of tasks) for (const id of task.ids) byId.set(id, [...(byId.get(id) ?? []), task])
    const now = this.#context.system.now()
    return this.#context.work.find(
      rootId,
      byId.keys(),
      (id, work) => byId.get(id)?.every((task) => task.canRecall(work, now)) ?? false,
    )
  }

  async #reconcile(rootId: string, skipLocked: boolean): Promise<Reconciled> {
    let evaluated: ReadonlyMap<string, Evaluated> = new Map()
    for (let failures = 0; ; ) {
      try {
        const tree = await this.#reconcileOnce(rootId, skipLocked, evaluated)
        if (tree === 'gone') await forgetRoot(this.#context.pool, rootId)
        if (typeof tree === 'string') return tree
        const evaluations: readonly Evaluation[] = [...tree.slice.evaluations.values()]
        // Outside of the lock: slow or hostile expressions hold up nobody.
        if (evaluations.length > 0) evaluated = await this.#evaluate(evaluations)
        // Results that the budget left over are used up before other trees have their turn.
        else if (evaluated.size === 0 || tree.undecided.size === 0) return 'done'
        failures = 0
      } catch (error) {
        if (++failures >= RETRIES || !isTransient(error)) throw error
      }
    }
  }

  #reconcileOnce(
    rootId: string,
    skipLocked: boolean,
    evaluated: ReadonlyMap<string, Evaluated>,
  ): Promise<LockedTree | 'gone' | 'locked'> {
    return transaction(this.#context, async (tx) => {
      const specs = this.#context.specs.of(rootId)
      const tree = await lockTree(tx, this.#context, rootId, { skipLocked, evaluated, specs })
      if (typeof tree === 'string') return tree
      await takeWakeUps(tree, this.#context.kinds)
      await tree.decide(BUDGET)
      return tree
    })
  }
}

const NOTHING_RECALLED: ReadonlyMap<string, LoadedNode> = new Map()

/** Reports first: the wake requests that they leave are then part of the same reconcile. */
function takeBatch<R>(queue: Queued<LaneTask, R>[]): readonly Queued<LaneTask, R>[] {
  const all = queue.splice(0)
  const runs = all.filter(({ task }) => task.type === 'run')
  if (runs.length === 0) return all
  queue.push(...all.filter(({ task }) => task.type !== 'run'))
  return runs
}

function applyTask(task: TreeTask<unknown>, slice: TreeSlice): Outcome<Ran<unknown>> {
  try {
    return { value: { found: true, value: task.apply(slice) } }
  } catch (error) {
    return { error }
  }
}

/** What was remembered must still do now that the lock is there and the time is known. */
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

/** Serialisation failure and deadlock; both are safe to repeat, since nothing was written. */
const TRANSIENT = new Set(['40001', '40P01'])
const isTransient = (error: unknown): boolean =>
  error instanceof RevisionConflict || (error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code)))
