import {
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLType,
  isEnumType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql'

/** JSON Schemas of types of the GraphQL schema. */

export type JsonSchema = Readonly<Record<string, unknown>>

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  Sequence: { type: 'integer', minimum: 0 },
}

/** Null counts as one of its values unless the type is non-null. */
export function schemaOf(type: GraphQLType): JsonSchema {
  if (isNonNullType(type)) return presentSchemaOf(type.ofType)
  const { type: kind, ...schema } = presentSchemaOf(type)
  return { ...schema, type: [kind, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) }
}

/** The schema of its values besides null. */
export function presentSchemaOf(type: GraphQLType): JsonSchema {
  if (isListType(type)) return { type: 'array', items: schemaOf(type.ofType) }
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) }
  const scalar = isScalarType(type) ? SCALARS[type.name] : undefined
  if (!scalar) throw new Error(`There is no JSON Schema for ${type}.`)
  return scalar
}

/** An object with these fields, or with all but those. */
export function objectOf(type: GraphQLObjectType, isIn: (field: string) => boolean): JsonSchema {
  const fields = Object.values(type.getFields()).filter(({ name }) => isIn(name))
  return {
    type: 'object',
    required: fields.map(({ name }) => name),
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => [name, { ...schemaOf(type), description }]),
    ),
  }
}

/** Parameters of a query for the fields of an input, with commas between the values of a list. */
export const parametersOf = (type: GraphQLInputObjectType): readonly JsonSchema[] =>
  Object.values(type.getFields()).map(({ name, description, type }) => {
    const schema = presentSchemaOf(isNonNullType(type) ? type.ofType : type)
    return { name, in: 'query', description, schema, ...(schema.type === 'array' && { style: 'form', explode: false }) }
  })
