import type { TreeSlice } from './slice.ts'
import type { TrackedObject } from './tracked-object.ts'

/** Trees whose specs are kept at a time: as many as this process works at, which may be large. */
const MAX_TREES = 4

interface Kept {
  /** Each write of an object makes another one, so it tells whether the spec is still the one. */
  readonly revision: number
  readonly spec: unknown
}
export type SpecsOfTree = ReadonlyMap<string, Kept>

export const NO_SPECS: SpecsOfTree = new Map()

/**
 * Specs that the next transaction of a tree will ask for again, since this one was stopped by its budget: a spec with a
 * hundred thousand items would be read for each few hundred of them.
 */
export class KeptSpecs {
  readonly #trees = new Map<string, SpecsOfTree>()

  of(rootId: string): SpecsOfTree {
    return this.#trees.get(rootId) ?? NO_SPECS
  }

  /** The database may be another one, which has given the same revisions to other writes. */
  clear(): void {
    this.#trees.clear()
  }

  /** After the commit. @param left objects that still want their turn; none: the tree has come to rest */
  keep(slice: TreeSlice, left: ReadonlySet<string>): void {
    const rootId = slice.root.row.id
    this.#trees.delete(rootId)
    if (left.size === 0) return
    this.#trees.set(rootId, new Map([...left].flatMap((id) => entryOf(slice.nodes.get(id)))))
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= MAX_TREES) return
      this.#trees.delete(oldest)
    }
  }
}

const entryOf = (tracked: TrackedObject | undefined): [string, Kept][] =>
  tracked && tracked.spec !== undefined
    ? [[tracked.row.id, { revision: tracked.row.revision, spec: tracked.spec }]]
    : []
