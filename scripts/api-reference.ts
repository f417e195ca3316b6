import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql'

/** Pages of the API's reference, in Markdown, made of the schema. Pure. */

export interface ReferencePage {
  /** The last part of its address. */
  readonly page: string
  readonly content: string
}

export function apiReference(schema: GraphQLSchema): readonly ReferencePage[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const all = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !roots.some((root) => root === type))
    .sort((a, b) => a.name.localeCompare(b.name))
  const [queries, mutations, subscriptions] = roots
  const composites = all.filter((type) => isObjectType(type) || isInterfaceType(type) || isUnionType(type))
  const page = (name: string, title: string, about: string, parts: readonly string[]): ReferencePage => ({
    page: name,
    content: [`# ${title}`, about, ...parts].join('\n\n'),
  })
  return [
    page('queries', 'Queries', 'What can be read.', operationsOf(queries)),
    page(
      'mutations',
      'Mutations',
      'What can be done. Each answers with a payload that has what it did, or why it did not.',
      [...operationsOf(mutations)],
    ),
    page('subscriptions', 'Subscriptions', 'What can be followed, over WebSockets or server-sent events.', [
      ...operationsOf(subscriptions),
    ]),
    page(
      'types',
      'Types',
      'Objects, interfaces and unions of answers.',
      composites.map((type) => compositeOf(type, schema)),
    ),
    page('inputs', 'Inputs', 'Objects that arguments take.', all.filter(isInputObjectType).map(inputOf)),
    page('enums', 'Enums and scalars', 'Words and single values.', [
      ...all.filter(isEnumType).map(enumOf),
      ...all
        .filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
        .map((type) => section(type, type.description)),
    ]),
  ]
}

const operationsOf = (root: GraphQLObjectType | null | undefined): readonly string[] =>
  // In the order of the schema: what people call comes before the protocol of agents.
  Object.values(root?.getFields() ?? {}).map((field) =>
    paragraphs(`## ${field.name}`, textOf(field), `Returns ${link(field.type)}.`, argumentsOf(field.args)),
  )

function compositeOf(type: GraphQLNamedType, schema: GraphQLSchema): string {
  if (isUnionType(type)) return section(type, type.description, `One of ${type.getTypes().map(link).join(', ')}.`)
  const { description } = type
  const typed = type as GraphQLObjectType | GraphQLInterfaceType
  const interfaces = typed.getInterfaces()
  const kinds = isInterfaceType(type) ? schema.getPossibleTypes(type) : []
  return section(
    type,
    description,
    interfaces.length > 0 ? `Is a ${interfaces.map(link).join(', ')}.` : null,
    kinds.length > 0 ? `Kinds: ${kinds.map(link).join(', ')}.` : null,
    fieldsOf(Object.values(typed.getFields())),
  )
}

const inputOf = (type: GraphQLInputObjectType): string =>
  section(type, type.description, argumentsOf(Object.values(type.getFields()), 'Field'))

const enumOf = (type: GraphQLEnumType): string =>
  section(
    type,
    type.description,
    table(
      ['Value', 'Means'],
      type.getValues().map((value) => [`\`${value.name}\``, cell(textOf(value))]),
    ),
  )

const fieldsOf = (fields: readonly GraphQLField<unknown, unknown>[]): string =>
  table(
    ['Field', 'Type', 'Means'],
    fields.map((field) => [`\`${signatureOf(field)}\``, link(field.type), cell(textOf(field))]),
  )

const argumentsOf = (given: readonly (GraphQLArgument | GraphQLInputField)[], what = 'Argument'): string | null =>
  given.length === 0
    ? null
    : table(
        [what, 'Type', 'Means'],
        given.map((one) => [`\`${one.name}\``, link(one.type), cell(textOf(one))]),
      )

const signatureOf = ({ name, args }: GraphQLField<unknown, unknown>): string =>
  args.length === 0 ? name : `${name}(${args.map((one) => one.name).join(', ')})`

interface Described {
  readonly description?: string | null | undefined
  readonly deprecationReason?: string | null | undefined
}
const textOf = ({ description, deprecationReason }: Described): string =>
  paragraphs(deprecationReason ? `**Deprecated.** ${prose(deprecationReason)}` : null, prose(description ?? ''))

const section = (type: GraphQLNamedType, ...parts: readonly (string | null | undefined)[]): string =>
  paragraphs(`## ${type.name}`, parts[0] ? prose(parts[0]) : null, ...parts.slice(1))

const paragraphs = (...parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join('\n\n')

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')

/** Descriptions are text: what looks like HTML is none. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '{&#123;')))
    .join('')

function link(type: GraphQLArgument['type'] | GraphQLField<unknown, unknown>['type']): string {
  const named = getNamedType(type)
  const text = String(type)
  if (isSpecifiedScalarType(named)) return `\`${text}\``
  const page = isInputObjectType(named) ? 'inputs' : isEnumType(named) || isScalarType(named) ? 'enums' : 'types'
  return `[\`${text}\`](./${page}#${named.name.toLowerCase()})`
}
