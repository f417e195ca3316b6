import fc from 'fast-check'
import { expect, test } from 'vitest'
import { criticalPath, drawnPath, type PathSource } from '../../web-playground/src/model/critical-path.ts'
import { treeGraph } from '../../web-playground/src/model/tree-graph.ts'
import './samples.ts'

/** The chain of objects whose ends determined the end of a run. */

type Item = readonly [id: string, parent: string | null, from: number, to: number, after?: readonly string[]]

function sourceOf(items: readonly Item[]): PathSource {
  return {
    rootId: 'root',
    spans: new Map(items.map(([id, , from, to]) => [id, { from, to }])),
    childrenOf: (id) => items.filter(([, parent]) => parent === id).map(([child]) => child),
    parentOf: (id) => items.find(([one]) => one === id)?.[1] ?? undefined,
    dependenciesOf: (id) => items.find(([one]) => one === id)?.[4] ?? [],
  }
}
/** A fast item beside a slow one, on which a third waits; a box with an item is the last to begin. */
const ITEMS: readonly Item[] = [
  ['root', null, 0, 105],
  ['fast', 'root', 5, 20],
  ['slow', 'root', 5, 40],
  ['next', 'root', 42, 60, ['fast', 'slow']],
  ['box', 'root', 60, 100, ['next']],
  ['in', 'box', 70, 95],
  ['early', 'box', 61, 65],
]

test('it leads from the end back to what ended last before each beginning', () => {
  const { steps, links } = criticalPath(sourceOf(ITEMS))
  expect([...steps]).toEqual([
    ['root', 5],
    // With the time until it began.
    ['slow', 40],
    ['next', 20],
    ['box', 5],
    ['in', 35],
  ])
  expect(links).toEqual([
    { before: 'slow', after: 'next' },
    { before: 'next', after: 'box' },
  ])
})

test('an object that has not begun, or ended after what it might have held up, is not on it', () => {
  const late: readonly Item[] = [
    ['root', null, 0, 50],
    ['a', 'root', 1, 50],
    // The dependency ran again.
    ['b', 'root', 10, 49],
    ['c', 'root', 20, 50, ['b', 'unknown']],
  ]
  expect([...criticalPath(sourceOf(late)).steps.keys()]).toEqual(['root', 'a'])
  expect(criticalPath(sourceOf([])).steps.size).toBe(0)
})

test('a circle of dependencies, as a tree that changes may show one, ends the path', () => {
  const circle: readonly Item[] = [
    ['root', null, 0, 10],
    ['a', 'root', 10, 10, ['b']],
    ['b', 'root', 10, 10, ['a']],
  ]
  expect([...criticalPath(sourceOf(circle)).steps.keys()].sort()).toEqual(['a', 'b', 'root'])
})

interface Plan {
  readonly parent: number
  readonly after: readonly number[]
  readonly waits: number
  readonly works: number
}
/** A run of a random tree, each object of which begins once it can. All times differ. */
function playRun(plans: readonly Plan[]): readonly Item[] {
  const last = new Map<number, number>()
  const spans = plans.map(() => ({ from: 0, to: 0 }))
  const idOf = (i: number): string => (i === 0 ? 'root' : `o${i}`)
  const parentOf = (i: number): number => (plans[i]?.parent ?? 0) % i
  // A box ends after all in it, which may be anything that comes after it: siblings wait for earlier siblings alone.
  const awaitedOf = (i: number): readonly number[] =>
    (plans[i]?.after ?? []).map((one) => one % i).filter((one) => one > 0 && parentOf(one) === parentOf(i))
  const play = (i: number, from: number): number => {
    const plan = plans[i]
    if (!plan) return from
    const children = plans.map((_, j) => j).filter((j) => j > i && parentOf(j) === i)
    let to = from + plan.works
    for (const j of children) {
      const begins = Math.max(from, ...awaitedOf(j).map((one) => last.get(one) ?? 0)) + (plans[j]?.waits ?? 0)
      to = Math.max(to, play(j, begins) + plan.works)
    }
    // The fraction makes it differ from all others.
    to += i / 1_000
    spans[i] = { from, to }
    last.set(i, to)
    return to
  }
  play(0, 0)
  return plans.map((_, i) => [
    idOf(i),
    i === 0 ? null : idOf(parentOf(i)),
    spans[i]?.from ?? 0,
    spans[i]?.to ?? 0,
    i === 0 ? [] : awaitedOf(i).map(idOf),
  ])
}

/** All chains of waiting from the end of the root, as far as they go back: that of the latest moments is critical. */
function latestChain(source: PathSource): readonly string[] {
  const chains: (readonly { key: string; at: number }[])[] = []
  const follow = (id: string, isEnd: boolean, chain: readonly { key: string; at: number }[]): void => {
    const span = source.spans.get(id)
    if (!span) return
    const here = { key: `${id} ${isEnd ? 'ends' : 'begins'}`, at: isEnd ? span.to : span.from }
    if (here.at > (chain.at(-1)?.at ?? Number.POSITIVE_INFINITY)) return
    const next = [...chain, here]
    chains.push(next)
    if (isEnd) {
      for (const child of source.childrenOf(id)) follow(child, true, next)
      follow(id, false, next)
    } else {
      for (const other of source.dependenciesOf(id)) follow(other, true, next)
      const parent = source.parentOf(id)
      if (parent !== undefined) follow(parent, false, next)
    }
  }
  follow(source.rootId, true, [])
  const [best = []] = chains.toSorted((a, b) => {
    for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
      const by = (b[i]?.at ?? -1) - (a[i]?.at ?? -1)
      if (by !== 0) return by
    }
    return 0
  })
  return [...new Set(best.map(({ key }) => key.split(' ')[0] ?? ''))].sort()
}

test('of all chains of waiting it is the one of the latest moments, and it accounts for the whole run', () => {
  const plan = fc.record({
    parent: fc.nat(20),
    after: fc.array(fc.nat(20), { maxLength: 3 }),
    waits: fc.integer({ min: 1, max: 9 }).map((n) => n + Math.SQRT2 / n),
    works: fc.integer({ min: 1, max: 30 }).map((n) => n + Math.SQRT1_2 / n),
  })
  fc.assert(
    fc.property(fc.array(plan, { minLength: 1, maxLength: 8 }), (plans) => {
      const items = playRun(plans)
      const source = sourceOf(items)
      const { steps } = criticalPath(source)
      expect([...steps.keys()].sort()).toEqual(latestChain(source))
      const whole = [...steps.values()].reduce((sum, ms) => sum + ms, 0)
      expect(whole).toBeCloseTo((items[0]?.[3] ?? 0) - (items[0]?.[2] ?? 0), 6)
    }),
  )
})

test('a graph marks the boxes that an object of it is counted in, and the lines between them', () => {
  const kinds = new Map(ITEMS.map(([id]) => [id, { kind: 'INSTALLATION', name: id }]))
  const source = sourceOf(ITEMS)
  const dependencies = ITEMS.flatMap(([from, , , , after = []]) => after.map((to) => ({ from, to })))
  const graph = treeGraph({ ...source, nodes: kinds, dependencies }, { folds: new Map([['box', 'closed']]) })
  const { nodes, edges } = drawnPath(graph, criticalPath(source))
  expect([...nodes].sort()).toEqual(['box', 'next', 'root', 'slow'])
  expect([...edges].sort()).toEqual(['next:box', 'slow:next'])
})
