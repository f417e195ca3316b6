import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sortByDependencies } from '../../../src/families/deployments/rules/graph.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
/** Some depend on a name that is not there. */
const graphs = fc
  .array(fc.array(fc.constantFrom(...NAMES, 'unknown'), { maxLength: 3 }), { maxLength: NAMES.length })
  .map((all) => new Map(all.map((dependencies, i) => [NAMES[i] as string, dependencies])))

test('names follow their dependencies, or a cycle says why they cannot', () => {
  fc.assert(
    fc.property(graphs, (edges) => {
      const { order, cycle } = sortByDependencies(edges)
      if (cycle) {
        expect(cycle.length).toBeGreaterThan(1)
        expect(cycle.at(-1)).toBe(cycle[0])
        for (const [i, name] of cycle.slice(0, -1).entries()) expect(edges.get(name)).toContain(cycle[i + 1])
        return
      }
      expect(order.toSorted()).toEqual([...edges.keys()].toSorted())
      for (const [i, name] of order.entries())
        for (const other of edges.get(name) ?? []) if (edges.has(other)) expect(order.slice(0, i)).toContain(other)
    }),
    { numRuns: 1_000 },
  )
})

test('names whose dependencies come before them stay in their order', () => {
  const edges = new Map([
    ['z', []],
    ['b', ['z']],
    ['a', ['z', 'b']],
  ])
  expect(sortByDependencies(edges)).toEqual({ order: ['z', 'b', 'a'], cycle: null })
})

test('a chain of 50,000 does not overflow the call stack', () => {
  const edges = new Map(Array.from({ length: 50_000 }, (_, i) => [`${i}`, [`${i + 1}`]]))
  expect(sortByDependencies(edges).order[0]).toBe('49999')
})
