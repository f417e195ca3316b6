import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
let id: string
beforeAll(async () => {
  api = await createApi()
  id = await api.world.create('big', {
    deployItems: Array.from({ length: 1_200 }, (_, i) => item(`i${i}`, i >= 100 ? [`i${i - 100}`] : [])),
  })
})
afterAll(() => api[Symbol.asyncDispose]())

const TREE = gql(`query Tree($id: ID!, $first: Int!, $after: String, $relations: Int!, $afterRelation: String) {
  tree(rootId: $id) {
    sequence
    objects(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { id name phase revision parent { id } } } }
    relations(first: $relations, after: $afterRelation) { totalCount pageInfo { hasNextPage endCursor } edges { node { from to kind } } }
  }
}`)
const read = async (variables: Partial<VariablesOf<typeof TREE>> = {}) =>
  present((await api.query(TREE, { id, first: 5_000, relations: 5_000, ...variables })).tree)

test('a whole tree is a handful of statements in one snapshot', async () => {
  const statements = await api.statements(read)
  expect(statements).toBeLessThan(15)
  const tree = await read()
  expect(tree.objects.edges).toHaveLength(1_202)
  expect(tree.objects.totalCount).toBe(1_202)
  expect(tree.relations.totalCount).toBe(1_201 + 1_100)
  expect(tree.relations.edges).toHaveLength(1_201 + 1_100)
  const byName = new Map(tree.objects.edges.map(({ node }) => [node.name, node.id]))
  expect(tree.relations.edges.map(({ node }) => node)).toContainEqual({
    from: byName.get('i150'),
    to: byName.get('i50'),
    kind: 'DEPENDS_ON',
  })
  const { rows } = await api.world.pool.query('select max(first_seq + n - 1)::int as head from log_batch')
  expect(tree.sequence).toBe(rows[0].head)
})

const DEPENDENCIES = gql(`query OneKind($id: ID!, $kind: TreeRelationKind!, $after: String) {
  tree(rootId: $id) {
    relations(first: 600, kind: $kind, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { from to kind } } }
  }
}`)
test.each([
  ['DEPENDS_ON', 1_100],
  ['PARENT', 1_201],
] as const)('the relations of one kind, %s, are read alone', async (kind, count) => {
  const found: object[] = []
  for (let after: string | null = null, more = true; more; ) {
    const { relations }: { relations: Awaited<ReturnType<typeof read>>['relations'] } = present(
      (await api.query(DEPENDENCIES, { id, kind, after })).tree,
    )
    expect(relations.totalCount).toBe(count)
    found.push(...relations.edges.map(({ node }) => node))
    ;({ hasNextPage: more, endCursor: after } = relations.pageInfo)
  }
  const all = (await read()).relations.edges.map(({ node }) => node)
  expect(found).toEqual(all.filter((one) => one.kind === kind))
})

test('pages of a tree that has not moved share its sequence, though other trees have', async () => {
  const whole = await read()
  type Tree = Awaited<ReturnType<typeof read>>
  const pages: Tree['objects']['edges'][number][] = []
  const relations: Tree['relations']['edges'][number][] = []
  let others = 0
  for (let after: string | null = null, afterRelation: string | null = null; ; ) {
    const tree: Tree = await read({ first: 500, after, relations: 700, afterRelation })
    expect(tree.sequence).toBe(whole.sequence)
    pages.push(...tree.objects.edges)
    relations.push(...tree.relations.edges)
    await api.world.create(`other${others++}`, {})
    after = tree.objects.pageInfo.endCursor ?? after
    afterRelation = tree.relations.pageInfo.endCursor ?? afterRelation
    if (!tree.objects.pageInfo.hasNextPage && !tree.relations.pageInfo.hasNextPage) break
  }
  expect(pages).toEqual(whole.objects.edges)
  expect(relations).toEqual(whole.relations.edges)
})

test('a later page says that the tree has moved on', async () => {
  const first = await read({ first: 10 })
  const [claimed] = await api.world.claim(1)
  await api.world.report({ fence: claimed?.fence ?? '', phase: 'SUCCEEDED' })
  const second = await read({ first: 10, after: first.objects.pageInfo.endCursor })
  expect(second.sequence).toBeGreaterThan(first.sequence)
})

test('a tree as it was', async () => {
  const now = await read({ first: 3, relations: 0 })
  const at = async (sequence: number) =>
    (
      await api.query(
        gql(
          'query ($id: ID!, $sequence: Sequence!) { treeAt(rootId: $id, sequence: $sequence) { sequence objects { name phase revision } } }',
        ),
        { id, sequence },
      )
    ).treeAt
  expect((await at(1))?.objects).toEqual([{ name: 'big', phase: 'PENDING', revision: 1 }])
  expect((await at(now.sequence))?.objects).toHaveLength(1_202)
  const { errors } = await api.execute(
    'query ($id: ID!, $sequence: Sequence!) { treeAt(rootId: $id, sequence: $sequence) { sequence } }',
    { id, sequence: now.sequence + 1_000 },
  )
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'CURSOR_EXPIRED', oldest: 1 })
})

test('only a root has a tree', async () => {
  const { edges } = (await read({ first: 10 })).objects
  const child = present(edges.find(({ node }) => node.parent !== null)).node.id
  expect((await api.query(gql('query ($id: ID!) { tree(rootId: $id) { rootId } }'), { id: child })).tree).toBe(null)
})

const ORDINALS = gql(`query Ordinals($id: ID!) {
  tree(rootId: $id) { objects { edges { node { kind name ordinal } } } }
}`)

test('the ordinal of an object is its place in the spec, also after an edit', async () => {
  const edited = await api.world.create('edited', { deployItems: [item('a'), item('b')] })
  const ordinals = async () => {
    const { objects } = present((await api.query(ORDINALS, { id: edited })).tree)
    const items = objects.edges.map(({ node }) => node).filter(({ kind }) => kind === 'DEPLOY_ITEM')
    return items.toSorted((a, b) => a.ordinal - b.ordinal).map(({ name, ordinal }) => `${ordinal} ${name}`)
  }
  expect(await ordinals()).toEqual(['0 a', '1 b'])
  await api.world.cancel(edited)
  await api.world.update(edited, { deployItems: [item('b'), item('c'), item('a')] })
  expect(await ordinals()).toEqual(['0 b', '1 c', '2 a'])
})
