import type { TrackedObject } from '../tracked-object.ts'

/** Bounds the cached trees: specs may be large, and a process reconciles few trees at a time. */
const MAX_TREES = 4

interface CachedSpec {
  /** Each write of an object makes a new revision, so an equal revision proves an equal spec. */
  readonly revision: number
  readonly spec: unknown
}
export type SpecsOfTree = ReadonlyMap<string, CachedSpec>

interface TreeObjects {
  readonly root: TrackedObject
  readonly nodes: ReadonlyMap<string, TrackedObject>
}

export const NO_SPECS: SpecsOfTree = new Map()

/**
 * Keeps specs for the next transaction of a tree when the budget ends this one. Without the cache, a spec with a hundred
 * thousand items is read once for every few hundred of them.
 */
export class SpecCache {
  readonly #trees = new Map<string, SpecsOfTree>()

  of(rootId: string): SpecsOfTree {
    return this.#trees.get(rootId) ?? NO_SPECS
  }

  /** Another copy of the database may have the same revisions for other writes. */
  clear(): void {
    this.#trees.clear()
  }

  /** Called after the commit. @param undecided objects whose rules have to run again; empty: the tree is at its fixpoint */
  keep({ root, nodes }: TreeObjects, undecided: ReadonlySet<string>): void {
    const rootId = root.row.id
    this.#trees.delete(rootId)
    if (undecided.size === 0) return
    this.#trees.set(rootId, new Map([...undecided].flatMap((id) => entryOf(nodes.get(id)))))
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= MAX_TREES) return
      this.#trees.delete(oldest)
    }
  }
}

const entryOf = (tracked: TrackedObject | undefined): [string, CachedSpec][] =>
  tracked && tracked.spec !== undefined
    ? [[tracked.row.id, { revision: tracked.row.revision, spec: tracked.spec }]]
    : []
