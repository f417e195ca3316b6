import type { DrawnPath } from '../../model/critical-path.ts'

/** The nodes that stand out. Beside the drawing, so that another selection draws two nodes again and no more. */
export class Marks {
  readonly #watchers = new Set<() => void>()
  #selected: string | undefined
  #stop: string | undefined
  #path: DrawnPath = { nodes: new Set(), edges: new Set() }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }
  isSelected(id: string): boolean {
    return this.#selected === id
  }
  /** Tab leads to it. */
  isStop(id: string): boolean {
    return this.#stop === undefined || this.#stop === id
  }

  /** A node or an edge on the critical path that is shown. */
  isCritical(id: string): boolean {
    return this.#path.nodes.has(id) || this.#path.edges.has(id)
  }

  /** Without `stop`, Tab leads to all nodes. */
  set(selected: string | undefined, stop: string | undefined, path: DrawnPath): void {
    if (selected === this.#selected && stop === this.#stop && path === this.#path) return
    this.#path = path
    this.#selected = selected
    this.#stop = stop
    for (const watcher of this.#watchers) watcher()
  }
}
