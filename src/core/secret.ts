/**
 * A value that must not be shown: a token, a key, a URL with a password. As text, as JSON, in an inspected object and in a
 * log line it is `[secret]`. Only `reveal` returns the value, at the place that needs it.
 */
export class Secret<Value = string> {
  readonly #value: Value

  constructor(value: Value) {
    this.#value = value
  }

  reveal(): Value {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  /** For console.log and util.inspect of Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return SHOWN
  }
}

const SHOWN = '[secret]'
