import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql'
import { orNull, scalarType } from './result-type.ts'

/** The TypeScript types of what is sent: variables, and the input types that they name. */

type Use = (name: string) => void

const SCALARS: Readonly<Record<string, string>> = {
  ID: 'string',
  String: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
  DateTime: 'string',
  /** A sequence, or a cursor of the log. */
  Sequence: 'number | string',
  JSON: 'unknown',
}

export function variablesType(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[], use: Use): string {
  const members = definitions.map(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(schema, type) as GraphQLInputType | undefined
    if (!inputType) throw new Error(`The variable ${variable.name.value} has an unknown type.`)
    return member(variable.name.value, inputType, defaultValue !== undefined, use)
  })
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${members.join('; ')} }`
}

/** The body of an input object's type. */
export function inputObjectType(type: GraphQLInputObjectType, use: Use): string {
  const fields = Object.values(type.getFields())
  if (!type.isOneOf) return `{ ${fields.map((field) => fieldOf(field, use)).join('; ')} }`
  return fields.map((field) => oneOfMember(field, fields, use)).join(' | ')
}

const fieldOf = ({ name, type, default: given }: GraphQLInputField, use: Use): string =>
  member(name, type, given !== undefined, use)

function oneOfMember({ name, type }: GraphQLInputField, all: readonly GraphQLInputField[], use: Use): string {
  const others = all.filter((other) => other.name !== name).map((other) => `readonly ${other.name}?: undefined`)
  return `{ ${[`readonly ${name}: ${bareType(type, use)}`, ...others].join('; ')} }`
}

function member(name: string, type: GraphQLInputType, hasDefault: boolean, use: Use): string {
  if (isNonNullType(type) && !hasDefault) return `readonly ${name}: ${bareType(type.ofType, use)}`
  const optional = inputType(type, use)
  return `readonly ${name}?: ${optional === 'unknown' ? optional : `${optional} | undefined`}`
}

const inputType = (type: GraphQLInputType, use: Use): string =>
  isNonNullType(type) ? bareType(type.ofType, use) : orNull(bareType(type, use))

function bareType(type: GraphQLInputType, use: Use): string {
  if (isListType(type)) return `ReadonlyArray<${inputType(type.ofType, use)}>`
  if (isNonNullType(type)) return bareType(type.ofType, use)
  if (!isEnumType(type) && !isInputObjectType(type)) return scalarType(type.name, SCALARS)
  use(type.name)
  return type.name
}
