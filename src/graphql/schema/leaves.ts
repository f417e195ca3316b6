import { defaultFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import type { GraphQLContext } from '../context.ts'

type MapLeaf = (value: unknown, context: GraphQLContext) => unknown

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Passes what every field of a scalar type resolves to through a function. */
export function mapLeaves(schema: GraphQLSchema, scalar: 'JSON' | 'String', map: MapLeaf): void {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []))
  for (const field of fields) {
    if (getNamedType(field.type).name !== scalar) continue
    const resolve = field.resolve ?? defaultFieldResolver
    field.resolve = (source, args, context: GraphQLContext, info) => {
      const value: unknown = resolve(source, args, context, info)
      return isPromise(value) ? value.then((resolved) => map(resolved, context)) : map(value, context)
    }
  }
}
