import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'

/** Coordinates of a schema whose description is missing, is not a sentence, or does not say what null means. */
export function undescribed(schema: GraphQLSchema): readonly string[] {
  const types = Object.values(schema.getTypeMap())
  return types
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap((type) => [...judge(type.name, type.description), ...within(type, type === schema.getMutationType())])
}

function within(type: GraphQLNamedType, isMutation: boolean): readonly string[] {
  if (isEnumType(type))
    return type.getValues().flatMap((value) => judge(`${type.name}.${value.name}`, value.description))
  if (isInputObjectType(type)) {
    // Exactly one field of a oneOf input is given; another input may say of all its fields what leaving them out means.
    const said = type.isOneOf || says(type.description, 'left out')
    return Object.values(type.getFields()).flatMap((field) => inputs(`${type.name}.${field.name}`, field, said))
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => fields(`${type.name}.${field.name}`, field, isMutation))
}

/** The type Mutation says for all of its fields when they are null. */
function fields(at: string, field: GraphQLField<unknown, unknown>, isMutation: boolean): readonly string[] {
  return [
    ...judge(at, field.description, isMutation || isNonNullType(field.type) ? undefined : 'null'),
    ...field.args.flatMap((argument) => inputs(`${at}(${argument.name}:)`, argument, false)),
  ]
}

const inputs = (at: string, input: GraphQLArgument | GraphQLInputField, said: boolean): readonly string[] =>
  judge(at, input.description, said || isNonNullType(input.type) ? undefined : 'left out')

function judge(at: string, description: string | null | undefined, mustSay?: string): readonly string[] {
  if (!description?.trim()) return [`${at} has no description`]
  if (!/[.)`]$/.test(description)) return [`${at} is described by no sentence: ${description}`]
  return mustSay === undefined || says(description, mustSay)
    ? []
    : [`${at} does not say what null means: ${description}`]
}

const says = (description: string | null | undefined, phrase: string): boolean =>
  description?.toLowerCase().includes(phrase) ?? false
