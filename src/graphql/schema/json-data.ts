import { defaultFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'

/**
 * JSON that a user wrote may have a key `then`, which executors take for the mark of a promise: such a value travels in a
 * box, which is taken off when the answer is written.
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

/** Makes every field of JSON safe for any data. */
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
