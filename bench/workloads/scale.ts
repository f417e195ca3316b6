import {
  type BenchContext,
  type BenchServer,
  type Cell,
  median,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'
import { openMeter, type Spent } from '../meter.ts'
import { runTrees } from '../trees.ts'

/** Ascending, so that each one's memory is its own. */
const SIZES = [
  { items: 1_000, repeats: 6 },
  { items: 10_000, repeats: 2 },
  { items: 100_000, repeats: 2 },
] as const
const WARM_UP = 3
const MB = 2 ** 20

/** One tree. */
interface Run extends Spent {
  readonly items: number
  readonly ms: number
  /** Processor time of the server's process. */
  readonly cpuMs: number
  readonly statements: number
  readonly rssPeak: number
  readonly heapPeak: number
}

export const workload: Workload = { name: 'scale', run }

async function run({ postgres, log }: BenchContext): Promise<Section> {
  const databaseUrl = await postgres.createDatabase('scale')
  await using server = await startServer({ databaseUrl })
  const spend = await openMeter(server, databaseUrl)
  for (let i = 0; i < WARM_UP; i++) await runTrees(server.client, 1, 1_000)
  const { rss: rssBefore } = await server.read()
  const rows: Cell[][] = []
  const costs: number[] = []
  const measure = async (items: number, repeats: number, name: string): Promise<void> => {
    const runs: Run[] = []
    for (let i = 0; i < repeats; i++) runs.push(await spend(() => runOne(server, items)))
    const perItem = (of: (run: Run) => number): number => median(runs.map(of)) / items
    costs.push(perItem(({ ms }) => ms))
    rows.push([
      name,
      perItem(({ ms }) => ms).toFixed(3),
      perItem(({ cpuMs }) => cpuMs).toFixed(3),
      perItem(({ spentMs }) => spentMs).toFixed(3),
      perItem(({ walBytes }) => walBytes),
      perItem(({ statements }) => statements * 100),
      Math.max(...runs.map(({ heapPeak }) => heapPeak)) / MB,
      Math.max(...runs.map(({ rssPeak }) => rssPeak)) / MB,
      `${times(perItem(({ ms }) => ms) / (costs[0] ?? Number.NaN))}`,
    ])
    log(`  ${name}`)
  }
  for (const { items, repeats } of SIZES) await measure(items, repeats, items.toLocaleString('en-US'))
  await measure(1_000, 6, '1,000 again')
  const [first = Number.NaN, second = Number.NaN, large = Number.NaN, again = Number.NaN] = costs
  return {
    title: 'scale: one large tree',
    prose: `${PROSE}\nBefore the first of these trees the server’s process had ${(rssBefore / MB).toFixed(0)} MB.`,
    table: {
      columns: [
        'items',
        'ms an item',
        'server’s CPU, ms an item',
        'all CPU, ms an item',
        'WAL, bytes an item',
        'statements for 100 items',
        'heap peak, MB',
        'RSS peak, MB',
        'cost of an item',
      ],
      rows,
    },
    ratios: [
      `An item of 10,000 costs ${times(second / first)} one of 1,000; one of 100,000 costs ${times(large / first)}, and ${times(large / again)} one of 1,000 in the database that the large ones are left in.`,
    ],
  }
}

const times = (ratio: number): string => `${ratio.toFixed(2)}×`

async function runOne(server: BenchServer, items: number): Promise<Omit<Run, keyof Spent>> {
  const before = await server.read()
  const { ms } = await runTrees(server.client, 1, items)
  const after = await server.read()
  return {
    items,
    ms,
    cpuMs: after.cpuMs - before.cpuMs,
    statements: after.statements - before.statements,
    rssPeak: after.rssPeak,
    heapPeak: after.heapPeak,
  }
}

const PROSE = `
One tree of so many no-op items, made by one \`createInstallation\`, from the request to the end, through the public API
with the built-in mock agent. Medians; memory is that of the server’s process (gateway and engine), whose limits of old
space are Node’s defaults. *All CPU* is that of the server, agent, sandbox and Postgres.
`
