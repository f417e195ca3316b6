import type { EngineContext } from './context.ts'
import type { Evaluate } from './evaluate.ts'
import { type Ran, type Reconciled, TreeLane, type TreeTask } from './tree-lane.ts'

/** Runs the transactions of this process on trees: one at a time for each tree. */
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
    return this.#track(this.#laneOf(rootId).run(task) as Promise<Ran<T>>)
  }
  /** Takes the wake requests and due clocks of a tree and decides it as far as possible. */
  reconcile(rootId: string, skipLocked: boolean): Promise<Reconciled> {
    return this.#track(this.#laneOf(rootId).run({ skipLocked }) as Promise<Reconciled>)
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
  /** Waits until every transaction has ended. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
  }

  #laneOf(rootId: string): TreeLane {
    const known = this.#lanes.get(rootId)
    if (known) return known
    const lane = new TreeLane(this.#context, this.#evaluate, rootId, () => this.#lanes.delete(rootId))
    this.#lanes.set(rootId, lane)
    return lane
  }

  #track<T>(running: Promise<T>): Promise<T> {
    this.#active.add(running)
    const done = () => void this.#active.delete(running)
    running.then(done, done)
    return running
  }
}
