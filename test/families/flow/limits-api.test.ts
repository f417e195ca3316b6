import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../graphql/api.ts'
import { gql } from '../../testkit/gql.ts'
import { accepted, addEvent, addProject, TEMPLATE } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { item, USER } from '../../testkit/world.ts'

/** Limits as people see them: what runs, what waits, and why. */

let api: Api
let project: string
const events: string[] = []
beforeAll(async () => {
  api = await createApi()
  const { world } = api
  project = 'default'
  await accepted(world.services.flow.createLimit(USER, { project, name: 'hosts', max: 3, maxPerKey: 1 }))
  for (const key of ['a', 'a', 'b', 'a', 'c', 'd']) {
    const workerTemplate = { ...TEMPLATE, limits: [{ limit: 'hosts', key }] }
    await accepted(world.projects.updateProject(USER, { name: project, workerTemplate }))
    events.push(await addEvent(world, project))
  }
  await world.create('shop', { deployItems: [{ ...item('web'), limits: [{ limit: 'hosts', key: 'a' }] }] })
})
afterAll(() => api[Symbol.asyncDispose]())

const LIMIT = gql(`query ($first: Int!, $after: String, $key: String) { limit(project: "default", name: "hosts") {
  max maxPerKey runningCount waitingCount
  keys(first: $first, after: $after) { totalCount pageInfo { endCursor hasNextPage } edges { node { key runningCount waitingCount } } }
  holders(first: 10, key: $key) { totalCount edges { node { key position grantedAt object { kind } } } }
  queue(first: 10, key: $key) { totalCount edges { node { key position grantedAt object { kind } } } }
} }`)

test('shows its keys page by page, what holds it, and its queue', async () => {
  const all = await api.query(LIMIT, { first: 2 })
  expect(all.limit).toMatchObject({ max: 3, maxPerKey: 1, runningCount: 3, waitingCount: 4 })
  const { keys } = all.limit ?? {}
  expect(keys).toMatchObject({
    totalCount: 4,
    edges: [
      { node: { key: 'a', runningCount: 1, waitingCount: 3 } },
      { node: { key: 'b', runningCount: 1, waitingCount: 0 } },
    ],
  })
  const rest = await api.query(LIMIT, { first: 2, after: keys?.pageInfo.endCursor, key: 'a' })
  expect(rest.limit).toMatchObject({
    keys: { edges: [{ node: { key: 'c', runningCount: 1 } }, { node: { key: 'd', waitingCount: 1 } }] },
    holders: { totalCount: 1, edges: [{ node: { key: 'a', position: null, object: { kind: 'WORKER' } } }] },
  })
  const queue = rest.limit?.queue?.edges.map(({ node }) => [node.object?.kind, node.position, node.grantedAt])
  // Each kind has a queue of its own.
  expect(queue).toEqual([
    ['WORKER', 1, null],
    ['WORKER', 2, null],
    ['DEPLOY_ITEM', 1, null],
  ])
})

const BLOCKED = gql(`query ($id: ID!) { object(id: $id) { blockedBy { reason message
  ... on LimitBlocker { limitName key position holders { path } } } } }`)

test('is a blocker, with what holds it, of those who wait', async () => {
  const blockers = async (id: string | undefined) => (await api.query(BLOCKED, { id: id ?? '' })).object?.blockedBy
  const holder = { path: 'event-1/worker' }
  expect(await blockers(events[1])).toEqual([
    {
      reason: 'LIMIT',
      message: 'The limit hosts is used by 1 of 1 with the key a. It is the next one of its key.',
      ...{ limitName: 'hosts', key: 'a', position: 1, holders: [holder] },
    },
  ])
  expect(await blockers(events[3])).toMatchObject([
    { position: 2, message: expect.stringContaining('1 of its key come') },
  ])
  // Its key is free, and all keys together are used up.
  expect(await blockers(events[5])).toMatchObject([
    {
      message: 'The limit hosts is used by 3 of 3. It is the next one of its key.',
      holders: [holder, { path: 'event-3/worker' }, { path: 'event-5/worker' }],
    },
  ])
  const { id } = await api.world.see('shop')
  const { id: web } = await api.world.see('shop', 'deploy-items', 'web')
  expect(await blockers(web)).toMatchObject([{ reason: 'LIMIT', key: 'a', position: 1, holders: [holder] }])
  // The cause of all that waits above it comes first.
  expect((await blockers(id))?.map(({ reason }) => reason)).toEqual(['LIMIT', 'CHILDREN'])
})

test('is nobody’s who may not read its project', async () => {
  await addProject(api.world, 'other')
  const { rows } = await api.world.pool.query<{ id: string }>("select id from project where name = 'other'")
  const stranger = viewerOf('READER', { name: 'stranger', projects: rows.map(({ id }) => id) })
  expect((await api.query(LIMIT, { first: 1 }, stranger)).limit).toBeNull()
})

test('a page of objects that wait for limits costs no more statements than one', async () => {
  const ask = (first: number) =>
    api.query(
      gql(
        'query ($first: Int!) { objects(filter: { kinds: [EVENT] }, first: $first) { edges { node { blockedBy { reason } } } } }',
      ),
      { first },
    )
  const few = await api.statements(() => ask(5))
  expect(await api.statements(() => ask(6))).toBe(few)
})
