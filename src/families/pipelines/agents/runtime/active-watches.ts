/** The workloads of a runtime that are watched, each by one watcher at a time. */
export class ActiveWatches {
  readonly #watches = new Map<string, Promise<unknown>>()

  /** Watches a workload that nobody watches. */
  async begin<T>(id: string, watch: () => Promise<T>): Promise<T> {
    if (this.#watches.has(id)) throw new Error(`The workload ${id} is watched already.`)
    const watching = watch()
    this.#watches.set(id, watching)
    try {
      return await watching
    } finally {
      this.#watches.delete(id)
    }
  }

  /** Resolves when nobody watches the workload. */
  async ended(id: string): Promise<void> {
    await this.#watches.get(id)?.catch(() => {})
  }

  /** Resolves when all that are watched now have ended. */
  async allEnded(): Promise<void> {
    await Promise.allSettled(this.#watches.values())
  }
}
