import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { afterChange, Machines, matchesFilter, type ObjectSelection } from '../../src/client-model/index.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { ensureProject } from '../../src/store/projects.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** `objects(filter:)` of the server, and the same rule where clients judge changes of a list that they show. */

const ROWS = gql(`query ($filter: ObjectFilter) { objects(filter: $filter, first: 100) { edges { node {
  id kind name phase finished parent { id } project { name } labels { key value }
} } } }`)
const CHANGES = gql(`{
  phaseChanges(first: 500) { edges { node { objectId rootId projectName kind name machine revision rejected to } } }
  stateMachines { name kinds initial final classes { phase class } transitions { from actor } }
}`)
const INPUT = gql(`mutation ($input: CreateInstallationInput!) { answer: createInstallation(input: $input) {
  ... on Installation { id } ... on Error { message }
} }`)

let api: Api
let all: readonly Row[]
type Row = NonNullable<ResultOf<typeof ROWS>['objects']>['edges'][number]['node']

const PAIRS = ['a=1', 'a=2', 'b=1'].map((text) => ({ key: text.slice(0, 1), value: text.slice(2) }))
const read = async (filter: ObjectSelection): Promise<readonly Row[]> =>
  present((await api.query(ROWS, { filter: filter as never })).objects).edges.map(({ node }) => node)

beforeAll(async () => {
  api = await createApi()
  for (const name of ['one', 'two']) await ensureProject(api.world.pool, name, api.world.clock)
  const create = async (input: object) => payloadOf((await api.query(INPUT, { input: input as never })).answer)
  for (const [n, name] of ['shop', 'Shop-2', 'other'].entries()) {
    const spec = { deployItems: [item('db'), item('Web')], installations: [{ name: 'shop', spec: {} }] }
    await create({ project: 'one', name, labels: PAIRS.filter((_, i) => i === n || i === 2), spec })
    await create({ project: 'two', name, spec: {}, reconcile: n > 0 })
  }
  await api.world.settle()
  for (const { fence, name } of await api.world.claim(3))
    await api.world.report({ fence, phase: name === 'db' ? 'FAILED' : 'SUCCEEDED' })
  all = await read({})
  expect(all.length).toBeGreaterThan(15)
})
afterAll(() => api[Symbol.asyncDispose]())

const orNone = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null, freq: 1 })
const filters: fc.Arbitrary<ObjectSelection> = fc.record(
  {
    project: orNone(fc.constantFrom('one', 'two', 'none')),
    kinds: orNone(fc.subarray<ObjectKind>(['INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM', 'TASK'])),
    phases: orNone(fc.subarray<Phase>(['INIT', 'PROGRESSING', 'PENDING', 'SUCCEEDED', 'FAILED'])),
    labels: orNone(fc.array(fc.constantFrom(...PAIRS), { maxLength: 3 })),
    nameContains: orNone(fc.constantFrom('', 'shop', 'SHOP', 'b', '%', '_')),
    finished: orNone(fc.boolean()),
    rootsOnly: orNone(fc.boolean()),
  },
  { requiredKeys: [] },
)
const judged = ({ project, parent, ...row }: Row) => ({ ...row, project: project.name, isRoot: parent === null })

test('clients select what the server selects', async () => {
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const expected = all.filter((row) => matchesFilter(filter, judged(row)))
      expect((await read(filter)).map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    }),
    { numRuns: 300, examples: [[{ labels: PAIRS.slice(0, 2) }]] },
  )
})

test('the last change of what the server lists may match', async () => {
  const { phaseChanges, stateMachines } = await api.query(CHANGES)
  const machines = new Machines(stateMachines)
  const changes = present(phaseChanges).edges.map(({ node }) => node)
  const last = new Map(changes.filter((change) => machines.moves(change)).map((change) => [change.objectId, change]))
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      for (const { id, phase } of await read(filter)) {
        const change = present(last.get(id))
        expect([phase, matchesFilter(filter, afterChange(change, machines))]).toEqual([change.to, true])
      }
    }),
    { numRuns: 100 },
  )
})
