import type { TrackedObject } from '../tracked-object.ts'

/** Trees whose specs are remembered at a time: a process works on as many at once, and they may be large. */
const MAX_TREES = 4

interface CachedSpec {
  /** Each write of an object makes a new revision, so it tells whether the spec is still the same. */
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
 * Specs that the next transaction of a tree asks for again, since its budget stopped this one. Without it a spec with a
 * hundred thousand items is read once for every few hundred of them.
 */
export class SpecCache {
  readonly #trees = new Map<string, SpecsOfTree>()

  of(rootId: string): SpecsOfTree {
    return this.#trees.get(rootId) ?? NO_SPECS
  }

  /** Another database may have given the same revisions to other writes. */
  clear(): void {
    this.#trees.clear()
  }

  /** To be called after the commit. @param undecided objects that still want their turn; none: the tree is at rest */
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
