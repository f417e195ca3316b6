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

export interface InputContext {
  readonly schema: GraphQLSchema
  /** Called with each enum and input type that the printed type names. */
  readonly use: (name: string) => void
  /** Enums of which the server may have more values than schema.graphql. */
  readonly openEnums: readonly string[]
}

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

export function variablesType(context: InputContext, definitions: readonly VariableDefinitionNode[]): string {
  const members = definitions.map(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(context.schema, type) as GraphQLInputType | undefined
    if (!inputType) throw new Error(`The variable ${variable.name.value} has an unknown type.`)
    return member(variable.name.value, inputType, defaultValue !== undefined, context)
  })
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${members.join('; ')} }`
}

/** The body of an input object's type. */
export function inputObjectType(type: GraphQLInputObjectType, context: InputContext): string {
  const fields = Object.values(type.getFields())
  if (!type.isOneOf) return `{ ${fields.map((field) => fieldOf(field, context)).join('; ')} }`
  return fields.map((field) => oneOfMember(field, fields, context)).join(' | ')
}

const fieldOf = ({ name, type, default: given }: GraphQLInputField, context: InputContext): string =>
  member(name, type, given !== undefined, context)

function oneOfMember(
  { name, type }: GraphQLInputField,
  all: readonly GraphQLInputField[],
  context: InputContext,
): string {
  const others = all.filter((other) => other.name !== name).map((other) => `readonly ${other.name}?: undefined`)
  return `{ ${[`readonly ${name}: ${bareType(type, context)}`, ...others].join('; ')} }`
}

function member(name: string, type: GraphQLInputType, hasDefault: boolean, context: InputContext): string {
  if (isNonNullType(type) && !hasDefault) return `readonly ${name}: ${bareType(type.ofType, context)}`
  const optional = inputType(type, context)
  return `readonly ${name}?: ${optional === 'unknown' ? optional : `${optional} | undefined`}`
}

const inputType = (type: GraphQLInputType, context: InputContext): string =>
  isNonNullType(type) ? bareType(type.ofType, context) : orNull(bareType(type, context))

function bareType(type: GraphQLInputType, context: InputContext): string {
  if (isListType(type)) return `ReadonlyArray<${inputType(type.ofType, context)}>`
  if (isNonNullType(type)) return bareType(type.ofType, context)
  if (!isEnumType(type) && !isInputObjectType(type)) return scalarType(type.name, SCALARS)
  context.use(type.name)
  return context.openEnums.includes(type.name) ? `${type.name} | (string & {})` : type.name
}
