import { afterAll, beforeAll, expect, test } from 'vitest'
import { NUMBERING_LOCK } from '../../src/log/number-batches.ts'
import { gql } from '../testkit/gql.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const CREATE = gql(`mutation ($name: String!) {
  before: log { endCursor }
  created: createInstallation(input: { name: $name, spec: {} }) { ... on Installation { id } }
  after: log { head endCursor }
}`)
const HISTORY = gql(`query ($id: ID!, $atLeast: Sequence) {
  phaseChanges(filter: { objectId: $id }, atLeast: $atLeast) { edges { node { from to } } }
  object(id: $id) { history(first: 1) { edges { node { from to } } } }
}`)

async function run(document: string, variables: object): Promise<any> {
  const { data, errors } = await api.execute(document, variables)
  if (errors) throw new Error(errors.map((error) => error.stack ?? error.message).join('\n'))
  return data
}

test('what a mutation has answered is in the log for whoever reads it next', async () => {
  const CREATE_ONLY = gql(`mutation ($name: String!) {
    createInstallation(input: { name: $name, spec: {} }) { ... on Installation { id } }
  }`)
  const READ = gql(`query ($id: ID!) {
    phaseChanges(filter: { objectId: $id }) { edges { node { from } } }
    object(id: $id) { history(first: 1) { edges { node { from } } } }
  }`)
  for (let i = 0; i < 20; i++) {
    const { createInstallation } = await run(CREATE_ONLY, { name: `own-${i}` })
    const read = await run(READ, { id: createInstallation.id })
    expect(read.phaseChanges.edges[0]?.node).toEqual({ from: null })
    expect(read.object.history.edges[0]?.node).toEqual({ from: null })
  }
})

test('a tree that was created and deleted a moment ago is one of the past', async () => {
  const { world } = api
  const PAST = gql(`query ($id: ID!) {
    treeAt(rootId: $id, sequence: 0) { sequence } treeDiff(rootId: $id, from: 0) { objectCount }
  }`)
  const numbering = await world.pool.connect()
  await numbering.query(`select pg_advisory_lock(${NUMBERING_LOCK})`)
  const id = await world.create('brief', { imports: [], exports: [], installations: [], deployItems: [] })
  await world.remove(id)
  const past = run(PAST, { id })
  // It waits for the numbers of what was committed, and this query does not.
  await run('{ __schema { queryType { name } } objects(first: 1) { edges { cursor } } }', {})
  await numbering.query(`select pg_advisory_unlock(${NUMBERING_LOCK})`)
  numbering.release()
  expect(await past).toEqual({ treeAt: { sequence: 0 }, treeDiff: { objectCount: 0 } })
})

test('a mutation names the places before and after it, for streams to resume from and for reads to ask for', async () => {
  const { before, created, after } = await run(CREATE, { name: 'named' })
  const read = await run(HISTORY, { id: created.id, atLeast: after.endCursor })
  expect(read.phaseChanges.edges[0].node).toEqual({ from: null, to: 'PENDING' })
  const BETWEEN = gql(`query ($after: String) {
    phaseChanges(after: $after, first: 1) { edges { node { objectId sequence cursor } } }
    log { epoch oldest head startCursor }
  }`)
  const { phaseChanges, log } = await run(BETWEEN, { after: before.endCursor })
  expect(phaseChanges.edges[0].node.objectId).toBe(created.id)
  expect(log).toMatchObject({ epoch: 1, oldest: 1, head: after.head })
  const { sequence, cursor } = phaseChanges.edges[0].node
  for (const atLeast of [sequence, cursor, log.startCursor]) {
    expect((await run(HISTORY, { id: created.id, atLeast })).phaseChanges.edges).not.toEqual([])
  }
})

test('a log that does not have what a read asks for says so, and where to go on', async () => {
  const { created, after } = await run(CREATE, { name: 'lost' })
  const lost = Buffer.from(JSON.stringify([after.head, 'another-mark'])).toString('base64url')
  for (const atLeast of [after.head + 1, Number.MAX_SAFE_INTEGER, lost]) {
    const { errors } = await api.execute(HISTORY, { id: created.id, atLeast })
    const { endCursor, head } = after
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'CURSOR_EXPIRED', oldest: 1, head, endCursor, commonCursor: endCursor, startCursor: expect.any(String) },
    ])
  }
  const { errors } = await api.execute(HISTORY, { id: created.id, atLeast: 'nonsense' })
  expect(errors?.[0]?.message).toContain('"nonsense" is not a sequence, or a cursor of the log.')
})
