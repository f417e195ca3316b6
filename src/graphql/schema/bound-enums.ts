import { GraphQLError, type GraphQLSchema, isEnumType, isIntrospectionType } from 'graphql'

/** More than the longest value of any enum. */
const MAX_LENGTH = 128

/** GraphQL compares a wrong value with all values of its enum, in time and memory that grow with its length. */
export function boundEnums(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isEnumType(type) || isIntrospectionType(type)) continue
    const coerce = type.coerceInputValue.bind(type)
    type.coerceInputValue = (value, hideSuggestions) => {
      if (typeof value !== 'string' || value.length <= MAX_LENGTH) return coerce(value, hideSuggestions)
      throw new GraphQLError(`Enum "${type.name}" has no value of ${value.length.toLocaleString('en')} characters.`)
    }
  }
}
