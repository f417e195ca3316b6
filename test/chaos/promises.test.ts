import { expect, test } from 'vitest'
import * as tables from '../../src/store/tables.ts'
import { UNWATCHED, WATCHED } from './evidence.ts'
import { KEPT } from './kept-world.ts'
import { EXCUSED, PLANTS } from './plants.ts'
import { PROMISES, type PromiseName, violations } from './promises/index.ts'
import { FAULTS, type Plan, planFaults } from './schedule.ts'

/** The checker is worth what it finds: each promise is broken on purpose, in evidence of a run in which all were kept. */

test('a run in which all promises were kept has no violation', () => {
  expect(violations(KEPT)).toEqual({})
})

const planted = Object.entries(PLANTS).flatMap(([name, plants]) =>
  Object.entries(plants).map(([what, plant]) => ({ name: name as PromiseName, what, plant })),
)
test.each(planted)('$name: $what is found', ({ name, plant }) => {
  expect(Object.keys(violations({ ...KEPT, ...plant }))).toContain(name)
})
test('each promise is broken in some way', () => {
  expect(Object.keys(PLANTS).toSorted()).toEqual(Object.keys(PROMISES).toSorted())
})
test.each(Object.entries(EXCUSED))('%s: no violation', (_, excused) => {
  expect(violations({ ...KEPT, ...excused })).toEqual({})
})

test('each table of the store is watched, or there is a reason', () => {
  const all = Object.entries(tables).flatMap(([name, value]) => ('sql' in value ? [] : [name]))
  expect([...WATCHED, ...Object.keys(UNWATCHED)].toSorted()).toEqual(all.toSorted())
})
/** Of a tree that has ended nobody needs the clock: it is set with the next job. */
const NEEDLESS = new Set<object>(KEPT.tables.rootQueue.filter(({ rootId }) => rootId === 'tree'))
test.each(WATCHED.filter((table) => KEPT.tables[table].length > 0))(
  'each row of %s that is lost is missed',
  (table) => {
    const rows: readonly object[] = KEPT.tables[table]
    const needed = rows.filter((one) => !NEEDLESS.has(one))
    const unseen = needed.filter(
      (lost) =>
        Object.keys(violations({ ...KEPT, tables: { ...KEPT.tables, [table]: rows.filter((one) => one !== lost) } }))
          .length === 0,
    )
    expect(unseen).toEqual([])
  },
)

const TARGETS = Object.fromEntries(Object.keys(FAULTS).map((kind) => [kind, 2])) as Plan['targets']
const PLAN: Plan = { seed: 1, totalMs: 600_000, everyMs: 3_000, longestMs: 15_000, targets: TARGETS }
test('a seed has its faults, of every kind, and one failover near the end', () => {
  const plan = planFaults(PLAN)
  expect(plan).toEqual(planFaults(PLAN))
  expect(plan).not.toEqual(planFaults({ ...PLAN, seed: 2 }))
  expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(Object.keys(FAULTS)))
  expect(plan.filter(({ kind }) => kind === 'failover')).toHaveLength(1)
  expect(plan.every(({ atMs, forMs }) => atMs >= 0 && atMs < PLAN.totalMs && forMs <= PLAN.longestMs)).toBe(true)
})
test('a kind that cannot be had is not in the plan', () => {
  const plan = planFaults({ ...PLAN, targets: { ...TARGETS, 'fill-disk': 0, failover: 0 } })
  expect(plan.some(({ kind }) => kind === 'fill-disk' || kind === 'failover')).toBe(false)
})
