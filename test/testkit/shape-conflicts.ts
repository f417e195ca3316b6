import {
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
} from 'graphql'

/**
 * Fields that a client cannot select together without an alias: equal names with different shapes among the possible types
 * of a union or an interface. It is the rule of GraphQL for fields of different objects: lists, nullability and leaf types
 * are equal, and so is, by the same rule, all that composite types have below.
 * https://spec.graphql.org/October2021/#SameResponseShape()
 */
export function shapeConflicts(schema: GraphQLSchema): readonly string[] {
  const compared = new Set<string>()
  return Object.values(schema.getTypeMap())
    .filter((type) => isAbstractType(type) && !type.name.startsWith('__'))
    .flatMap((type) => amongPossible(schema, [type as GraphQLAbstractType], compared))
}

type Composite = GraphQLAbstractType | GraphQLObjectType

function amongPossible(schema: GraphQLSchema, types: readonly Composite[], compared: Set<string>): readonly string[] {
  const objects = types.flatMap((type) => (isAbstractType(type) ? schema.getPossibleTypes(type) : [type]))
  return objects.flatMap((one, at) => objects.slice(at + 1).flatMap((other) => between(schema, one, other, compared)))
}

function between(
  schema: GraphQLSchema,
  one: GraphQLObjectType,
  other: GraphQLObjectType,
  compared: Set<string>,
): readonly string[] {
  const pair = [one.name, other.name].sort().join(' ')
  if (one === other || compared.has(pair)) return []
  compared.add(pair)
  const others = other.getFields()
  return Object.values(one.getFields()).flatMap(({ name, type }) => {
    const otherType = others[name]?.type
    if (otherType === undefined) return []
    const named = [getNamedType(type), getNamedType(otherType)] as const
    if (shapeOf(type) !== shapeOf(otherType)) {
      return [`${one.name}.${name}: ${type} conflicts with ${other.name}.${name}: ${otherType}`]
    }
    return isLeafType(named[0]) ? [] : amongPossible(schema, named as readonly Composite[], compared)
  })
}

/** `[Phase!]!`, or `[…]` for a list of composite types, whatever they are. */
function shapeOf(type: GraphQLOutputType): string {
  const named = getNamedType(type)
  const isComposite = isObjectType(named) || isAbstractType(named)
  return isComposite ? String(type).replace(named.name, '…') : String(type)
}
