import type { Evaluated } from '../core/tree.ts'
import { OwnerBusy } from '../sandbox/index.ts'
import type { EngineContext } from './context.ts'
import type { Evaluate } from './evaluate.ts'
import type { LockedTree } from './locked-tree.ts'
import { type Ran, type Reconciled, TreeLane, type TreeTask } from './tree-lane.ts'

/** How long a tree counts as locked after a task has given up on it, in milliseconds. */
const LOCKED_MS = 1_000

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
  /** The same for a task that can do without the tree: 'locked' after that time. */
  async runUnlessLocked<T>(rootId: string, task: TreeTask<T>, patienceMs: number): Promise<Ran<T> | 'locked'> {
    const ran = (await this.#laneOf(rootId).run({ ...task, patienceMs })) as Ran<T> | 'locked'
    if (ran === 'locked') this.#locked.set(rootId, performance.now() + LOCKED_MS)
    return ran
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
          if (error instanceof OwnerBusy) return 'waiting'
          throw error
        }
      // While objects are undecided, another transaction uses the results, which would be lost otherwise.
      else if (evaluated.size === 0 || tree.undecided.size === 0) return 'done'
    }
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
