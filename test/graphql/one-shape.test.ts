import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  parse,
  validate,
} from 'graphql'
import { expect, test } from 'vitest'
import { shapeConflicts } from '../testkit/shape-conflicts.ts'

/** Clients that generate their documents, such as Relay, give fields no aliases. */

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))

test('a field name has one shape over the types of each union and interface', () => {
  expect(shapeConflicts(schema)).toEqual([])
})

test('all fields of all possible types fit into one document of each query, mutation and subscription', () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const documents = roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map((field) => fullDocument(schema, root?.name.toLowerCase() ?? '', field)),
  )
  expect(documents.length).toBeGreaterThan(80)
  for (const document of documents) expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([])
})

test('conflicts are found in nullability, in lists, in leaves, and below composite types', () => {
  const conflicts = shapeConflicts(
    buildSchema(`
      union Result = A | B | C
      type A { id: ID! kind: String! tags: [String!]! part: PartA! same: Int! }
      type B { id: ID kind: String! tags: [String]! part: PartB! same: Int! }
      type C { kind: Int! part: [PartA!]! }
      type PartA { size: Int! at: String }
      type PartB { size: Float! at: String }
      type Query { result: Result }
    `),
  )
  expect(conflicts).toEqual([
    'A.id: ID! conflicts with B.id: ID',
    'A.tags: [String!]! conflicts with B.tags: [String]!',
    'PartA.size: Int! conflicts with PartB.size: Float!',
    'A.kind: String! conflicts with C.kind: Int!',
    'A.part: PartA! conflicts with C.part: [PartA!]!',
    'B.kind: String! conflicts with C.kind: Int!',
    'B.part: PartB! conflicts with C.part: [PartA!]!',
  ])
})

/** Selects all fields of all possible types. The validator compares each with each, and gives up on more than these. */
function fullDocument(all: GraphQLSchema, operation: string, { name, args, type }: GraphQLField<unknown, unknown>) {
  const inParentheses = (parts: readonly string[]) => (parts.length > 0 ? `(${parts.join(', ')})` : '')
  const declared = inParentheses(args.map((arg) => `$${arg.name}: ${arg.type}`))
  const passed = inParentheses(args.map((arg) => `${arg.name}: $${arg.name}`))
  return `${operation}${declared} { ${name}${passed}${selectionOf(all, type, operation === 'mutation' ? 1 : 0)} }`
}

function selectionOf(all: GraphQLSchema, type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type)
  if (!isCompositeType(named)) return ''
  if (isAbstractType(named)) {
    const members = all.getPossibleTypes(named).map((one) => `... on ${one.name}${selectionOf(all, one, depth)}`)
    return ` { __typename ${members.join(' ')} }`
  }
  const fields = Object.values(isObjectType(named) ? named.getFields() : {})
    .filter(({ args }) => !args.some(isRequiredArgument))
    .filter(({ type }) => depth > 0 || !isCompositeType(getNamedType(type)))
  return ` { __typename ${fields.map((field) => `${field.name}${selectionOf(all, field.type, depth - 1)}`).join(' ')} }`
}
