/** A value that exists at times: waiters get it as soon as it does. */
export class Latch<T> {
  #value: T | null = null
  #next = Promise.withResolvers<T | null>()
  #ended = false

  get value(): T | null {
    return this.#value
  }
  open(value: T): void {
    this.#value = value
    this.#next.resolve(value)
  }
  close(): void {
    if (this.#value === null || this.#ended) return
    this.#value = null
    this.#next = Promise.withResolvers()
  }
  /** Releases all waiters, for good. */
  end(): void {
    this.#ended = true
    this.#value = null
    this.#next.resolve(null)
    this.#next = Promise.withResolvers()
    this.#next.resolve(null)
  }
  /** Null: the latch has ended. */
  wait(): Promise<T | null> {
    return this.#next.promise
  }
}
