/**
 * A value that components read with useSyncExternalStore. It notifies at most once a frame, however often it changes.
 */
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
    // A hidden tab has no frames, so a timer notifies in their place.
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
