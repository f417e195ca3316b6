import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

const RESTRICTED = viewerOf('USER', { projects: [v7()] })
let api: Api
beforeAll(async () => {
  api = await createApi()
  await api.world.create('shop', {
    installations: [{ name: 'backend', spec: { deployItems: [item('db')] } }],
    deployItems: [item('front')],
  })
  await api.world.create('other', { deployItems: [item('front')] })
})
afterAll(() => api[Symbol.asyncDispose]())

const SEARCH = gql(`query ($filter: PhaseChangeFilter, $first: Int) {
  phaseChanges(filter: $filter, first: $first) { edges { node { path kind to actor at rejected object { path } } } }
}`)
type Filter = NonNullable<VariablesOf<typeof SEARCH>['filter']>
const found = async (filter: Filter, viewer = USER) => {
  const { phaseChanges } = await api.query(SEARCH, { filter, first: 500 }, viewer)
  return phaseChanges?.edges.map(({ node }) => node) ?? []
}
const pathsOf = async (filter: Filter) => [...new Set((await found(filter)).map(({ path }) => path))].sort()

test('each change has the path of its object, also when several have its name', async () => {
  const changes = await found({})
  expect(changes.length).toBeGreaterThan(10)
  expect(changes.map(({ path }) => path)).toEqual(changes.map(({ object }) => object?.path))
  expect(await pathsOf({ kinds: ['DEPLOY_ITEM'] })).toEqual([
    'other/deploy-items/front',
    'shop/backend/deploy-items/db',
    'shop/deploy-items/front',
  ])
})

test('a search finds changes by path, kind, phase, actor and reason, whatever the case', async () => {
  expect(await pathsOf({ search: 'SHOP/deploy-items/front' })).toEqual(['shop/deploy-items/front'])
  expect(await pathsOf({ search: 'default/shop/backend' })).toEqual([
    'shop/backend',
    'shop/backend/deploy-items',
    'shop/backend/deploy-items/db',
  ])
  const created = await found({ search: 'front created' })
  expect(created.map(({ path }) => path)).toEqual(['shop/deploy-items/front', 'other/deploy-items/front'])
  expect(new Set((await found({ search: 'deploy_item controller' })).map(({ actor }) => actor))).toEqual(
    new Set(['CONTROLLER']),
  )
  expect(await found({ search: '% _' })).toEqual([])
  expect(await found({ search: ' ' })).toEqual(await found({}))
  expect(await found({ search: 'shop' }, RESTRICTED)).toEqual([])
})

test('changes are chosen by time, actor and refusal', async () => {
  const all = await found({})
  const users = await found({ actors: ['USER'] })
  expect(users).toEqual(all.filter(({ actor }) => actor === 'USER'))
  expect(users.length).toBeGreaterThan(0)
  const since = all[3]?.at ?? ''
  expect(await found({ since })).toEqual(all.filter(({ at }) => at >= since))
  expect(await found({ until: since })).toEqual(all.filter(({ at }) => at < since))
  expect(await found({ onlyRejected: true, includeRejected: true })).toEqual([])
})

test('a search is bounded, and has no count', async () => {
  const COUNT = 'query ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { totalCount } }'
  const { errors } = await api.execute(COUNT, { filter: { search: 'shop' } })
  expect(errors?.[0]?.message).toContain('A search has no totalCount')
  const long = await api.execute(COUNT, { filter: { search: 'x'.repeat(256) } })
  expect(long.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
  const { data } = await api.execute(COUNT, { filter: { actors: ['USER'] } })
  expect(data).toEqual({ phaseChanges: { totalCount: (await found({ actors: ['USER'] })).length } })
})

test('objects are found by their path alone', async () => {
  const AT = gql('query ($path: [String!]!) { objectsByPath(path: $path) { kind path } }')
  const at = async (...path: string[]) => (await api.query(AT, { path })).objectsByPath
  expect(await at('shop', 'backend', 'deploy-items', 'db')).toEqual([
    { kind: 'DEPLOY_ITEM', path: 'shop/backend/deploy-items/db' },
  ])
  await api.world.create('twin', { installations: [{ name: 'deploy-items', spec: {} }], deployItems: [item('a')] })
  expect((await at('twin', 'deploy-items')).map(({ kind }) => kind).sort()).toEqual(['EXECUTION', 'INSTALLATION'])
  expect(await at('shop', 'db')).toEqual([])
  expect(await at()).toEqual([])
  const other = await api.query(AT, { path: ['shop'] }, RESTRICTED)
  expect(other.objectsByPath).toEqual([])
})
