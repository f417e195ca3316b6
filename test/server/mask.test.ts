import { Writable } from 'node:stream'
import { buildSchema, GraphQLError, graphql } from 'graphql'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { mask } from '../../src/server/operation/mask.ts'

/** Errors of GraphQL itself: those of a request are for its caller, and those of our values for the log. */

const schema = buildSchema(`
  enum Role { VIEWER }
  interface Node { id: ID! }
  type Project implements Node { id: ID! }
  input Filter { name: String! }
  type Query {
    required: String!
    number: Int
    role: Role
    list: [Int]
    node: Node
    search(filter: Filter, first: Int! = 1): Int
    thrown: Int
    refused: Int
  }
`)
const rootValue = {
  required: null,
  number: 2 ** 40,
  role: 'NOBODY',
  list: 1,
  node: { __typename: 'Nothing', id: 1 },
  search: 1,
  thrown: () => {
    throw new Error('of a statement')
  },
  refused: () => {
    throw new GraphQLError('Not now.', { extensions: { code: 'BUSY' } })
  },
}

async function judge(source: string, variableValues: Record<string, unknown> = {}) {
  let logged = ''
  const log = new Writable({
    write(chunk, _, done) {
      logged += String(chunk)
      done()
    },
  })
  const { errors = [] } = await graphql({ schema, rootValue, source, variableValues })
  const shown = errors.map((error) => mask(error, pino(log)))
  return { codes: shown.map(({ extensions }) => extensions.code), text: JSON.stringify(shown), logged }
}

test.each([
  ['null where there must be something', '{ required }', /non-nullable/],
  ['a number beyond its type', '{ number }', /32-bit/],
  ['an unknown value of an enum', '{ role }', /NOBODY/],
  ['a value that is no list', '{ list }', /Iterable/],
  ['a value of an unknown type', '{ node { id } }', /Nothing/],
  ['an error of a resolver', '{ thrown }', /of a statement/],
])('%s is a fault of the server, which its log tells', async (_, source, reason) => {
  const { codes, text, logged } = await judge(source)
  expect(codes).toEqual(['INTERNAL_SERVER_ERROR'])
  expect(text).not.toMatch(reason)
  expect(logged).toMatch(reason)
})

test.each([
  ['a syntax error', '{', {}],
  ['an unknown field', '{ nothing }', {}],
  ['a variable that does not fit', 'query ($n: Int!) { search(first: $n) }', { n: 'x' }],
  ['null for an argument with a default', 'query ($n: Int) { search(first: $n) }', { n: null }],
  ['no value within an input', 'query ($s: String! = "a") { search(filter: { name: $s }) }', { s: null }],
  ['no value for a directive', 'query ($s: Boolean = true) { number @skip(if: $s) }', { s: null }],
])('%s is one of the request', async (_, source, variables) => {
  const { codes, logged } = await judge(source, variables)
  expect(codes).toEqual(['BAD_USER_INPUT'])
  expect(logged).toBe('')
})

test('an error with a code keeps it', async () => {
  expect(await judge('{ refused }')).toMatchObject({ codes: ['BUSY'], logged: '' })
})
