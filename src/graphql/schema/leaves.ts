import { defaultFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import type { GraphQLContext } from '../context.ts'
import { countJson, countText } from './count-answer.ts'
import { box } from './json-data.ts'

type MapLeaf = (value: unknown, context: GraphQLContext) => unknown

/** In one step, since each step of an asynchronous field costs a promise. */
const LEAVES: Readonly<Record<string, MapLeaf>> = {
  String: countText,
  JSON: (value, context) => box(countJson(value, context)),
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Counts the texts and the JSON of every field, and makes JSON safe for any data. */
export function mapLeaves(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const map = LEAVES[getNamedType(field.type).name]
      if (!map) continue
      const resolve = field.resolve ?? defaultFieldResolver
      field.resolve = (source, args, context: GraphQLContext, info) => {
        const value: unknown = resolve(source, args, context, info)
        return isPromise(value) ? value.then((resolved) => map(resolved, context)) : map(value, context)
      }
    }
  }
}
