/**
 * Wraps JSON of a user that has a key `then`, since executors take such a value for a promise. Serialising the answer
 * removes the wrapper.
 */
class Boxed {
  readonly #value: unknown
  constructor(value: unknown) {
    this.#value = value
  }
  toJSON(): unknown {
    return this.#value
  }
}

const isThenable = (value: unknown): value is { readonly then: unknown } =>
  typeof value === 'object' && value !== null && 'then' in value

export const box = (value: unknown): unknown => (isThenable(value) ? new Boxed(value) : value)
