import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { type FieldProblem, invalidInput } from '../../core/errors.ts'
import type { GraphQLContext } from '../context.ts'
import { boundCheckOf } from './check-bounds.ts'
import { errorValue, InvalidInputErrorRef } from './errors.ts'
import { badInput } from './limits.ts'

type Field = GraphQLField<unknown, GraphQLContext>
type Resolver = GraphQLFieldResolver<unknown, GraphQLContext>

/**
 * Checks the arguments of every field against their bounds before it does anything.
 * @throws when an argument, or a field of an input, has none
 */
export function enforceBounds(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  for (const field of types.flatMap((type): Field[] => Object.values(type.getFields()))) {
    const violationsOf = boundCheckOf(field.args)
    if (!violationsOf) continue
    const refuse = refusalOf(field)
    const guarded =
      (resolve: Resolver): Resolver =>
      (parent, args, context, info) => {
        const problems = violationsOf(args)
        return problems.length > 0 ? refuse(problems) : resolve(parent, args, context, info)
      }
    if (field.subscribe) field.subscribe = guarded(field.subscribe)
    else field.resolve = guarded(field.resolve ?? defaultFieldResolver)
  }
}

/** A member of the field's union of results; an error of the request where the field has another type. */
function refusalOf({ type }: Field): (problems: readonly FieldProblem[]) => unknown {
  const named = getNamedType(type)
  const isMember = isUnionType(named) && named.getTypes().some(({ name }) => name === InvalidInputErrorRef.name)
  return (problems) => {
    const refusal = invalidInput(problems)
    if (isMember) return errorValue(refusal)
    throw badInput(refusal.message, { fields: problems })
  }
}
