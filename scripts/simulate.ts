import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mulberry32 } from '../test/testkit/mulberry32.ts'
import {
  type Capacity,
  type Costs,
  keptOf,
  type Load,
  neededCapacity,
  PART_NAMES,
  type Simulated,
  simulate,
} from './simulation/simulate.ts'

/**
 * `npm run simulate -- --trees 100000`: plays the busiest hour of a day against the costs that `npm run bench -- engines` has measured,
 * and prints what it takes. Without --trees: 10,000, 100,000 and 1,000,000 trees a day. docs/scaling.md explains it.
 */

const OPTIONS = {
  trees: { type: 'string' },
  items: { type: 'string', default: '10' },
  depth: { type: 'string', default: '2' },
  work: { type: 'string', default: '30' },
  subscribers: { type: 'string', default: '2' },
  peak: { type: 'string', default: '2.5' },
  gateways: { type: 'string' },
  engines: { type: 'string' },
  postgres: { type: 'string' },
  slower: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
} as const
const DAYS = [10_000, 100_000, 1_000_000]
/** At half of its time a part has room for an hour that is twice as busy. */
const SHARE = 0.5
const MOST = 5_000_000

const { values } = parseArgs({ options: OPTIONS })

function number(name: keyof typeof OPTIONS, least: number, most = MOST): number {
  const value = Number(values[name])
  if (Number.isFinite(value) && value >= least && value <= most) return value
  process.stderr.write(`--${name} must be a number from ${least} to ${most}\n`)
  process.exit(2)
}

const slower = number('slower', 0.01, 100)
const costs = slowed(
  JSON.parse(readFileSync(join(import.meta.dirname, 'simulation/costs.json'), 'utf8')) as Costs,
  slower,
)
/** The same of a machine whose processors take so many times as long. */
function slowed(of: Costs, factor: number): Costs {
  const all = (parts: Costs['treeMs']): Costs['treeMs'] => ({
    gateway: parts.gateway * factor,
    engines: parts.engines * factor,
    postgres: parts.postgres * factor,
  })
  return { ...of, treeMs: all(of.treeMs), itemMs: all(of.itemMs), deliveryMs: of.deliveryMs * factor }
}

const load = {
  itemsPerTree: number('items', 1, 10_000),
  depth: number('depth', 1, 1_000),
  workS: number('work', 0, 86_400),
  subscribersPerTree: number('subscribers', 0, 10_000),
  peak: number('peak', 1, 24),
}
for (const treesPerDay of values.trees === undefined ? DAYS : [number('trees', 1)]) {
  const day: Load = { ...load, treesPerDay }
  const needed = neededCapacity(costs, day, SHARE)
  const capacity: Capacity = {
    gateway: values.gateways === undefined ? needed.gateway : number('gateways', 1, 1_000),
    engines: values.engines === undefined ? needed.engines : number('engines', 1, 1_000),
    postgres: values.postgres === undefined ? needed.postgres : number('postgres', 1, 1_000),
  }
  print(day, capacity, simulate(costs, day, capacity, mulberry32(number('seed', 1))))
}

function print(day: Load, capacity: Capacity, { busy, requestMs, overheadMs, trees, backlogS }: Simulated): void {
  const { changesPerDay, databaseBytesPerDay, walBytesPerDay } = keptOf(costs, day)
  const of = PART_NAMES.map((part) => `${capacity[part]} for ${part} (${(100 * busy[part]).toFixed(0)} % busy)`)
  const lines = [
    `${count(day.treesPerDay)} trees of ${day.itemsPerTree} items a day; ${count(trees)} of them in the busiest hour`,
    `  processors: ${of.join(', ')}`,
    `  a request is answered after ${ms(requestMs.p50)} (p50), ${ms(requestMs.p99)} (p99)`,
    `  a tree takes ${ms(overheadMs.p50)} (p50), ${ms(overheadMs.p99)} (p99) more than its agents work`,
    `  ${count(changesPerDay)} phase changes a day: ${gigabytes(databaseBytesPerDay)} in the database, ${gigabytes(walBytesPerDay)} of write-ahead log`,
    ...(Object.values(busy).some((share) => share > 0.95)
      ? [`  IT DOES NOT KEEP UP: the last request of the hour is answered ${count(backlogS)} s after it`]
      : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
function ms(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${count(value)} ms`
}
function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
