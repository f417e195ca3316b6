import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Costs, type Load, neededCapacity, simulate } from '../scripts/simulation/simulate.ts'
import { mulberry32 } from './testkit/mulberry32.ts'

/** The simulation of docs/scaling.md, compared with what queues are known to do. */

const none = { gateway: 0, engines: 0, postgres: 0 }
const COSTS: Costs = {
  ...{ treeMs: none, itemMs: none, deliveryMs: 0, changesPerTree: 6, changesPerItem: 4 },
  ...{ bytesPerChange: 100, walBytesPerChange: 200 },
}
const LOAD: Load = { treesPerDay: 240_000, itemsPerTree: 1, depth: 1, workS: 0, subscribersPerTree: 0, peak: 1 }
const ONE = { gateway: 1, engines: 1, postgres: 1 }
/** Milliseconds between the arrivals of two trees. */
const EVERY_MS = 360

test('one queue is as long as theory says: p50 of its time is ln 2 ÷ (served − arriving)', () => {
  const costs = { ...COSTS, treeMs: { ...none, postgres: EVERY_MS * 0.7 } }
  const { busy, overheadMs, trees } = simulate(costs, { ...LOAD, itemsPerTree: 0 }, ONE, mulberry32(1))
  expect(trees / 10_000).toBeCloseTo(1, 1)
  expect(busy.postgres).toBeCloseTo(0.7, 1)
  expect(busy.gateway).toBe(0)
  const expected = Math.LN2 / (1 / (EVERY_MS * 0.7) - 1 / EVERY_MS)
  expect(overheadMs.p50 / expected).toBeGreaterThan(0.8)
  expect(overheadMs.p50 / expected).toBeLessThan(1.25)
})

test('more than one processor can do is a backlog, and two of them have none', () => {
  const costs = { ...COSTS, itemMs: { ...none, engines: EVERY_MS * 1.5 } }
  const play = (engines: number) => simulate(costs, LOAD, { ...ONE, engines }, mulberry32(2))
  const over = play(1)
  expect(over.busy.engines).toBeCloseTo(1, 1)
  // Half an hour of work is left.
  expect(over.backlogS / 1_800).toBeCloseTo(1, 0)
  expect(play(2).busy.engines).toBeCloseTo(0.75, 1)
  expect(play(2).backlogS).toBeLessThan(30)
  expect(neededCapacity(costs, LOAD, 0.5)).toEqual({ gateway: 1, engines: 3, postgres: 1 })
})

test('the command says what a day takes, and when it does not keep up', async () => {
  const run = promisify(execFile)
  const program = join(import.meta.dirname, '../scripts/simulate.ts')
  const { stdout } = await run(process.execPath, [program, '--trees', '10000'])
  expect(stdout).toContain('10,000 trees of 10 items a day')
  expect(stdout).not.toContain('DOES NOT KEEP UP')
  const many = ['--trees', '200000', '--engines', '1', '--gateways', '1', '--postgres', '1', '--slower', '60']
  expect((await run(process.execPath, [program, ...many])).stdout).toContain('IT DOES NOT KEEP UP')
  await expect(run(process.execPath, [program, '--trees', 'many'])).rejects.toMatchObject({ code: 2 })
})
