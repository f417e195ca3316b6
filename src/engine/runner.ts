import { isDatabaseAway } from '../core/database-unavailable.ts'
import type { Evaluated } from '../core/tree.ts'
import { SandboxBusy } from '../sandbox/index.ts'
import { awaitAll } from '../store/await-all.ts'
import { lockRoots } from '../store/queue.ts'
import { applyTasks, BUDGET, FIRST_ATTEMPT, type Ran, type TreeTask } from './apply-tasks.ts'
import type { EngineContext } from './context.ts'
import type { Evaluate } from './evaluate.ts'
import type { LockedTree } from './locked-tree.ts'
import { decideLone } from './lone-trees.ts'
import { transaction } from './transaction.ts'
import { type Reconciled, TreeLane } from './tree-lane.ts'

/** How long a tree counts as locked after a task has given up on it, in milliseconds. */
const LOCKED_MS = 1_000
/** Bounds the trees that share a transaction, and the objects that are loaded for their tasks. */
const MAX_TREES = 16
const MAX_OBJECTS = 64

/** Runs the transactions of this process on trees: one at a time for each tree. */
export class TreeRunner {
  readonly #context: EngineContext
  readonly #evaluate: Evaluate
  readonly #lanes = new Map<string, TreeLane>()
  /** Until when, by the monotonic clock, no claim searches in a tree. */
  readonly #locked = new Map<string, number>()

  constructor(context: EngineContext, evaluate: Evaluate) {
    this.#context = context
    this.#evaluate = evaluate
  }

  run<T>(rootId: string, task: TreeTask<T>): Promise<Ran<T>> {
    return this.#laneOf(rootId).run(task) as Promise<Ran<T>>
  }
  /**
   * Runs a task on each of several trees, and does without those that others have locked for that time. Trees that nothing else
   * in this process wants share transactions; where one fails, each of its trees has one of its own.
   */
  async runEach<T>(tasks: readonly TaskOfTree<T>[], patienceMs: number): Promise<readonly (Ran<T> | 'locked')[]> {
    // Null: the tree is gone.
    const ran = new Map<string, Ran<T> | 'locked'>()
    const free = tasks.filter(({ rootId }) => !this.#lanes.has(rootId))
    const shared = inGroups(free).filter(({ length }) => length > 1)
    const isShared = new Set(shared.flat())
    const runAlone = async ({ rootId, task }: TaskOfTree<T>) => {
      const done = (await this.#laneOf(rootId).run({ ...task, patienceMs })) as Ran<T> | 'locked'
      if (done === 'locked') this.#locked.set(rootId, performance.now() + LOCKED_MS)
      ran.set(rootId, done)
    }
    const runTogether = async (group: readonly TaskOfTree<T>[]) => {
      const outcomes = await this.#together(group)
      for (const [i, { rootId }] of group.entries()) {
        const outcome = outcomes?.[i]?.[0] ?? 'locked'
        if (outcome === 'locked') continue
        if ('error' in outcome) throw outcome.error
        ran.set(rootId, outcome.value)
      }
      await Promise.all(group.filter(({ rootId }) => !ran.has(rootId)).map(runAlone))
    }
    const alone = tasks.filter((task) => !isShared.has(task))
    await Promise.all([...shared.map(runTogether), ...alone.map(runAlone)])
    return tasks.map(({ rootId }) => ran.get(rootId) as Ran<T> | 'locked')
  }

  /** Takes the lanes of these trees at once, which are all free: two calls never wait for each other. Null: nothing was done. */
  async #together<T>(group: readonly TaskOfTree<T>[]) {
    const { promise: done, resolve: free } = Promise.withResolvers<void>()
    const held = group.map(({ rootId }) => this.#laneOf(rootId).run({ turn: () => done }))
    const options = { ...FIRST_ATTEMPT, mayWait: false, budget: Math.floor(BUDGET / group.length) }
    try {
      return await transaction(this.#context, (tx) => {
        const rootIds = group.map(({ rootId }) => rootId)
        const locks = lockRoots(tx.client, rootIds, this.#context.system.fixedTime)
        const lockOf = async (rootId: string) => (await locks).get(rootId) ?? 'gone'
        return awaitAll(
          group.map(({ rootId, task }) =>
            applyTasks(tx, this.#context, { rootId, tasks: [task] }, { ...options, lock: lockOf(rootId) }),
          ),
        )
      })
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      return null
    } finally {
      free()
      await Promise.all(held)
    }
  }

  /** Trees that others had locked a moment ago. */
  get lockedTrees(): readonly string[] {
    const now = performance.now()
    for (const [rootId, until] of this.#locked) if (until <= now) this.#locked.delete(rootId)
    return [...this.#locked.keys()]
  }
  /** Runs a command under the tree's lock. It may run twice. */
  command<T>(rootId: string, command: (tree: LockedTree) => Promise<T>): Promise<Ran<T>> {
    return this.#laneOf(rootId).run({ command }) as Promise<Ran<T>>
  }
  /** Runs a transaction that failed with `TreeLocked` again, as soon as the tree is free. */
  async afterLocked<T>(rootId: string, turn: () => Promise<T>): Promise<T> {
    const ran = await this.#laneOf(rootId).run({ turn })
    return (ran as { readonly value: T }).value
  }
  /**
   * Takes the wake requests and due clocks of a tree and decides it, in as many transactions as its expressions need. 'waiting': other
   * trees of its project have expressions that take long.
   */
  async reconcile(rootId: string, skipLocked: boolean): Promise<'done' | 'gone' | 'locked' | 'waiting'> {
    let evaluated: ReadonlyMap<string, Evaluated> = new Map()
    for (;;) {
      const tree = (await this.#laneOf(rootId).run({ skipLocked, evaluated })) as Reconciled
      if (typeof tree === 'string') return tree
      const evaluations = [...tree.slice.evaluations.values()]
      // Outside of the lane, where slow or hostile expressions delay nobody, not even the commands of this tree.
      if (evaluations.length > 0)
        try {
          evaluated = await tree.inTrace(() => this.#evaluate(evaluations, tree.root.row.projectId))
        } catch (error) {
          if (error instanceof SandboxBusy) return 'waiting'
          throw error
        }
      // While objects are undecided, another transaction uses the results, which would be lost otherwise.
      else if (evaluated.size === 0 || tree.undecided.size === 0) return 'done'
    }
  }

  /** Decides roots without children whose clock has run out, as `decideLone` does. */
  decideLone(onLocked: (rootIds: readonly string[]) => void): Promise<void> {
    return decideLone(this.#context, onLocked)
  }

  /** Empties the caches, which do not describe another copy of the database. */
  forget(): void {
    this.#context.work.clear()
    this.#context.specs.clear()
  }
  /** The root of a cached object. The object may be gone by now. */
  rootOf(objectId: string): string | undefined {
    return this.#context.work.rootOf(objectId)
  }

  #laneOf(rootId: string): TreeLane {
    const known = this.#lanes.get(rootId)
    if (known) return known
    const lane = new TreeLane(this.#context, rootId, () => this.#lanes.delete(rootId))
    this.#lanes.set(rootId, lane)
    return lane
  }
}

export interface TaskOfTree<T> {
  readonly rootId: string
  readonly task: TreeTask<T>
}

function inGroups<T>(tasks: readonly TaskOfTree<T>[]): readonly (readonly TaskOfTree<T>[])[] {
  const groups: TaskOfTree<T>[][] = []
  let objects = 0
  for (const each of tasks) {
    const group = groups.at(-1)
    objects += each.task.ids.length
    if (group && group.length < MAX_TREES && objects <= MAX_OBJECTS) group.push(each)
    else {
      groups.push([each])
      objects = each.task.ids.length
    }
  }
  return groups
}
