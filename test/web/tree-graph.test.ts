import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GraphSource, isWrapper } from '../../web-playground/src/model/drawn-tree.ts'
import type { Folds, GraphNode, TreeGraph } from '../../web-playground/src/model/tree-graph.ts'
import { nodeAt, ROOM, treeGraph } from '../../web-playground/src/model/tree-graph.ts'
import { type Dependency, TreeModel } from '../../web-playground/src/model/tree-model.ts'
import { machines, row } from './samples.ts'

interface Made {
  readonly id: string
  readonly kind?: string
  readonly name?: string
  readonly parent?: string
}
function treeOf(made: readonly Made[], dependencies: readonly Dependency[] = []): TreeModel {
  const model = new TreeModel('root', machines)
  const rows = made.map(({ id, kind = 'DEPLOY_ITEM', name = id, parent }, ordinal) =>
    row(id, { kind, name, ordinal, parent: parent === undefined ? null : { id: parent } }),
  )
  model.replace(rows, dependencies)
  return model
}
const root: Made = { id: 'root', kind: 'INSTALLATION' }
const installation = (id: string, parent = 'root'): Made => ({ id, kind: 'INSTALLATION', parent })
/** An installation's items, in their wrapper. */
const itemsOf = (owner: string, names: readonly string[]): readonly Made[] => [
  { id: `${owner}/x`, kind: 'EXECUTION', name: 'deploy-items', parent: owner },
  ...names.map((name) => ({ id: `${owner}/${name}`, name, parent: `${owner}/x` })),
]
const count = (many: number, nameOf: (i: number) => string): readonly string[] =>
  Array.from({ length: many }, (_, i) => nameOf(i))

const none: Folds = new Map()
const drawn = (source: GraphSource, folds: Folds = none) => treeGraph(source, { folds })
const ids = ({ nodes }: TreeGraph) => nodes.map(({ id }) => id)
const groups = ({ nodes }: TreeGraph) =>
  nodes.flatMap((node) => (node.kind === 'group' ? [`${node.name} ${node.size} ${node.state}`] : []))

test('a tree that fits is open, and what only wraps items is folded into their installation', () => {
  const tree = treeOf(
    [root, installation('a'), installation('b'), ...itemsOf('a', ['two', 'one']), ...itemsOf('root', ['db'])],
    [{ from: 'a/one', to: 'a/two' }],
  )
  const graph = drawn(tree)
  expect(graph.nodes.map(({ id, parentId, state }) => [id, parentId, state])).toEqual([
    ['root', null, 'open'],
    ['a', 'root', 'open'],
    ['a/two', 'a', null],
    ['a/one', 'a', null],
    ['b', 'root', null],
    ['root/db', 'root', null],
  ])
  expect(graph.nodes.map(({ wrappers }) => wrappers)).toEqual([['root/x'], ['a/x'], [], [], [], []])
  expect(graph.edges).toEqual([{ id: 'a/two:a/one', from: 'a/two', to: 'a/one' }])
})

test('of a tree that is still being read the root alone is open', () => {
  const made = [root, installation('a'), installation('b'), ...itemsOf('a', ['one', 'two']), ...itemsOf('b', ['three'])]
  const model = treeOf(made)
  const states = () => drawn(model).nodes.map(({ id, state }) => [id, state])
  expect(states()).toContainEqual(['a', 'open'])
  model.replace([...model.nodes.values()], [], true)
  expect(states()).toEqual([
    ['root', 'open'],
    ['a', 'closed'],
    ['b', 'closed'],
  ])
})

test('siblings stand in the order of the spec, also after an edit; an unknown place is the last one', () => {
  const model = new TreeModel('root', machines)
  const below = (id: string, ordinal?: number) => row(id, { parent: { id: 'root' }, ordinal })
  model.replace([row('root'), below('a', 2), below('b', 1), below('c'), below('d', 0)], [])
  expect(ids(drawn(model))).toEqual(['root', 'd', 'b', 'a', 'c'])
  const { structure } = model
  model.put([
    { ...below('a', 0), revision: 2 },
    { ...below('d', 2), revision: 2 },
  ])
  expect(ids(drawn(model))).toEqual(['root', 'a', 'b', 'd', 'c'])
  expect(model.structure).toBeGreaterThan(structure)
})

test('what says something is no wrapper', () => {
  const worker: Made = { id: 'w', kind: 'WORKER', parent: 'root' }
  const job: Made = { id: 'j', kind: 'JOB', parent: 'w' }
  expect(isWrapper(treeOf([{ id: 'root', kind: 'EVENT' }, worker, job]), 'w')).toBe(false)
  const nested = [root, installation('a'), installation('b', 'a')]
  expect(isWrapper(treeOf(nested), 'a')).toBe(false)
  expect(isWrapper(treeOf([root, ...itemsOf('root', ['db'])]), 'root/x')).toBe(true)
  // Without items it is all that is there; of two, each says which one it is.
  expect(isWrapper(treeOf([root, ...itemsOf('root', [])]), 'root/x')).toBe(false)
  const two = [root, ...itemsOf('root', ['db']), { id: 'y', kind: 'EXECUTION', parent: 'root' }]
  expect(isWrapper(treeOf(two), 'root/x')).toBe(false)
})

test('many siblings are groups by the first words of their names that tell them apart', () => {
  const names = [...count(30, (i) => `shop-web-${i}`), ...count(40, (i) => `shop-db-${i}`), 'shop-smoke']
  const tree = treeOf([root, ...itemsOf('root', names)])
  const graph = drawn(tree)
  expect(groups(graph)).toEqual(['shop-web… 30 closed', 'shop-db… 40 closed'])
  expect(ids(graph).at(-1)).toBe('root/shop-smoke')
  const open = drawn(tree, new Map([['root~shop-db', 'open']]))
  expect(open.nodes.filter(({ parentId }) => parentId === 'root~shop-db')).toHaveLength(40)
  expect(groups(open)).toEqual(['shop-web… 30 closed', 'shop-db… 40 open'])
})

test('names that differ by a number alone are ranges in the order of the spec, which can be opened down to each object', () => {
  const tree = treeOf([
    root,
    ...itemsOf(
      'root',
      count(20_000, (i) => `item-${i}`),
    ),
  ])
  const graph = drawn(tree)
  expect(graph.nodes.length).toBeLessThanOrEqual(ROOM)
  expect(groups(graph).slice(0, 2)).toEqual(['item-0 – item-416 417 closed', 'item-417 – item-833 417 closed'])
  const [first] = graph.nodes.filter(({ kind }) => kind === 'group')
  const open = drawn(tree, new Map([[first?.id ?? '', 'open']]))
  expect(groups(open).slice(0, 2)).toEqual(['item-0 – item-416 417 open', 'item-0 – item-20 21 closed'])
})

test('groups are made by a label where one is chosen', () => {
  const tree = treeOf([
    root,
    ...itemsOf(
      'root',
      count(80, (i) => `item-${i}`),
    ),
  ])
  const zone = (id: string) => ['eu', 'us', undefined][Number(id.split('-')[1]) % 3]
  const { nodes } = treeGraph(tree, { folds: none, labelOf: zone })
  expect(nodes.flatMap((node) => (node.kind === 'group' ? [`${node.name} ${node.size}`] : []))).toEqual([
    'eu 27',
    'us 27',
    'none 26',
  ])
})

test('a tree without room is open as far as whole levels fit; opening one box changes no other', () => {
  const made = count(10, (i) => `c${i}`).flatMap((id) => [
    installation(id),
    ...itemsOf(
      id,
      count(12, (i) => `i${i}`),
    ),
  ])
  const tree = treeOf([root, ...made])
  const graph = drawn(tree)
  expect(graph.nodes.map(({ state }) => state)).toEqual(['open', ...count(10, () => 'closed')])
  expect(graph.nodes[1]).toMatchObject({ folded: { length: 12 }, wrappers: ['c0/x'] })
  const open = drawn(tree, new Map([['c3', 'open']]))
  expect(open.nodes.filter(({ parentId }) => parentId === 'root').map(({ id, state }) => [id, state])).toEqual(
    count(10, (i) => `c${i}`).map((id) => [id, id === 'c3' ? 'open' : 'closed']),
  )
})

test('the selected object is drawn, wherever it hides, unless its box was closed', () => {
  const tree = treeOf([
    root,
    ...itemsOf(
      'root',
      count(200, (i) => `item-${i}`),
    ),
  ])
  const shown = treeGraph(tree, { folds: none, reveal: 'root/item-77' })
  expect(ids(shown)).toContain('root/item-77')
  expect(shown.revealed).toHaveLength(1)
  const closed = new Map(shown.revealed.map((id) => [id, 'closed'] as const))
  expect(ids(treeGraph(tree, { folds: closed, reveal: 'root/item-77' }))).not.toContain('root/item-77')
})

test('of a filtered tree the objects that match are drawn, in those that contain them', () => {
  const tree = treeOf([root, installation('a'), installation('b'), ...itemsOf('a', ['p', 'q']), ...itemsOf('b', ['r'])])
  const matching = (...wanted: readonly string[]) =>
    ids(treeGraph(tree, { folds: none, matches: (id) => wanted.includes(id) }))
  expect(matching('a/q')).toEqual(['root', 'a', 'a/q'])
  // A wrapper that matches is shown by its installation.
  expect(matching('b/x')).toEqual(['root', 'b'])
  expect(matching()).toEqual([])
})

test('groups that wait for each other have one line, and no group waits for itself', () => {
  const names = count(40, (i) => `${i % 2 === 0 ? 'web' : 'db'}-${i}`)
  const waits = (from: string, to: string) => ({ from: `root/${from}`, to: `root/${to}` })
  const tree = treeOf(
    [root, ...itemsOf('root', [...names, ...count(30, (i) => `job-${i}`)])],
    [waits('db-1', 'web-0'), waits('web-2', 'db-1'), waits('web-4', 'web-2'), waits('job-0', 'db-3')],
  )
  expect(drawn(tree).edges.map(({ id }) => id)).toEqual(['root~web:root~db', 'root~db:root~job'])
})

test('arrows lead along dependencies, into and out of boxes, and in the order', () => {
  const graph = drawn(treeOf([root, ...itemsOf('root', ['a', 'b', 'c'])], [{ from: 'root/c', to: 'root/a' }]))
  expect(nodeAt(graph, 'root', 'ArrowRight')).toBe('root/a')
  expect(nodeAt(graph, 'root/a', 'ArrowRight')).toBe('root/c')
  expect(nodeAt(graph, 'root/c', 'ArrowLeft')).toBe('root/a')
  expect(nodeAt(graph, 'root/b', 'ArrowLeft')).toBe('root')
  expect(nodeAt(graph, 'root/b', 'ArrowDown')).toBe('root/c')
  expect(nodeAt(graph, 'root', 'ArrowUp')).toBe(undefined)
  expect([nodeAt(graph, 'root/b', 'End'), nodeAt(graph, 'root/b', 'Home')]).toEqual(['root/c', 'root'])
  expect(nodeAt(graph, 'root/b', 'x')).toBe(undefined)
})

/** Installations in installations, with items of a few names, that wait for earlier siblings. */
const trees = fc
  .record({
    /** The parent of each installation, as a place among those before it, and the number of its items. */
    installations: fc.array(fc.record({ parent: fc.nat(), items: fc.integer({ min: 0, max: 40 }) }), { maxLength: 30 }),
    items: fc.integer({ min: 0, max: 120 }),
    words: fc.array(fc.constantFrom('web', 'db', 'job', 'cache-a', 'ü'), { minLength: 1, maxLength: 4 }),
    edges: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 60 }),
  })
  .map(({ installations, items, words, edges }) => {
    const name = (i: number) => `${words[i % words.length]}-${i}`
    const made: Made[] = [root, ...itemsOf('root', count(items, name))]
    const owners = ['root']
    for (const [i, { parent, items }] of installations.entries()) {
      const id = `n${i}`
      made.push(installation(id, owners[parent % owners.length]), ...itemsOf(id, count(items, name)))
      owners.push(id)
    }
    const siblings = Map.groupBy(made, ({ parent }) => parent)
    const dependencies = edges.flatMap(([a, b]) => {
      const at = made[a % made.length]
      const all = siblings.get(at?.parent) ?? []
      const [from, to] = [all.findIndex(({ id }) => id === at?.id), b % all.length]
      return to < from ? [{ from: all[from]?.id ?? '', to: all[to]?.id ?? '' }] : []
    })
    return { tree: treeOf(made, dependencies), dependencies, all: made.map(({ id }) => id) }
  })

const contentOf = (node: GraphNode): readonly string[] => [
  ...(node.kind === 'object' ? [node.id] : []),
  ...node.folded,
  ...node.wrappers,
]

test('each object is in exactly one node, counts add up, and opening all shows all, whatever the tree', () => {
  fc.assert(
    fc.property(trees, fc.array(fc.nat(), { maxLength: 20 }), fc.nat(), ({ tree, all }, chosen, selected) => {
      let folds = new Map<string, 'open' | 'closed'>()
      const reveal = all[selected % all.length]
      for (const number of chosen) {
        const { nodes } = treeGraph(tree, { folds, reveal })
        const node = nodes[number % nodes.length]
        if (node?.state) folds.set(node.id, node.state === 'open' ? 'closed' : 'open')
      }
      for (const options of [{ folds: none }, { folds }, { folds, reveal }]) {
        const { nodes } = treeGraph(tree, options)
        expect(nodes.flatMap(contentOf).toSorted()).toEqual(all.toSorted())
        const sizes = new Map(nodes.map((node) => [node.id, contentOf(node).length]))
        for (const node of nodes) {
          if (node.kind === 'group' && node.state === 'closed') expect(node.folded).toHaveLength(node.size)
          // A box is before what it contains.
          if (node.parentId !== null) expect(sizes.has(node.parentId)).toBe(true)
        }
      }
      folds = new Map()
      for (let closed = 1; closed > 0; ) {
        const boxes = drawn(tree, folds).nodes.filter(({ state }) => state === 'closed')
        for (const { id } of boxes) folds.set(id, 'open')
        closed = boxes.length
      }
      const opened = drawn(tree, folds).nodes
      expect(opened.flatMap(({ folded }) => folded)).toEqual([])
      expect(
        opened.flatMap(({ kind, id, wrappers }) => [...(kind === 'object' ? [id] : []), ...wrappers]),
      ).toHaveLength(all.length)
    }),
  )
})

test('a graph is readable as it opens, siblings are in order, and lines join siblings without a cycle, whatever the tree', () => {
  fc.assert(
    fc.property(trees, ({ tree, dependencies, all }) => {
      const { nodes, edges } = drawn(tree)
      expect(nodes.length).toBeLessThanOrEqual(ROOM)
      const place = new Map(all.map((id, i) => [id, i]))
      const first = (node: GraphNode): number => Math.min(...contentOf(node).map((id) => place.get(id) ?? 0))
      const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
      for (const box of Map.groupBy(nodes, ({ parentId }) => parentId).values()) {
        const leaves = box.filter((node) => node.state === null).map(first)
        expect(leaves).toEqual(leaves.toSorted((a, b) => a - b))
      }
      const ranks = new Map<string, number>()
      for (let changed = true, rounds = 0; changed; rounds += 1) {
        expect(rounds).toBeLessThanOrEqual(nodes.length)
        changed = false
        for (const { from, to } of edges) {
          expect(parents.get(from)).toBe(parents.get(to))
          if ((ranks.get(to) ?? 0) > (ranks.get(from) ?? 0)) continue
          ranks.set(to, (ranks.get(from) ?? 0) + 1)
          changed = true
        }
      }
      if (nodes.some(({ kind, state }) => kind === 'group' || state === 'closed')) return
      const lines = new Set(edges.map(({ from, to }) => `${to} ${from}`))
      expect(
        dependencies.filter(({ from, to }) => parents.has(from) && !lines.has(`${from} ${to}`) && parents.has(to)),
      ).toEqual([])
    }),
  )
})
