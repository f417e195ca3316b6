import type { GraphQLSchema } from 'graphql'
import { mapLeaves } from './leaves.ts'

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

/** Makes every field of type JSON safe for any data. */
export const boxJson = (schema: GraphQLSchema): void =>
  mapLeaves(schema, 'JSON', (value) => (isThenable(value) ? new Boxed(value) : value))
