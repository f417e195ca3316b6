import { defaultFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'

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
const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  isThenable(value) && typeof value.then === 'function'
const box = (value: unknown): unknown => (isThenable(value) ? new Boxed(value) : value)

/** Makes every field of type JSON safe for any data. */
export function boxJson(schema: GraphQLSchema): void {
  const fields = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()))
  for (const field of fields) {
    if (getNamedType(field.type).name !== 'JSON') continue
    const resolve = field.resolve ?? defaultFieldResolver
    field.resolve = (...args) => {
      const value: unknown = resolve(...args)
      return isPromise(value) ? value.then(box) : box(value)
    }
  }
}
