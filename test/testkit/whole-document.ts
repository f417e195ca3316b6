import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  type OperationTypeNode,
} from 'graphql'

type Field = GraphQLField<unknown, unknown>

/**
 * An operation with one root field, `answer`: each argument is a variable of its name, and all that needs no arguments is
 * selected, as deep as wanted.
 */
export function wholeDocument(operation: OperationTypeNode, { name, args, type }: Field, depth: number): string {
  const variables = args.map((arg) => {
    // A variable that is left out gives way to the default.
    const declared = arg.defaultValue === undefined ? String(arg.type) : String(arg.type).replace(/!$/, '')
    return `$${arg.name}: ${declared}`
  })
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`)
  return `${operation}${inParentheses(variables)} { answer: ${name}${inParentheses(passed)}${selectionOf(type, depth)} }`
}

const inParentheses = (parts: readonly string[]): string => (parts.length > 0 ? `(${parts.join(', ')})` : '')

function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type)
  if (isUnionType(named)) {
    const members = named.getTypes().filter(({ name }) => !name.endsWith('Error') || name === 'InvalidInputError')
    const results = members.map((member) => `... on ${member.name}${selectionOf(member, depth)}`)
    return ` { __typename ... on Error { code message } ${results.join(' ')} }`
  }
  if (!isObjectType(named) && !isInterfaceType(named)) return ''
  const fields = Object.values(named.getFields()).filter((field) => isSelectable(field, depth))
  return ` { __typename ${fields.map((field) => `${field.name}${selectionOf(field.type, depth - 1)}`).join(' ')} }`
}

function isSelectable({ args, type }: Field, depth: number): boolean {
  const named = getNamedType(type)
  return !args.some(isRequiredArgument) && (isLeafType(named) || depth > 0)
}
