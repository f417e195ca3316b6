import { expect, test } from 'vitest'
import { type ForecastNode, forecast, type PastRun } from '../../../src/families/deployments/rules/forecast.ts'

const RUNS = 20

/** Milliseconds of a forecast halfway through a chain of so many items. */
function msOf(count: number): number {
  const spanOf = (n: number) => ({ from: n * 1_000, to: (n + 1) * 1_000 })
  const ids = Array.from({ length: count }, (_, n) => `${n}`)
  const courses = new Map([['root', { from: 0, to: count * 1_000 }], ...ids.map((id, n) => [id, spanOf(n)] as const)])
  const runs = Array.from({ length: RUNS }, (): PastRun => ({ startedAt: 0, courses }))
  const now = count * 500
  const common = { key: 'root', group: 'root', dependencies: [] }
  const nodes: readonly ForecastNode[] = [
    { ...common, id: 'root', parentId: null, course: { from: 0, to: null } },
    ...ids.map((id, n): ForecastNode => {
      const { from, to } = spanOf(n)
      const course = from > now ? null : { from, to: to > now ? null : to }
      return { id, parentId: 'root', dependencies: n === 0 ? [] : [`${n - 1}`], key: id, group: 'item', course }
    }),
  ]
  const since = performance.now()
  const expected = forecast(nodes, runs, { startedAt: 0, now })?.of('root')
  const ms = performance.now() - since
  expect(expected?.criticalPath.length).toBe(count / 2)
  // The mean of logarithms is exact to a millisecond an item.
  expect(Math.abs(Number(expected?.p50) - count * 1_000)).toBeLessThan(count)
  return ms
}

test('the time of a forecast grows with the tree, not with its square, however long its chains are', () => {
  const best = (count: number) => Math.min(...Array.from({ length: 8 }, () => msOf(count)))
  const [small, large] = [best(500), best(5_000)]
  console.log(`forecast of 5,000 objects from ${RUNS} runs: ${large.toFixed(0)} ms, of 500: ${small.toFixed(1)} ms`)
  expect(large / small).toBeLessThan(40)
})
