import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Costs, type Fleet, PARTS, type Part, startFleet, subtract, total } from '../fleet.ts'
import { type BenchContext, type Cell, median, type Section, type Workload } from '../harness.ts'
import { headOf, runTrees } from '../trees.ts'
import { warmUp } from './tree.ts'

const ENGINES = [1, 2, 4] as const
interface Shape {
  readonly trees: number
  readonly items: number
}
/** Small trees and large ones tell the cost of a tree from that of an item. */
const SMALL: Shape = { trees: 400, items: 10 }
const LARGE: Shape = { trees: 20, items: 200 }
/** Predicted from the others. */
const BETWEEN: Shape = { trees: 80, items: 50 }
const SHAPES = [SMALL, LARGE, BETWEEN] as const
const SUBSCRIBERS = 50
const COSTS_FILE = join(import.meta.dirname, '../../scripts/simulation/costs.json')

interface Run {
  readonly shape: Shape
  readonly ms: number
  readonly transitions: number
  readonly cpu: Costs
  readonly walBytes: number
}
interface Measured {
  readonly engines: number
  readonly runs: readonly Run[]
}

export const workload: Workload = { name: 'engines', run }

async function run(context: BenchContext): Promise<Section> {
  const measured: Measured[] = []
  let delivered = Number.NaN
  let bytes = { database: Number.NaN, wal: Number.NaN }
  for (const engines of ENGINES) {
    await using fleet = await startFleet(context, engines)
    await warmUp((trees, items) => runTrees(fleet.gateway.client, trees, items))
    const runs: Run[] = []
    const before = await fleet.written()
    for (let round = 0; round < context.rounds; round++)
      for (const shape of SHAPES) runs.push(await measure(fleet, shape))
    measured.push({ engines, runs })
    if (engines === 1) {
      bytes = perChange(before, await fleet.written(), runs)
      delivered = await costOfDelivery(fleet, context.rounds)
    }
    context.log(`  ${engines} engines`)
  }
  const model = fit(measured[0]?.runs ?? [])
  if (context.only === null) writeCosts(model, { delivered, bytes }, measured[0]?.runs ?? [])
  return sectionOf(measured, model, delivered)
}

interface Written {
  readonly database: number
  readonly wal: number
}
function perChange(before: Written, after: Written, runs: readonly Run[]): Written {
  const changes = runs.reduce((sum, { transitions }) => sum + transitions, 0)
  return { database: (after.database - before.database) / changes, wal: (after.wal - before.wal) / changes }
}

async function measure({ gateway, cpu, written }: Fleet, shape: Shape): Promise<Run> {
  const { wal } = await written()
  const before = cpu()
  const { ms, transitions } = await runTrees(gateway.client, shape.trees, shape.items)
  const spent = subtract(cpu(), before)
  return { shape, ms, transitions, cpu: spent, walBytes: (await written()).wal - wal }
}

/** Milliseconds of the gateway for a change that one more subscriber gets. */
async function costOfDelivery(fleet: Fleet, rounds: number): Promise<number> {
  const { client } = fleet.gateway
  const costs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const without = await measure(fleet, LARGE)
    const ended = new AbortController()
    const after = await headOf(client)
    const followers = Array.from({ length: SUBSCRIBERS }, async () => {
      for await (const _ of client.followPhases({ after, signal: ended.signal })) if (ended.signal.aborted) return
    })
    const watched = await measure(fleet, LARGE)
    ended.abort()
    await Promise.allSettled(followers)
    costs.push((watched.cpu.gateway - without.cpu.gateway) / (SUBSCRIBERS * watched.transitions))
  }
  return median(costs)
}

/** Milliseconds of each part: of a tree, and of an item. */
interface Model {
  readonly tree: Costs
  readonly item: Costs
}

function fit(runs: readonly Run[]): Model {
  const of = (shape: Shape, part: Part): number =>
    median(runs.filter((one) => one.shape === shape).map(({ cpu }) => cpu[part])) / shape.trees
  // A tree of n items costs tree + n × item.
  const itemOf = (part: Part): number => (of(LARGE, part) - of(SMALL, part)) / (LARGE.items - SMALL.items)
  const build = (value: (part: Part) => number): Costs =>
    Object.fromEntries(PARTS.map((part) => [part, Math.max(0, value(part))])) as Costs
  return { tree: build((part) => of(SMALL, part) - SMALL.items * itemOf(part)), item: build(itemOf) }
}

const predict = ({ tree, item }: Model, { trees, items }: Shape): Costs =>
  Object.fromEntries(PARTS.map((part) => [part, trees * (tree[part] + items * item[part])])) as Costs

const nodesOf = ({ trees, items }: Shape): number => trees * (items + 1)

/** Writes the costs that the simulation reads. */
function writeCosts(
  { tree, item }: Model,
  more: { readonly delivered: number; readonly bytes: Written },
  runs: readonly Run[],
): void {
  const changes = (shape: Shape): number =>
    median(runs.filter((one) => one.shape === shape).map(({ transitions }) => transitions)) / shape.trees
  const changesPerItem = (changes(LARGE) - changes(SMALL)) / (LARGE.items - SMALL.items)
  const changesPerTree = changes(SMALL) - SMALL.items * changesPerItem
  const rounded = (costs: Costs) =>
    Object.fromEntries(PARTS.map((part) => [part.toLowerCase(), Number(costs[part].toPrecision(3))]))
  const costs = {
    treeMs: rounded(tree),
    itemMs: rounded(item),
    deliveryMs: Number(more.delivered.toPrecision(3)),
    changesPerTree: Number(changesPerTree.toFixed(2)),
    changesPerItem: Number(changesPerItem.toFixed(2)),
    bytesPerChange: Math.round(more.bytes.database),
    walBytesPerChange: Math.round(more.bytes.wal),
  }
  writeFileSync(COSTS_FILE, `${JSON.stringify(costs, null, 2)}\n`)
}

function sectionOf(measured: readonly Measured[], model: Model, delivered: number): Section {
  const cores = availableParallelism()
  const rows = measured.flatMap(({ engines, runs }) =>
    SHAPES.map((shape): Cell[] => {
      const own = runs.filter((one) => one.shape === shape)
      const nodes = nodesOf(shape)
      const cost = (part: Part): number => median(own.map(({ cpu }) => cpu[part])) / nodes
      return [
        String(engines),
        `${shape.trees} × ${shape.items}`,
        nodes / (median(own.map(({ ms }) => ms)) / 1_000),
        ...PARTS.map(cost),
        median(own.map(({ walBytes }) => walBytes)) / nodes,
        `${((100 * median(own.map(({ cpu, ms }) => total(cpu) / ms))) / cores).toFixed(0)} %`,
      ]
    }),
  )
  const rateOf = (engines: number): number =>
    median(
      (measured.find((one) => one.engines === engines)?.runs ?? [])
        .filter(({ shape }) => shape === LARGE)
        .map(({ shape, ms }) => nodesOf(shape) / ms),
    )
  const between = (measured[0]?.runs ?? []).filter(({ shape }) => shape === BETWEEN)
  const predicted = total(predict(model, BETWEEN))
  const seen = median(between.map(({ cpu }) => total(cpu)))
  const ms = (value: number): string => value.toFixed(2)
  const sum = (costs: Costs): string => PARTS.map((part) => `${part} ${ms(costs[part])}`).join(', ')
  return {
    title: 'engines: 1, 2 and 4 on one Postgres',
    prose: PROSE,
    table: {
      columns: [
        ...['engines', 'trees × items', 'nodes/s', ...PARTS.map((part) => `${part}: ms a node`)],
        ...['WAL, bytes a node', 'processors busy'],
      ],
      rows,
    },
    ratios: [
      `Two engines do ${(rateOf(2) / rateOf(1)).toFixed(2)}× and four ${(rateOf(4) / rateOf(1)).toFixed(2)}× the nodes a second of one (${LARGE.trees} × ${LARGE.items}).`,
      `Processor time, with one engine: a tree costs ${ms(total(model.tree))} ms (${sum(model.tree)}), and each item ${ms(total(model.item))} ms (${sum(model.item)}).`,
      `A change that one more subscriber gets costs the gateway ${(delivered * 1_000).toFixed(1)} µs (${SUBSCRIBERS} subscribers to everything).`,
      `From the two other shapes this predicts ${(predicted / seen).toFixed(2)}× the processor time that ${BETWEEN.trees} × ${BETWEEN.items} took.`,
    ],
  }
}

const PROSE = `
One gateway, 1, 2 or 4 engines and the mock agent are processes of their own, with one Postgres and one Redis between them, as on several
machines. All share the processors of this one, and with the client that asks: more engines can only bring more where processors are idle.
So the table shows where the time goes. *ms a node*: processor time of the part, with all that it has started, for each installation and item, of
trees whose items do nothing. *Processors busy*: by these four, without the client.
`
