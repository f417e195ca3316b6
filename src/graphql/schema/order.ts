import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { AGENTS, type Right } from '../../core/rights.ts'
import { rightOf } from './rights-plugin.ts'

type Fields = Readonly<Record<string, GraphQLField<unknown, unknown>>>

/**
 * Puts what people call before the protocol of agents, and the roots before all other types; the rest stays sorted by name.
 * Printed schemas, introspection and so GraphiQL show it in this order.
 */
export function orderSchema(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((root) => !!root)
  const ours = new Set<GraphQLNamedType>(roots)
  for (const root of roots) {
    reorder(root.getFields(), (field) => (isForAgents(field) ? 1 : 0))
    for (const field of Object.values(root.getFields() as Fields)) if (!isForAgents(field)) reach(schema, field, ours)
  }
  const rank = (type: GraphQLNamedType): number => {
    const root = roots.indexOf(type as GraphQLObjectType)
    if (root >= 0) return root
    return ours.has(type) ? roots.length : roots.length + 1
  }
  reorder(schema.getTypeMap(), rank)
}

const isForAgents = (field: { readonly extensions: object }): boolean => {
  const right: Right | undefined = rightOf(field)
  return right?.roles?.every((role) => AGENTS.some((agent) => agent === role)) ?? false
}

/** Adds the types of a field and of its arguments, and all that can be asked of them. */
function reach(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown> | GraphQLInputField,
  found: Set<GraphQLNamedType>,
): void {
  for (const { type } of [field, ...('args' in field ? field.args : [])]) reachType(schema, getNamedType(type), found)
}

function reachType(schema: GraphQLSchema, type: GraphQLNamedType, found: Set<GraphQLNamedType>): void {
  if (found.has(type)) return
  found.add(type)
  const fields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? type.getFields() : {}
  for (const field of Object.values(fields)) reach(schema, field, found)
  const related = [
    ...(isAbstractType(type) ? schema.getPossibleTypes(type) : []),
    ...(isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : []),
  ]
  for (const one of related) reachType(schema, one, found)
}

/** Sorts the properties of the object itself: GraphQL has its order from there. */
function reorder<T>(values: Record<string, T>, rank: (value: T) => number): void {
  const entries = Object.entries(values).toSorted(([, a], [, b]) => rank(a) - rank(b))
  for (const [name] of entries) delete values[name]
  Object.assign(values, Object.fromEntries(entries))
}
