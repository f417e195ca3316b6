import {
  buildSchema,
  type ExecutionResult,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isLeafType,
  isRequiredArgument,
  isUnionType,
  OperationTypeNode,
  parse,
  subscribe,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS } from '../../src/core/limits.ts'
import { createContext } from '../../src/graphql/resolver-context.ts'
import { boundCheckOf } from '../../src/graphql/schema/check-bounds.ts'
import { excessesOf, leastOf } from '../testkit/excess.ts'
import { schema } from '../testkit/mutate.ts'
import { DEPLOYER, item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const INVALID = '... on InvalidInputError { fields { path message } }'

describe('each argument, and each field of an input, is refused beyond its bound', () => {
  type Field = GraphQLField<unknown, unknown>
  type Case = readonly [operation: OperationTypeNode, name: string, field: Field]
  const cases = Object.values(OperationTypeNode).flatMap((operation) =>
    Object.values<Field>(schema.getRootType(operation)?.getFields() ?? {})
      .filter(({ args }) => args.length > 0)
      .map((field): Case => [operation, field.name, field]),
  )

  function shownOf({ type }: Field): string {
    const named = getNamedType(type)
    const members = isUnionType(named) ? named.getTypes().map(({ name }) => name) : []
    const invalid = members.includes('InvalidInputError') ? INVALID : ''
    const reports = members.find((name) => name === 'PhaseReports' || name === 'DryRunReports')
    return reports ? `${invalid} ... on ${reports} { results { ${INVALID} } }` : invalid
  }

  const selectionOf = (field: Field): string =>
    isLeafType(getNamedType(field.type)) ? '' : `{ __typename ${shownOf(field)} }`

  async function run(operation: OperationTypeNode, field: Field, variables: object): Promise<ExecutionResult> {
    const args = field.args.filter(({ name }) => name in variables)
    const declared = args.map(({ name, type }) => `$${name}: ${type}`).join(', ')
    const given = args.map(({ name }) => `${name}: $${name}`).join(', ')
    const source = `${operation} (${declared}) { answer: ${field.name}(${given}) ${selectionOf(field)} }`
    if (operation !== 'subscription') return await api.execute(source, variables, DEPLOYER)
    const contextValue = createContext(api.services, DEPLOYER)
    const variableValues = { ...variables }
    return (await subscribe({ schema, document: parse(source), variableValues, contextValue })) as ExecutionResult
  }

  function pathsOf({ data, errors }: ExecutionResult): readonly string[] {
    const answer = data?.answer as any
    const fields = answer?.fields ?? answer?.results?.[0]?.fields ?? errors?.[0]?.extensions.fields ?? []
    return fields.map(({ path }: { readonly path: string }) => path)
  }

  const covered = new Set<GraphQLInputType>()
  test.each(cases)('%s %s', async (operation, _, field) => {
    for (const argument of field.args) {
      const others = field.args.filter((other) => other !== argument && isRequiredArgument(other))
      const least = Object.fromEntries(others.map(({ name, type }) => [name, leastOf(type)]))
      for (const { path, value } of excessesOf(argument, covered)) {
        const place = [argument.name, ...path].join('.')
        const answer = await run(operation, field, { ...least, [argument.name]: value })
        if (operation === 'mutation') expect([place, answer.errors]).toEqual([place, undefined])
        expect(pathsOf(answer), `${place}: ${JSON.stringify(answer).slice(0, 300)}`).toEqual([place])
      }
    }
  })
})

const refusalOf = async (field: string, input: object, viewer = USER): Promise<unknown> => {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
  const source = `mutation ($input: ${type}!) { answer: ${field}(input: $input) { __typename ${INVALID} } }`
  const { data } = await api.execute(source, { input }, viewer)
  return data?.answer
}

test('the refusal names the bound and the size', async () => {
  const long = { instance: 'x'.repeat(15_000_000), types: Array(101).fill('mock') }
  expect(await refusalOf('claimWork', long, DEPLOYER)).toEqual({
    __typename: 'InvalidInputError',
    fields: [
      { path: 'input.instance', message: 'must have at most 253 characters, not 15,000,000' },
      { path: 'input.types', message: 'must have at most 100 entries, not 101' },
    ],
  })
  expect(await refusalOf('setSecret', { project: 'default', name: 'S', value: 'ü'.repeat(40_000) })).toMatchObject({
    fields: [{ message: 'must have at most 64 KiB, not 80,000' }],
  })
  let nested: unknown = 1
  for (let i = 0; i < 65; i++) nested = [nested]
  expect(await refusalOf('setDataObject', { name: 'deep', value: nested })).toMatchObject({
    fields: [{ path: 'input.value', message: 'is nested more than 64 levels deep' }],
  })
})

test('what just fits is taken', async () => {
  const value = 'x'.repeat(LIMITS.json.max - 2)
  expect(await refusalOf('setDataObject', { name: 'large', value })).toEqual({ __typename: 'DataObject' })
  const idempotencyKey = '🔑'.repeat(127)
  const key = { name: 'keyed', spec: {}, idempotencyKey }
  expect(await refusalOf('createInstallation', key)).toEqual({ __typename: 'Installation' })
})

test('a query and a field of an object refuse with an error of the request', async () => {
  const id = await api.world.create('shop', { deployItems: [item('a')] })
  const long = 'x'.repeat(5_000)
  for (const [document, path] of [
    ['query ($id: ID!, $long: String!) { object(id: $id) { children(after: $long) { totalCount } } }', 'after'],
  ] as const) {
    const { data, errors } = await api.execute(document, { id, long })
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(`${path}: must have at most 4,096 characters, not 5,000`),
      extensions: { code: 'BAD_USER_INPUT', fields: [{ path }] },
    })
    expect(Object.values(data ?? {})[0] ?? null).toSatisfy((value) => value === null || 'children' in (value as object))
  }
})

test('a report that is too long is refused, and those beside it are applied', async () => {
  await api.world.create('pair', { deployItems: [item('a'), item('b')] })
  const [first, second] = await api.world.claim(2)
  const message = 'x'.repeat(LIMITS.message.max + 1)
  const reports = [
    { fence: first?.fence, phase: 'FAILED', error: { code: 'BROKEN', message } },
    { fence: second?.fence, phase: 'SUCCEEDED' },
    { fence: first?.fence, message: 'Still here.' },
  ]
  const { data } = await api.execute(
    `mutation ($input: ReportPhasesInput!) { reportPhases(input: $input) { ... on PhaseReports { results {
      __typename ... on PhaseReportAccepted { changed object { name phase } } ${INVALID} } } } }`,
    { input: { reports } },
    DEPLOYER,
  )
  expect(data).toMatchObject({
    reportPhases: {
      results: [
        { __typename: 'InvalidInputError', fields: [{ path: 'input.reports.0.error.message' }] },
        { changed: true, object: { name: second?.name, phase: 'SUCCEEDED' } },
        { changed: false, object: { name: first?.name, phase: 'PROGRESSING' } },
      ],
    },
  })
})

test('a schema cannot be built with an input that names no bound', () => {
  const bare = buildSchema(`
    type Query { find(name: String, at: In, count: Int): Int }
    input In { names: [String!], within: In }
  `)
  const argument = (name: string) =>
    bare
      .getQueryType()
      ?.getFields()
      .find?.args.filter((one) => one.name === name) ?? []
  expect(() => boundCheckOf(argument('name'))).toThrow('Query.find(name:) needs a bound for String')
  expect(() => boundCheckOf(argument('at'))).toThrow('In.names needs a bound for [String!]')
  expect(boundCheckOf(argument('count'))).toBeNull()
})
