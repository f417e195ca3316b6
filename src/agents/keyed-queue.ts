/** Runs the tasks of one key one after the other, in the order in which they are added. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  add<T>(key: string, task: () => Promise<T>): Promise<T> {
    const added = (this.#last.get(key) ?? Promise.resolve()).then(task, task)
    this.#last.set(key, added)
    const forget = (): void => void (this.#last.get(key) === added && this.#last.delete(key))
    added.then(forget, forget)
    return added
  }
}
