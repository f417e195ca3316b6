import { type BenchContext, type BenchServer, median, type Section, startServer, type Workload } from '../harness.ts'
import { openMeter, type Spent } from '../meter.ts'
import { makeModel, multiply, type Prefilled } from '../postgres-prefill.ts'
import { runTrees } from '../trees.ts'

const OBJECTS = 1_000_000
const SIZES = [
  { trees: 20, items: 200 },
  { trees: 1, items: 1_000 },
] as const
const REPEATS = 3
const WARM_UP = 3
const GB = 2 ** 30

interface Run extends Spent {
  readonly ms: number
  readonly cpuMs: number
}

export const workload: Workload = { name: 'scale:prefilled', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  const [emptyUrl, fullUrl] = [
    await postgres.createDatabase('scale_empty'),
    await postgres.createDatabase('scale_full'),
  ]
  const filled = await fill(fullUrl)
  log(`  filled in ${(filled.ms / 1_000).toFixed(0)} s`)
  const runs = await compare(emptyUrl, fullUrl, rounds)
  // Later workloads must not pay for it.
  await postgres.dropDatabase('scale_full')
  return sectionOf(filled, runs)
}

/** By server, and by size. */
type Runs = readonly (readonly (readonly Run[])[])[]

async function compare(emptyUrl: string, fullUrl: string, rounds: number): Promise<Runs> {
  await using empty = await startServer({ databaseUrl: emptyUrl })
  await using full = await startServer({ databaseUrl: fullUrl })
  const servers = [
    { server: empty, spend: await openMeter(empty, emptyUrl) },
    { server: full, spend: await openMeter(full, fullUrl) },
  ] as const
  for (const { server } of servers) for (let i = 0; i < WARM_UP; i++) await runTrees(server.client, 20, 200)
  const runs = servers.map(() => SIZES.map((): Run[] => []))
  for (let round = 0; round < rounds * REPEATS; round++) {
    for (const [size, { trees, items }] of SIZES.entries()) {
      for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const { server, spend } = servers[i]
        runs[i]?.[size]?.push(await spend(() => runOne(server, trees, items)))
      }
    }
  }
  return runs
}

async function fill(url: string): Promise<Prefilled> {
  {
    await using server = await startServer({ databaseUrl: url })
    await makeModel(server.client)
  }
  return await multiply(url, OBJECTS)
}

async function runOne(server: BenchServer, trees: number, items: number): Promise<Omit<Run, keyof Spent>> {
  const before = await server.read()
  const { ms } = await runTrees(server.client, trees, items)
  return { ms, cpuMs: (await server.read()).cpuMs - before.cpuMs }
}

function sectionOf({ objects, changes, bytes }: Prefilled, runs: Runs): Section {
  const of = (server: number, size: number, what: keyof Run): number =>
    median(runs[server]?.[size]?.map((each) => each[what]) ?? [])
  const times = (size: number, what: keyof Run): string => `${(of(1, size, what) / of(0, size, what)).toFixed(2)}×`
  const nodesOf = ({ trees, items }: (typeof SIZES)[number]): number => trees * (items + 1)
  const nameOf = ({ trees, items }: (typeof SIZES)[number]): string => `${trees} × ${items.toLocaleString('en-US')}`
  return {
    title: 'scale:prefilled: the same trees in a large database',
    prose: `
The same trees in an empty database and, in turns, in one that holds ${objects.toLocaleString('en-US')} finished objects and
${changes.toLocaleString('en-US')} phase changes (${(bytes / GB).toFixed(1)} GB): whole trees of 200 with three jobs each, made by copying one that the
product made itself, on pages that are as full as after work. Medians of ${runs[0]?.[0]?.length ?? 0} runs each.
*All CPU* is that of the server, agent, sandbox and Postgres.`,
    table: {
      columns: [
        ...['trees', 'empty, ms', 'prefilled, ms', 'ratio', 'ratio of the server’s CPU'],
        ...['empty: all CPU, µs a node', 'prefilled: all CPU, µs a node'],
        ...['empty: WAL, bytes a node', 'prefilled: WAL, bytes a node'],
      ],
      rows: SIZES.map((size, i) => [
        ...[nameOf(size), of(0, i, 'ms'), of(1, i, 'ms'), times(i, 'ms'), times(i, 'cpuMs')],
        ...[0, 1].map((server) => (of(server, i, 'spentMs') * 1_000) / nodesOf(size)),
        ...[0, 1].map((server) => of(server, i, 'walBytes') / nodesOf(size)),
      ]),
    },
    ratios: SIZES.map((size, i) => `${nameOf(size)}: ${times(i, 'ms')} the time that it takes in an empty database.`),
  }
}
