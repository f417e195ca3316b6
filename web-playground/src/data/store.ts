/** Something that components read with useSyncExternalStore: told at most once a frame, however much happens. */
export abstract class Store {
  readonly #watchers = new Set<() => void>()
  #planned = false
  #version = 0

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }
  readonly version = (): number => this.#version

  protected changed(): void {
    if (this.#planned) return
    this.#planned = true
    // Frames stop in a tab that is not looked at; there is no hurry then, but there is an end.
    const run = (): void => {
      if (!this.#planned) return
      this.#planned = false
      this.#version += 1
      for (const watcher of this.#watchers) watcher()
    }
    if (document.hidden) setTimeout(run, HIDDEN_MS)
    else requestAnimationFrame(run)
  }
}
const HIDDEN_MS = 250
