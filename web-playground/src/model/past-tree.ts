import { inOrder, type Row } from './object.ts'
import type { Dependency } from './tree-model.ts'

/** A tree at a past sequence, in the shape of the present one. */
export class PastTree {
  readonly rootId: string
  #nodes: ReadonlyMap<string, Row> = new Map()
  #children: ReadonlyMap<string, readonly string[]> = new Map()
  #dependencies: readonly Dependency[] = []
  #structure = 0

  constructor(rootId: string) {
    this.rootId = rootId
  }
  get nodes(): ReadonlyMap<string, Row> {
    return this.#nodes
  }
  get root(): Row | undefined {
    return this.#nodes.get(this.rootId)
  }
  get dependencies(): readonly Dependency[] {
    return this.#dependencies
  }
  /** Grows when other objects are shown, not when phases change. */
  get structure(): number {
    return this.#structure
  }
  childrenOf(id: string): readonly string[] {
    return this.#children.get(id) ?? []
  }
  parentOf(id: string): string | undefined {
    return this.#nodes.get(id)?.parent?.id
  }

  show(rows: readonly Row[], dependencies: readonly Dependency[]): void {
    const before = this.#nodes
    const isOther =
      rows.length !== before.size ||
      dependencies !== this.#dependencies ||
      rows.some(({ id, parent }) => !before.has(id) || before.get(id)?.parent?.id !== parent?.id)
    // An unchanged row stays the same object, so that its component is not drawn again.
    this.#nodes = new Map(rows.map((row) => [row.id, same(before.get(row.id), row)]))
    if (!isOther) return
    const children = new Map<string, string[]>()
    for (const { id, parent } of rows.toSorted(inOrder)) {
      if (!parent) continue
      const siblings = children.get(parent.id)
      if (siblings) siblings.push(id)
      else children.set(parent.id, [id])
    }
    this.#children = children
    this.#dependencies = dependencies
    this.#structure += 1
  }
}

const same = (before: Row | undefined, now: Row): Row =>
  before && before.phase === now.phase && before.phaseSince === now.phaseSince && before.parent?.id === now.parent?.id
    ? before
    : now
