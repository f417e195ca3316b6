import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql'
import type { GraphQLContext } from '../context.ts'
import { countJson, countText } from './count-answer.ts'
import { box } from './json-data.ts'

type Resolve = GraphQLFieldResolver<unknown, GraphQLContext>
type MapLeaf = (value: unknown, context: GraphQLContext) => unknown

/** In one step, since each step of an asynchronous field costs a promise. */
const LEAVES: Readonly<Record<string, MapLeaf>> = {
  String: countText,
  JSON: (value, context) => box(countJson(value, context)),
}

const whileOpen =
  (resolve: Resolve): Resolve =>
  (source, args, context, info) => {
    context.answer.requireOpen()
    return resolve(source, args, context, info)
  }

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Counts the texts and the JSON of every field, makes JSON safe for any data, and runs no resolver of an answer that has ended. */
export function guardAnswers(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const map = LEAVES[getNamedType(field.type).name]
      const { resolve = defaultFieldResolver } = field
      if (!map) {
        if (field.resolve) field.resolve = whileOpen(resolve)
        continue
      }
      field.resolve = (source, args, context: GraphQLContext, info) => {
        const value: unknown = resolve(source, args, context, info)
        return isPromise(value) ? value.then((resolved) => map(resolved, context)) : map(value, context)
      }
    }
  }
}
