/** The nodes that stand out. Beside the drawing, so that another selection draws two nodes again and no more. */
export class Marks {
  readonly #watchers = new Set<() => void>()
  #selected: string | undefined
  #stop: string | undefined

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

  /** Without `stop`, Tab leads to all nodes. */
  set(selected: string | undefined, stop: string | undefined): void {
    if (selected === this.#selected && stop === this.#stop) return
    this.#selected = selected
    this.#stop = stop
    for (const watcher of this.#watchers) watcher()
  }
}
