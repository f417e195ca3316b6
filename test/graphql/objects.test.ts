import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ObjectKind } from '../../src/core/vocabulary.ts'
import type { TypedDocument, VariablesOf } from '../../src/documents/typed-document.ts'
import { objectLoader } from '../../src/graphql/loaders.ts'
import { isObjectFinished } from '../../src/graphql/objects/object-lists.ts'
import { createContext } from '../../src/graphql/resolver-context.ts'
import { present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
  const { world } = api
  await world.create('shop', {
    installations: [{ name: 'backend', spec: { deployItems: [item('db'), item('app', ['db'])] } }],
    deployItems: [item('front')],
  })
  for (const name of ['x1', 'x2', 'x3', 'x4', 'x5']) await world.create(name, {}, name !== 'x5')
  await world.commands.createInstallation(USER, {
    project: 'default',
    name: 'labelled',
    labels: [
      { key: 'team', value: 'blue' },
      { key: 'env', value: 'test' },
    ],
    spec: {},
    reconcile: false,
  })
})
afterAll(() => api[Symbol.asyncDispose]())

const RESTRICTED = viewerOf('USER', { projects: [v7()] })
const NOBODY = '00000000-0000-7000-8000-000000000000'

describe('ids', () => {
  test('node resolves objects, projects and phase changes by the ids they have', async () => {
    const { id } = await api.world.see('shop')
    const { object } = await api.query(
      gql('query ($id: ID!) { object(id: $id) { id project { id } history(first: 1) { edges { node { id to } } } } }'),
      { id },
    )
    const shop = present(object)
    const ids = [shop.id, shop.project.id, present(shop.history.edges[0]).node.id]
    const { nodes } = await api.query(
      gql(
        `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Project { name } ... on TreeObject { name } ... on PhaseChange { to } } }`,
      ),
      { ids },
    )
    expect(nodes).toEqual([
      { __typename: 'Installation', id, name: 'shop' },
      { __typename: 'Project', id: ids[1], name: 'default' },
      { __typename: 'PhaseChange', id: ids[2], to: 'PENDING' },
    ])
    const upper = await api.query(gql('query ($id: ID!) { node(id: $id) { id } }'), { id: id.toUpperCase() })
    expect(upper.node?.id).toBe(id)
  })

  test.each([
    '',
    'x',
    NOBODY,
    '1:9999',
    '999999999999999999:999999999',
    "'; drop table object",
    `${NOBODY}x`,
    '🦊',
    '-1:0',
  ])('what is no id names nothing: %s', async (id) => {
    const data = await api.query(
      `query ($id: ID!) { node(id: $id) { id } object(id: $id) { id } tree(rootId: $id) { rootId }
          treeAt(rootId: $id, sequence: 1) { rootId } phaseChanges(filter: { objectId: $id }) { totalCount } }`,
      { id },
    )
    expect(data).toEqual({ node: null, object: null, tree: null, treeAt: null, phaseChanges: { totalCount: 0 } })
  })

  test('in mutations too', async () => {
    const { deleteInstallation, cancelInstallation, reconcileInstallation, updateInstallation } = MUTATIONS
    const changes: readonly TypedDocument<
      { readonly answer: object | null },
      { readonly input: { readonly id: string } }
    >[] = [deleteInstallation, cancelInstallation, reconcileInstallation, updateInstallation]
    for (const id of ['', 'x', NOBODY]) {
      for (const document of changes) {
        const { answer } = await api.query(document, { input: { id } })
        expect(answer).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
      }
    }
  })
})

describe('paths', () => {
  const BY_PATH = gql(
    'query ($path: [String!]!, $kind: ObjectKind!) { objectByPath(kind: $kind, path: $path) { name kind } }',
  )
  const at = (path: readonly string[], kind: ObjectKind = 'INSTALLATION', viewer = USER) =>
    api.query(BY_PATH, { path, kind }, viewer)
  test('objects are found by where they stand', async () => {
    expect((await at(['shop'])).objectByPath).toEqual({ name: 'shop', kind: 'INSTALLATION' })
    expect((await at(['shop', 'backend'])).objectByPath?.name).toBe('backend')
    const deep = await at(['shop', 'backend', 'deploy-items', 'app'], 'DEPLOY_ITEM')
    expect(deep.objectByPath).toEqual({ name: 'app', kind: 'DEPLOY_ITEM' })
    for (const path of [[], ['backend'], ['shop', 'x'], ['shop', 'backend', 'x']]) {
      expect((await at(path)).objectByPath).toBe(null)
    }
    expect((await at(['shop'], 'TASK')).objectByPath).toBe(null)
    expect((await at(['shop'], 'INSTALLATION', RESTRICTED)).objectByPath).toBe(null)
  })
})

describe('lists', () => {
  const NAMES = gql(`query ($filter: ObjectFilter, $orderBy: ObjectOrder) {
    objects(filter: $filter, orderBy: $orderBy) { edges { node { name } } }
  }`)
  type Variables = VariablesOf<typeof NAMES>
  const names = async (filter: Variables['filter'], orderBy?: Variables['orderBy']) => {
    const { objects } = await api.query(NAMES, { filter, orderBy })
    return present(objects).edges.map(({ node }) => node.name)
  }

  test('filters', async () => {
    expect(await names({ kinds: ['DEPLOY_ITEM'] }, { field: 'NAME', direction: 'ASC' })).toEqual(['app', 'db', 'front'])
    expect(await names({ rootsOnly: true, finished: true })).toEqual(['x1', 'x2', 'x3', 'x4'])
    expect(await names({ rootsOnly: true, finished: false })).toEqual(['shop', 'x5', 'labelled'])
    expect(await names({ phases: ['PENDING'], rootsOnly: true })).toEqual(['x5', 'labelled'])
    expect(await names({ nameContains: 'HO' })).toEqual(['shop'])
    expect(await names({ nameContains: '%' })).toEqual([])
    expect(await names({ labels: [{ key: 'team', value: 'blue' }] })).toEqual(['labelled'])
    expect(await names({ labels: [{ key: 'team', value: 'red' }] })).toEqual([])
    expect(await names({ labels: [] })).toEqual(await names({}))
    expect(await names({ project: 'another' })).toEqual([])
  })

  const isFinished = async (id: string) =>
    (await api.query(gql('query ($id: ID!) { object(id: $id) { finished } }'), { id })).object?.finished

  test('finished is not said of an object whose remembered job begins while it is being read', async () => {
    const { world, services } = api
    const { id } = await world.see('x1')
    await world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    const context = createContext(services, USER)
    const read = await objectLoader(context).load(id)
    expect(read).toMatchObject({ phase: 'SUCCEEDED', jobId: read?.finishedJobId })
    await world.settle()
    expect(read && (await isObjectFinished(context, read))).toBe(false)
    expect(await isFinished(id)).toBe(true)
  })

  test('finished means that no job is outstanding, remembered ones included', async () => {
    const { id } = await api.world.see('x1')
    expect(await isFinished(id)).toBe(true)
    await api.world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    expect(await isFinished(id)).toBe(false)
    expect(await names({ rootsOnly: true, finished: true })).not.toContain('x1')
    await api.world.settle()
    expect(await isFinished(id)).toBe(true)
  })

  test('a tree has the counts of its objects and of those that are finished, on each of them', async () => {
    const { world } = api
    await world.create('counted', { deployItems: [item('one'), item('two', ['one'])] })
    const one = (await world.claim(20)).find(({ name }) => name === 'one')
    await world.report({ fence: one?.fence ?? '', phase: 'SUCCEEDED' })
    const { objects } = await api.query(
      gql('{ objects(first: 500) { edges { node { finished root { name } treeCounts { all finished } } } } }'),
    )
    const nodes = present(objects).edges.map(({ node }) => node)
    expect(nodes.find(({ root }) => root.name === 'counted')?.treeCounts).toEqual({ all: 4, finished: 1 })
    const trees = Map.groupBy(nodes, ({ root }) => root.name)
    for (const { root, treeCounts } of nodes) {
      const tree = trees.get(root.name) ?? []
      const finished = tree.filter((node) => node.finished).length
      expect([root.name, treeCounts]).toEqual([root.name, { all: tree.length, finished }])
    }
  })

  const PAGE = gql(`query ($orderBy: ObjectOrder!, $first: Int, $after: String, $last: Int, $before: String) {
    objects(filter: { rootsOnly: true }, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
      totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { name } } } }`)
  type Place = Omit<VariablesOf<typeof PAGE>, 'orderBy'>

  test.each(['CREATED_AT', 'NAME', 'UPDATED_AT', 'PHASE_SINCE'] as const)(
    'pages by %s meet without gap or overlap, both ways',
    async (field) => {
      for (const direction of ['ASC', 'DESC'] as const) {
        const page = async (place: Place) => {
          const { totalCount, pageInfo, edges } = present(
            (await api.query(PAGE, { orderBy: { field, direction }, ...place })).objects,
          )
          return { totalCount, pageInfo, names: edges.map(({ node }) => node.name) }
        }
        const walk = async (start: Place, next: (found: Awaited<ReturnType<typeof page>>) => Place | null) => {
          const seen: string[][] = []
          for (let place: Place | null = start; place; ) {
            const found = await page(place)
            seen.push(found.names)
            place = next(found)
          }
          return seen
        }
        const forwards = await walk({ first: 2 }, ({ pageInfo: { hasNextPage, endCursor } }) =>
          hasNextPage ? { first: 2, after: endCursor } : null,
        )
        const backwards = await walk({ last: 2 }, ({ pageInfo: { hasPreviousPage, startCursor } }) =>
          hasPreviousPage ? { last: 2, before: startCursor } : null,
        )
        const { names: all } = await page({ first: 100 })
        expect((await page({ first: 0 })).totalCount).toBe(all.length)
        expect(forwards.flat()).toEqual(all)
        expect(backwards.toReversed().flat()).toEqual(all)
      }
    },
  )

  test('only roots are ordered by what changes all the time, and failures by their time', async () => {
    const FAILED = gql(`query ($direction: OrderDirection!) {
      objects(filter: { failed: true }, orderBy: { field: PHASE_SINCE, direction: $direction }) { edges { node { name } } }
    }`)
    await using own = await createApi()
    const { world } = own
    for (const name of ['early', 'late']) await world.create(name, { deployItems: [item(`of-${name}`)] })
    // The one that was created last fails first.
    for (const { fence } of (await world.claim()).toReversed()) {
      world.clock.advance(1_000)
      await world.report({ fence, phase: 'FAILED' })
    }
    const namesIn = async (direction: 'ASC' | 'DESC') =>
      present((await own.query(FAILED, { direction })).objects).edges.map(({ node }) => node.name)
    expect(await namesIn('ASC')).toEqual(['of-late', 'of-early'])
    expect(await namesIn('DESC')).toEqual(['of-early', 'of-late'])
    const { errors } = await api.execute('{ objects(orderBy: { field: UPDATED_AT, direction: ASC }) { totalCount } }')
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test('children and dependencies, with their counts and pages', async () => {
    const { id } = await api.world.see('shop', 'backend', 'deploy-items')
    const { object } = await api.query(
      gql(`query ($id: ID!) { object(id: $id) { children(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { node {
        name dependents { edges { node { name dependsOn { totalCount edges { node { name } } } } } }
      } } } } }`),
      { id },
    )
    const { children } = present(object)
    expect(children).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } })
    expect(children.edges[0]?.node).toEqual({
      name: 'db',
      dependents: {
        edges: [{ node: { name: 'app', dependsOn: { totalCount: 1, edges: [{ node: { name: 'db' } }] } } }],
      },
    })
    const rest = await api.query(
      gql(
        'query ($id: ID!, $after: String) { object(id: $id) { children(after: $after) { pageInfo { hasPreviousPage } edges { node { name } } } } }',
      ),
      { id, after: children.pageInfo.endCursor },
    )
    expect(rest.object?.children).toEqual({ pageInfo: { hasPreviousPage: true }, edges: [{ node: { name: 'app' } }] })
  })

  test('roots depend on each other through what they import', async () => {
    await api.world.create('gives', { exports: [{ name: 'given', value: 1 }], deployItems: [item('slow')] })
    const id = await api.world.create('takes', { imports: [{ name: 'given' }] })
    const { object } = await api.query(
      gql(
        'query ($id: ID!) { object(id: $id) { phase dependsOn { totalCount edges { node { name dependents { edges { node { name } } } } } } } }',
      ),
      { id },
    )
    expect(object).toEqual({
      phase: 'PENDING_DEPENDENCIES',
      dependsOn: {
        totalCount: 1,
        edges: [{ node: { name: 'gives', dependents: { edges: [{ node: { name: 'takes' } }] } } }],
      },
    })
  })
})

test('what a viewer may not see is not there, wherever it is asked about', async () => {
  const { id } = await api.world.see('shop')
  const data = await api.query(
    `query ($id: ID!) {
      node(id: $id) { id } object(id: $id) { id } tree(rootId: $id) { rootId } treeAt(rootId: $id, sequence: 0) { rootId }
      objects { totalCount edges { node { id } } } project(name: "default") { id } projects { totalCount }
      phaseChanges { totalCount edges { node { id } } } mine: phaseChanges(filter: { project: "default" }) { totalCount }
    }`,
    { id },
    RESTRICTED,
  )
  expect(data).toEqual({
    node: null,
    object: null,
    tree: null,
    treeAt: null,
    objects: { totalCount: 0, edges: [] },
    project: null,
    projects: { totalCount: 0 },
    phaseChanges: { totalCount: 0, edges: [] },
    mine: { totalCount: 0 },
  })
})

test('machines are data', async () => {
  const { stateMachines } = await api.query(
    gql(
      '{ stateMachines(kind: DEPLOY_ITEM) { name kinds initial final phases mermaid transitions { from actor to } } }',
    ),
  )
  expect(stateMachines).toHaveLength(1)
  const machine = present(stateMachines[0])
  expect(machine.phases).toContain(machine.initial)
  expect(machine.mermaid).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> PENDING\n/)
  expect(machine.transitions).toContainEqual({ from: 'INIT', actor: 'DEPLOYER', to: 'PROGRESSING' })
})
