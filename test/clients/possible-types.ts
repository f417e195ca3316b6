import { type GraphQLSchema, isAbstractType } from 'graphql'

/** The types of each union and interface, as caches ask for them. */
export const possibleTypes = (schema: GraphQLSchema): Record<string, string[]> =>
  Object.fromEntries(
    Object.values(schema.getTypeMap())
      .filter(isAbstractType)
      .map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  )
