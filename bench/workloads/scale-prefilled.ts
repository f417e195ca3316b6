import { type BenchContext, type BenchServer, median, type Section, startServer, type Workload } from '../harness.ts'
import { openMeter, type Spent } from '../meter.ts'
import { churn, makeModel, multiply, type Prefilled } from '../postgres-prefill.ts'
import { runTrees } from '../trees.ts'

const OBJECTS = 1_000_000
/** A week in which each tree is run again, deleted, and replaced by another. */
const DAYS = 7
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
  const young = await compare(emptyUrl, fullUrl, rounds)
  const churned = await churn(fullUrl, DAYS)
  log(`  churned in ${(churned.ms / 1_000).toFixed(0)} s`)
  const old = await compare(emptyUrl, fullUrl, rounds)
  // Later workloads must not pay for it.
  await postgres.dropDatabase('scale_full')
  return sectionOf(filled, churned, { prefilled: young, 'after a week': old })
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

function sectionOf(filled: Prefilled, churned: Prefilled, states: Readonly<Record<string, Runs>>): Section {
  const rows = Object.entries(states).flatMap(([state, runs]) =>
    SIZES.map(({ trees, items }, size) => {
      const of = (server: number, what: keyof Run): number =>
        median(runs[server]?.[size]?.map((each) => each[what]) ?? [])
      const times = (what: keyof Run): string => `${(of(1, what) / of(0, what)).toFixed(2)}×`
      const nodes = trees * (items + 1)
      const perNode = (what: 'spentMs' | 'walBytes', unit: number) =>
        [0, 1].map((server) => (of(server, what) * unit) / nodes)
      return {
        name: `${trees} × ${items.toLocaleString('en-US')}`,
        state,
        ms: [of(0, 'ms'), of(1, 'ms')],
        ratio: times('ms'),
        others: [times('cpuMs'), times('spentMs'), ...perNode('spentMs', 1_000), ...perNode('walBytes', 1)],
      }
    }),
  )
  const gigabytes = ({ bytes }: Prefilled): string => (bytes / GB).toFixed(1)
  return {
    title: 'scale:prefilled: the same trees in a large database',
    prose: `
The same trees in an empty database and, in turns, in one that holds ${filled.objects.toLocaleString('en-US')} finished objects and
${filled.changes.toLocaleString('en-US')} phase changes (${gigabytes(filled)} GB): whole trees of 200 with three jobs each, made by copying one that the
product made itself, on pages that are as full as after work. Medians of ${states.prefilled?.[0]?.[0]?.length ?? 0} runs each. *After a week*: on each of
${DAYS} days a part of the trees was run three times more, then deleted, its log pruned, and replaced by new trees, until none of the old ones was left
(${gigabytes(churned)} GB); vacuumed once a day. *All CPU* is that of the server, agent, sandbox and Postgres.`,
    table: {
      columns: [
        ...['trees', 'database', 'empty, ms', 'large, ms', 'ratio', 'of the server’s CPU', 'of all CPU'],
        ...[
          'empty: all CPU, µs a node',
          'large: all CPU, µs a node',
          'empty: WAL, bytes a node',
          'large: WAL, bytes a node',
        ],
      ],
      rows: rows.map(({ name, state, ms, ratio, others }) => [name, state, ...ms, ratio, ...others]),
    },
    ratios: rows.map(
      ({ name, state, ratio }) => `${name}, ${state}: ${ratio} the time that it takes in an empty database.`,
    ),
  }
}
