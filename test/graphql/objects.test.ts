import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createContext } from '../../src/graphql/context.ts'
import { objectLoader } from '../../src/graphql/loaders.ts'
import { finishedLoader } from '../../src/graphql/objects/object-lists.ts'
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

const RESTRICTED = { ...USER, projects: ['another'] }
const NOBODY = '00000000-0000-7000-8000-000000000000'

describe('ids', () => {
  test('node resolves objects, projects and phase changes by the ids they have', async () => {
    const { id } = await api.world.see('shop')
    const { object } = await api.query(
      '{ object(id: "ID") { id project { id } history(first: 1) { edges { node { id to } } } } }'.replace('ID', id),
    )
    const ids = [object.id, object.project.id, object.history.edges[0].node.id]
    const { nodes } = await api.query(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Project { name } ... on TreeObject { name } ... on PhaseChange { to } } }`,
      { ids },
    )
    expect(nodes).toEqual([
      { __typename: 'Installation', id, name: 'shop' },
      { __typename: 'Project', id: ids[1], name: 'default' },
      { __typename: 'PhaseChange', id: ids[2], to: 'PENDING' },
    ])
    const upper = await api.query('query ($id: ID!) { node(id: $id) { id } }', { id: id.toUpperCase() })
    expect(upper.node.id).toBe(id)
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
    for (const id of ['', 'x', NOBODY]) {
      for (const name of ['delete', 'cancel', 'reconcile', 'update']) {
        const field = `${name}Installation`
        const data = await api.query(
          `mutation ($id: ID!) { ${field}(input: { id: $id }) { __typename ... on Error { code } } }`,
          { id },
        )
        expect(data[field]).toEqual({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
      }
    }
  })
})

describe('paths', () => {
  const at = (path: readonly string[], kind = 'INSTALLATION', viewer = USER) =>
    api.query(
      `query ($path: [String!]!, $kind: ObjectKind!) { objectByPath(kind: $kind, path: $path) { name kind } }`,
      { path, kind },
      viewer,
    )
  test('objects are found by where they stand', async () => {
    expect((await at(['shop'])).objectByPath).toEqual({ name: 'shop', kind: 'INSTALLATION' })
    expect((await at(['shop', 'backend'])).objectByPath.name).toBe('backend')
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
  const names = async (args: string): Promise<string[]> =>
    (await api.query(`{ objects(${args}) { edges { node { name } } } }`)).objects.edges.map((e: any) => e.node.name)

  test('filters', async () => {
    expect(await names('filter: { kinds: [DEPLOY_ITEM] }, orderBy: { field: NAME, direction: ASC }')).toEqual([
      'app',
      'db',
      'front',
    ])
    expect(await names('filter: { rootsOnly: true, finished: true }')).toEqual(['x1', 'x2', 'x3', 'x4'])
    expect(await names('filter: { rootsOnly: true, finished: false }')).toEqual(['shop', 'x5', 'labelled'])
    expect(await names('filter: { phases: [PENDING], rootsOnly: true }')).toEqual(['x5', 'labelled'])
    expect(await names('filter: { nameContains: "HO" }')).toEqual(['shop'])
    expect(await names('filter: { nameContains: "%" }')).toEqual([])
    expect(await names('filter: { labels: [{ key: "team", value: "blue" }] }')).toEqual(['labelled'])
    expect(await names('filter: { labels: [{ key: "team", value: "red" }] }')).toEqual([])
    expect(await names('filter: { project: "another" }')).toEqual([])
  })

  test('finished is not said of an object whose remembered job begins while it is being read', async () => {
    const { world, services } = api
    const { id } = await world.see('x1')
    await world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    const context = createContext(services, USER)
    const read = await objectLoader(context).load(id)
    expect(read).toMatchObject({ phase: 'SUCCEEDED', jobId: read?.finishedJobId })
    await world.settle()
    expect(read && (await finishedLoader(context).load(read))).toBe(false)
    const { object } = await api.query('query ($id: ID!) { object(id: $id) { finished } }', { id })
    expect(object.finished).toBe(true)
  })

  test('finished means that no job is outstanding, remembered ones included', async () => {
    const { id } = await api.world.see('x1')
    const ask = () => api.query('query ($id: ID!) { object(id: $id) { finished } }', { id })
    expect((await ask()).object.finished).toBe(true)
    await api.world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    expect((await ask()).object.finished).toBe(false)
    expect(await names('filter: { rootsOnly: true, finished: true }')).not.toContain('x1')
    await api.world.settle()
    expect((await ask()).object.finished).toBe(true)
  })

  test.each(['CREATED_AT', 'NAME', 'UPDATED_AT', 'PHASE_SINCE'])(
    'pages by %s meet without gap or overlap, both ways',
    async (field) => {
      for (const direction of ['ASC', 'DESC']) {
        const page = async (args: string) =>
          (
            await api.query(
              `{ objects(filter: { rootsOnly: true }, orderBy: { field: ${field}, direction: ${direction} }, ${args}) {
              totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { name } } } }`,
            )
          ).objects
        const walk = async (size: string, place: 'after' | 'before') => {
          const seen: string[][] = []
          let args = size
          for (;;) {
            const { pageInfo, edges } = await page(args)
            seen.push(edges.map((e: any) => e.node.name))
            const more = place === 'after' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage
            if (!more) return seen
            args = `${size}, ${place}: "${place === 'after' ? pageInfo.endCursor : pageInfo.startCursor}"`
          }
        }
        const all = (await page('first: 100')).edges.map((e: any) => e.node.name)
        expect((await page('first: 0')).totalCount).toBe(all.length)
        expect((await walk('first: 2', 'after')).flat()).toEqual(all)
        expect((await walk('last: 2', 'before')).toReversed().flat()).toEqual(all)
      }
    },
  )

  test('only roots are ordered by what changes all the time', async () => {
    const { errors } = await api.execute('{ objects(orderBy: { field: UPDATED_AT, direction: ASC }) { totalCount } }')
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test('children and dependencies, with their counts and pages', async () => {
    const { id } = await api.world.see('shop', 'backend', 'deploy-items')
    const { object } = await api.query(
      `query ($id: ID!) { object(id: $id) { __typename children(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { name dependents { edges { node { name dependsOn { totalCount edges { node { name } } } } } } } } } } }`,
      { id },
    )
    expect(object.children).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } })
    expect(object.children.edges[0].node).toEqual({
      name: 'db',
      dependents: {
        edges: [{ node: { name: 'app', dependsOn: { totalCount: 1, edges: [{ node: { name: 'db' } }] } } }],
      },
    })
    const rest = await api.query(
      `query ($id: ID!, $after: String) { object(id: $id) { children(after: $after) { pageInfo { hasPreviousPage } edges { node { name } } } } }`,
      { id, after: object.children.pageInfo.endCursor },
    )
    expect(rest.object.children).toEqual({ pageInfo: { hasPreviousPage: true }, edges: [{ node: { name: 'app' } }] })
  })

  test('roots depend on each other through what they import', async () => {
    await api.world.create('gives', { exports: [{ name: 'given', value: 1 }], deployItems: [item('slow')] })
    const id = await api.world.create('takes', { imports: [{ name: 'given' }] })
    const { object } = await api.query(
      `query ($id: ID!) { object(id: $id) { phase dependsOn { totalCount edges { node { name dependents { edges { node { name } } } } } } } }`,
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
    '{ stateMachines(kind: DEPLOY_ITEM) { name kinds initial final phases mermaid transitions { from actor to } } }',
  )
  expect(stateMachines).toHaveLength(1)
  const [machine] = stateMachines
  expect(machine.phases).toContain(machine.initial)
  expect(machine.mermaid).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> PENDING\n/)
  expect(machine.transitions).toContainEqual({ from: 'INIT', actor: 'DEPLOYER', to: 'PROGRESSING' })
})
