import { queryObjects } from 'node:v8'
import { getIntrospectionQuery, Lexer, parse, ValidationContext } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { introspectionSize } from '../../src/graphql/schema/introspection-size.ts'
import { countRepeats } from '../../src/graphql/schema/repeats.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { schema } from '../testkit/mutate.ts'
import { post } from './call.ts'

/** Documents that would keep GraphQL itself busy, which stops everybody meanwhile. */

let api: Api
let port: number
let token: string
beforeAll(async () => {
  api = await createApi()
  port = (await api.serve()).port
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

const times = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ')
const answerTo = async (query: string) => {
  const { body, json } = await post(port, token, query)
  return { code: json().errors?.[0]?.extensions?.code ?? null, length: body.length }
}

const fragments = (count: number) => times(count, (i) => `fragment f${i} on Query { viewer { name } }`)
test.each([
  ['of the same field', `{ ${times(900, () => 'viewer { name }')} }`],
  ['of a list', `{ ${times(450, () => 'projects(first: 1) { edges { cursor } }')} }`],
  ['in inline fragments', `{ ${times(900, () => '... on Query { viewer { name } }')} }`],
  ['of fragments', `{ ${times(400, (i) => `...f${i}`)} } ${fragments(400)}`],
  [
    'of fragments that spread each other',
    `{ ...f0 } ${times(400, (i) => `fragment f${i} on Query { viewer { name } ${i < 399 ? `...f${i + 1}` : ''} }`)}`,
  ],
  [
    'in a fragment that nothing uses',
    `{ viewer { name } } fragment f on Query { ${times(900, () => 'viewer { name }')} }`,
  ],
  [
    'in halves',
    `{ ...f0 } ${times(40, (i) => `fragment f${i} on Object { a: parent { ...f${i + 1} } b: parent { ...f${i + 1} } }`)}`,
  ],
])('too many selections %s are refused before they are compared', async (_, query) => {
  expect(await answerTo(query)).toMatchObject({ code: 'TOO_COMPLEX' })
})

test('what a document has usually is no repetition', async () => {
  const usual = `{ ${times(300, (i) => `a${i}: viewer { name }`)} ...a ...b } fragment a on Query { viewer { name } } fragment b on Query { viewer { name role } ...a }`
  expect(await answerTo(usual)).toMatchObject({ code: null })
  expect(countRepeats(parse(usual))).toBeLessThan(10)
  const cycle = '{ ...a } fragment a on Query { viewer { name } ...b } fragment b on Query { ...a }'
  expect(await answerTo(cycle)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' })
})

describe('introspection', () => {
  const leaves = (count: number) => times(count, (i) => `a${i}: description`)
  test.each([
    ['of all types', `{ __schema { types { fields { ${leaves(900)} } } } }`],
    ['of parts', `{ __schema { types { ${times(10, (i) => `f${i}: fields { ${leaves(80)} }`)} } } }`],
    [
      'again and again',
      `{ ${times(30, (i) => `a${i}: __schema { types { fields { name description args { name } } } }`)} }`,
    ],
    [
      'by fragments',
      `{ __schema { types { ...a } } } fragment a on __Type { fields { ...b } } fragment b on __Field { ${leaves(900)} }`,
    ],
    [
      'of one type',
      `{ ${times(40, (i) => `a${i}: __type(name: "Mutation") { fields { ${leaves(20)} args { ${leaves(20)} } } }`)} }`,
    ],
  ])('%s is refused where its answer would be too large', async (_, query) => {
    const { code, length } = await answerTo(query)
    expect(code).toBe('TOO_COMPLEX')
    expect(length).toBeLessThan(1_000)
  })

  test('as tools ask for it is answered, and measured as it is', async () => {
    const standard = getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true, oneOf: true })
    const { code, length } = await answerTo(standard)
    expect(code).toBe(null)
    const measured = introspectionSize(parse(standard), schema, Number.POSITIVE_INFINITY)
    expect(measured).toBeGreaterThan(length / 2)
    expect(measured).toBeLessThan(length)
  })
})

// The last one: counting takes so long that idle connections are closed meanwhile.
test('what is remembered of a wrong document is its error, and not how it was found', async () => {
  for (let i = 0; i < 100; i++) {
    expect(await answerTo(`{ a${i}: viewer { name `)).toMatchObject({ code: 'GRAPHQL_PARSE_FAILED' })
    expect(await answerTo(`{ a${i}: viewer { nothing } }`)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' })
  }
  for (const type of [Lexer, ValidationContext]) expect(queryObjects(type, { format: 'count' })).toBeLessThan(20)
})
