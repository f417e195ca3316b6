import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { MAX_RUNS } from '../../src/families/deployments/store/runs.ts'
import { MAX_GENERATIONS } from '../../src/families/deployments/store/spec-generations.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** Runs of installations, their earlier specs, and the way back to one. */

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const exporting = (name: string, value: unknown) => ({ exports: [{ name, value }] })

const RUNS = gql(`query ($id: ID!, $first: Int, $after: String) { object(id: $id) { ... on Installation {
  generation runs(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node {
    number jobId mode cause by generation startedAt endedAt durationMs phase error { code message } exports
  } } }
} } }`)
const GENERATIONS = gql(`query ($id: ID!) { object(id: $id) { ... on Installation {
  generation spec specGenerations { generation spec replacedAt replacedBy }
} } }`)
const ROLL_BACK = gql(`mutation ($input: RollbackInstallationInput!) { answer: rollbackInstallation(input: $input) {
  __typename ... on Installation { id generation spec } ... on InvalidInputError { fields { path message } }
  ... on Error { code message }
} }`)

async function runsOf(id: string, page: { readonly first?: number; readonly after?: string } = {}) {
  const { object } = await api.query(RUNS, { id, ...page })
  if (!object?.runs) throw new Error('it is no installation')
  return object.runs
}
const nodesOf = async (id: string) => (await runsOf(id)).edges.map(({ node }) => node)

async function generationsOf(id: string) {
  const { object } = await api.query(GENERATIONS, { id })
  if (!object?.specGenerations) throw new Error('it is no installation')
  return { ...object, generation: object.generation ?? 0, specGenerations: object.specGenerations }
}
const rollBack = async (input: VariablesOf<typeof ROLL_BACK>['input']) =>
  present((await api.query(ROLL_BACK, { input })).answer)

test('each job is a run: who asked for it and why, how it went about, when, and how it ended', async () => {
  const { world } = api
  const id = await world.create('runs', { ...exporting('colour', 'red'), deployItems: [item('x')] })
  const [x] = await world.claim()
  expect(await nodesOf(id)).toMatchObject([
    { number: 1, mode: 'STANDARD', cause: 'CREATED', by: USER.name, generation: 1, endedAt: null, phase: null },
  ])
  world.clock.advance(5_000)
  await world.report({ fence: x?.fence ?? '', phase: 'SUCCEEDED' })
  const { jobId } = await world.see('runs')
  expect(await nodesOf(id)).toMatchObject([
    { number: 1, jobId, durationMs: 5_000, phase: 'SUCCEEDED', error: null, exports: { colour: 'red' } },
  ])

  await world.reconcile(id, 'FORCE')
  await world.work(() => ({ phase: 'FAILED', error: { code: 'BROKEN', message: 'It is broken.', retryable: false } }))
  await world.update(id, { deployItems: [item('y')] })
  await world.claim()
  await world.cancel(id)
  await world.work()
  world.clock.advance(600_000)
  await world.settle()
  expect(
    (await nodesOf(id)).map(({ number, cause, mode, phase, generation }) => [number, cause, mode, phase, generation]),
  )
    // The newest first.
    .toEqual([
      [3, 'CHANGED', 'STANDARD', 'ABORTED', 2],
      [2, 'REQUESTED', 'FORCE', 'FAILED', 1],
      [1, 'CREATED', 'STANDARD', 'SUCCEEDED', 1],
    ])
  const [, failed] = await nodesOf(id)
  expect(failed).toMatchObject({ error: { code: 'CHILDREN_FAILED' }, exports: null })
  await world.remove(id)
  expect((await nodesOf(id))[0]).toMatchObject({ number: 4, cause: 'DELETED', endedAt: null })
})

test('a changed import makes a run of the engine', async () => {
  const { world } = api
  await world.setData('size', 1)
  const id = await world.create('importer', { imports: [{ name: 'size' }] })
  await world.setData('size', 2)
  expect(await nodesOf(id)).toMatchObject([
    { number: 2, cause: 'IMPORTS_CHANGED', mode: 'IF_CHANGED', by: null, phase: 'SUCCEEDED' },
    { number: 1, cause: 'CREATED' },
  ])
})

test('a run that begins in the transaction in which another one ends takes nothing from it', async () => {
  const { world } = api
  const id = await world.create('twice', { deployItems: [item('once')] })
  await world.reconcile(id, 'IF_CHANGED')
  expect((await world.work()).filter((name) => name === 'once')).toEqual(['once'])
  expect(await nodesOf(id)).toMatchObject([
    { number: 2, mode: 'IF_CHANGED', cause: 'REQUESTED', phase: 'SUCCEEDED' },
    { number: 1, mode: 'STANDARD', cause: 'CREATED', phase: 'SUCCEEDED' },
  ])
})

test('runs are paged, and the oldest give way', async () => {
  const { world } = api
  const id = await world.create('often', {})
  for (let n = 1; n < MAX_RUNS + 5; n++) await world.reconcile(id)
  const first = await runsOf(id, { first: 60 })
  expect(first).toMatchObject({ totalCount: MAX_RUNS, pageInfo: { hasNextPage: true } })
  const rest = await runsOf(id, { first: 60, after: present(first.pageInfo.endCursor) })
  expect(rest.pageInfo.hasNextPage).toBe(false)
  const numbers = [...first.edges, ...rest.edges].map(({ node }) => node.number)
  expect(numbers).toEqual(Array.from({ length: MAX_RUNS }, (_, i) => MAX_RUNS + 5 - i))
})

test('a nested installation has no runs of its own, and no earlier specs', async () => {
  const { world } = api
  await world.create('outer', { installations: [{ name: 'inner', spec: {} }] })
  const { id } = await world.see('outer', 'inner')
  expect(await runsOf(id)).toMatchObject({ totalCount: 0, edges: [] })
  expect(await generationsOf(id)).toMatchObject({ specGenerations: [] })
})

test('an earlier spec comes back as a new generation, with a job', async () => {
  const { world } = api
  const id = await world.create('back', { deployItems: [item('a')] })
  await world.work()
  const { spec } = await generationsOf(id)
  await world.update(id, { deployItems: [item('b')] })
  await world.work()
  expect(await generationsOf(id)).toMatchObject({
    generation: 2,
    specGenerations: [{ generation: 1, spec, replacedBy: USER.name }],
  })
  expect(await rollBack({ id, toGeneration: 1, expectedGeneration: 1 })).toMatchObject({ code: 'GENERATION_MISMATCH' })
  const input = { id, toGeneration: 1, idempotencyKey: 'once' }
  expect(await rollBack(input)).toMatchObject({ generation: 3, spec })
  await world.settle()
  // `b` is deleted, `a` is created again.
  expect((await world.work()).toSorted()).toEqual(['a', 'b'])
  expect(await rollBack(input)).toMatchObject({ generation: 3 })
  expect(await rollBack({ ...input, toGeneration: 2 })).toMatchObject({ code: 'INVALID_INPUT' })
  expect((await nodesOf(id))[0]).toMatchObject({
    cause: 'ROLLED_BACK',
    by: USER.name,
    generation: 3,
    phase: 'SUCCEEDED',
  })
  expect((await generationsOf(id)).specGenerations.map(({ generation }) => generation)).toEqual([2, 1])
})

test('a generation that is not kept is refused, and so is a spec that cannot work any more', async () => {
  const { world } = api
  const id = await world.create('refused', exporting('taken', 1))
  for (let n = 0; n < MAX_GENERATIONS + 2; n++) await world.update(id, { deployItems: [item(`n${n}`)] }, false)
  const { specGenerations, generation } = await generationsOf(id)
  expect(specGenerations.map((kept) => kept.generation)).toEqual(
    Array.from({ length: MAX_GENERATIONS }, (_, i) => generation - 1 - i),
  )
  for (const toGeneration of [1, generation, 999])
    expect(await rollBack({ id, toGeneration })).toMatchObject({ fields: [{ path: 'input.toGeneration' }] })

  const other = await world.create('other', exporting('free', 1))
  await world.update(other, {})
  await world.create('taker', exporting('free', 2))
  expect(await rollBack({ id: other, toGeneration: 1 })).toMatchObject({ __typename: 'InvalidInputError' })
  expect((await generationsOf(other)).generation).toBe(2)
})
