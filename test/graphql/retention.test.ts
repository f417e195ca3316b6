import { createClient } from 'graphql-ws'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { createPruner } from '../../src/log/pruner.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

let api: Api
let kept: string
let gone: string
/** First and last sequence of the log when it was pruned. */
let oldest: number
let head: number
/** The first page of a tree, read before its changes were pruned. */
let page: NonNullable<ResultOf<typeof PAGE>['tree']>

const PAGE = gql(`query($id: ID!, $after: String) {
  tree(rootId: $id) { sequence objects(first: 1, after: $after) { pageInfo { endCursor } } }
}`)

beforeAll(async () => {
  api = await createApi()
  const { world } = api
  kept = await world.create('kept', { deployItems: [item('a'), item('b', ['a'])] })
  gone = await world.create('gone', { deployItems: [item('a')] })
  await world.work()
  page = present((await api.query(PAGE, { id: kept })).tree)
  await world.remove(gone)
  await world.work()
  world.clock.advance(40 * DAY_MS)
  await api.query('{ __typename }')
  oldest = (await newest()) + 1
  await world.create('late', { deployItems: [item('a')] })
  await world.work()
  head = await newest()
  const retentionMs = 30 * DAY_MS
  await using pruner = createPruner({
    pool: world.pool,
    system: world.clock,
    logger: pino({ level: 'silent' }),
    secondaryMachines: [],
    retentionMs,
  })
  await pruner.prune()
})
afterAll(() => api[Symbol.asyncDispose]())

async function newest(): Promise<number> {
  const { phaseChanges } = await api.query(gql('{ phaseChanges(last: 1) { edges { node { sequence } } } }'))
  return present(phaseChanges?.edges[0]).node.sequence
}

test('lists begin where the log begins now, and a cursor from before is expired', async () => {
  const { phaseChanges, installation } = await api.query(
    gql(`query($id: ID!) {
      phaseChanges(first: 1, filter: { includeRejected: true }) { totalCount edges { node { id sequence } } }
      installation: object(id: $id) { phase history(first: 5) { totalCount edges { node { sequence } } } }
    }`),
    { id: kept },
  )
  expect(phaseChanges).toMatchObject({ totalCount: head - oldest + 1, edges: [{ node: { sequence: oldest } }] })
  expect(installation).toEqual({ phase: 'SUCCEEDED', history: { totalCount: 0, edges: [] } })

  const expired = expect.objectContaining({ code: 'CURSOR_EXPIRED', oldest, head })
  for (const field of [
    'phaseChanges(after: "1") { totalCount }',
    'phaseChanges(last: 1, before: "2") { totalCount }',
    `phaseChanges(after: "${oldest - 2}", filter: { rootId: "${kept}" }) { totalCount }`,
    `object(id: "${kept}") { history(after: "1") { totalCount } }`,
    `treeAt(rootId: "${kept}", sequence: ${oldest - 2}) { sequence }`,
  ]) {
    const { errors } = await api.execute(`{ ${field} }`)
    expect(errors?.map(({ extensions }) => extensions)).toEqual([expired])
  }
  const { errors } = await api.execute(`{ phaseChanges(after: "${oldest - 1}", first: 1) { totalCount } }`)
  expect(errors).toBeUndefined()
})

test('a tree whose changes are all pruned is still told at every sequence that is left', async () => {
  const { tree } = await api.query(
    gql('query($id: ID!) { tree(rootId: $id) { objects { edges { node { objectId: id name phase } } } } }'),
    { id: kept },
  )
  const objects = present(tree).objects.edges.map(({ node }) => node)
  expect(objects).toHaveLength(4)
  for (const sequence of [oldest - 1, oldest, head]) {
    const { treeAt, over } = await api.query(
      gql(`query($id: ID!, $gone: ID!, $sequence: Sequence!) {
        treeAt(rootId: $id, sequence: $sequence) { sequence objects { objectId name phase } }
        over: treeAt(rootId: $gone, sequence: $sequence) { sequence }
      }`),
      { id: kept, gone, sequence },
    )
    expect(treeAt).toEqual({ sequence, objects })
    expect(over).toBeNull()
  }
})

test('a page that goes on from before the log does not claim that nothing has moved since', async () => {
  expect(page.sequence).toBeLessThan(oldest)
  const { tree } = await api.query(PAGE, { id: kept, after: page.objects.pageInfo.endCursor })
  expect(tree?.sequence).toBe(head)
})

test('a subscription from before the log ends with the places where it could go on', async () => {
  const server = await api.serve()
  const client = createClient({
    url: `ws://127.0.0.1:${server.port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${await api.token()}` },
    retryAttempts: 0,
  })
  const events = async (query: string) => {
    const found: unknown[] = []
    for await (const event of client.iterate({ query })) {
      found.push(event)
      if (event.data) break
    }
    return found
  }
  const extensions = expect.objectContaining({ code: 'CURSOR_EXPIRED', oldest, head })
  const expired = [expect.objectContaining({ extensions })]
  for (const field of ['phaseLog(after: 1) { through }', `phaseChanges(after: ${oldest - 2}) { sequence }`]) {
    expect(await events(`subscription { ${field} }`)).toEqual([expect.objectContaining({ errors: expired })])
  }
  expect(await events(`subscription { phaseChanges(after: ${oldest - 1}) { sequence } }`)).toEqual([
    { data: { phaseChanges: { sequence: oldest } } },
  ])
  await client.dispose()
})
