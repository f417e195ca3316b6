import {
  type BenchContext,
  type Cell,
  median,
  type Section,
  startRedis,
  startServer,
  type Workload,
} from '../harness.ts'
import { startPeer, type Use } from '../harness-peer.ts'
import { openMeter, type Spent } from '../meter.ts'
import { runTrees } from '../trees.ts'

interface Size {
  readonly trees: number
  readonly items: number
  /** Runs in a round: short ones are measured more often. */
  readonly repeats: number
}
export const SIZES: readonly Size[] = [
  { trees: 1, items: 10, repeats: 10 },
  { trees: 1, items: 200, repeats: 4 },
  { trees: 1, items: 2_000, repeats: 1 },
  { trees: 20, items: 200, repeats: 2 },
]
/** Code that is compiled as it runs has been by then. */
const WARM_UP_MS = 8_000
const WARM_UP = [
  { trees: 20, items: 200 },
  { trees: 1, items: 200 },
]

interface Contestant {
  readonly name: string
  /** Says what survives a crash. */
  readonly durable: string
  /** Resolves to milliseconds, and the durable changes of state that were written meanwhile. */
  readonly run: (trees: number, items: number) => Promise<Run>
}
/** A run of Phaseline also says what it has spent. */
interface Run extends Partial<Spent> {
  readonly ms: number
  readonly transitions: number
}
interface PeerRun {
  readonly name: string
  readonly file: string
  readonly use: Use
  /** Changes of state that it writes for a child, and for a root. */
  readonly child: number
  readonly root: number
}
const POSTGRES_PEERS: readonly PeerRun[] = [
  // Added, locked, deleted.
  { name: 'graphile-worker', file: 'graphile-worker', use: 'tree', child: 3, root: 3 },
  { name: 'graphile-worker, counting in batches', file: 'graphile-worker', use: 'tree-batched', child: 3, root: 3 },
  // Created, active, completed.
  { name: 'pg-boss', file: 'pg-boss', use: 'tree', child: 3, root: 3 },
  // Enqueued, pending, success; a root is not enqueued.
  { name: 'DBOS', file: 'dbos', use: 'tree', child: 3, root: 2 },
]
// Waiting, active, completed; a root waits for its children before.
const BULLMQ = { child: 3, root: 4 }
const OURS = 'Phaseline'
const FSYNCED = 'yes'
const REDIS = [
  { aof: 'no', name: 'BullMQ, Redis without AOF', durable: 'no' },
  { aof: 'everysec', name: 'BullMQ, AOF everysec', durable: 'but the last second' },
  { aof: 'always', name: 'BullMQ, AOF always', durable: FSYNCED },
] as const

export const workload: Workload = { name: 'tree', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('tree_phaseline')
  const server = stack.use(await startServer({ databaseUrl }))
  const spend = await openMeter(server, databaseUrl)
  const ourRun = (trees: number, items: number): Promise<Run> => spend(() => runTrees(server.client, trees, items))
  const contestants: Contestant[] = [{ name: OURS, durable: FSYNCED, run: ourRun }]
  for (const { aof, name, durable } of REDIS) {
    const { url } = stack.use(await startRedis({ aof }))
    contestants.push({
      name,
      durable,
      run: await peerRun(stack, url, { ...BULLMQ, name, file: 'bullmq', use: 'tree' }),
    })
  }
  for (const peer of POSTGRES_PEERS) {
    const url = await postgres.createDatabase(`tree_${peer.file}_${peer.use}`)
    contestants.push({ name: peer.name, durable: FSYNCED, run: await peerRun(stack, url, peer) })
  }
  for (const { name, run } of contestants) {
    await warmUp(run)
    log(`  ${name} is warm`)
  }
  const runs = new Map(contestants.map(({ name }) => [name, SIZES.map((): Run[] => [])]))
  for (let round = 0; round < rounds; round++) {
    for (const [i, size] of SIZES.entries()) {
      // Each begins in turn, so that none always comes after the same one.
      for (const { name, run } of [...contestants.slice(round), ...contestants.slice(0, round)]) {
        // A contestant that was idle during the others' turns is measured warm.
        await run(size.trees, size.items)
        for (let n = 0; n < size.repeats; n++) runs.get(name)?.[i]?.push(await run(size.trees, size.items))
      }
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(contestants, runs)
}

export async function warmUp(run: (trees: number, items: number) => Promise<unknown>): Promise<void> {
  const end = performance.now() + WARM_UP_MS
  while (performance.now() < end) for (const { trees, items } of WARM_UP) await run(trees, items)
}

async function peerRun(
  stack: AsyncDisposableStack,
  url: string,
  { file, use, child, root }: PeerRun,
): Promise<Contestant['run']> {
  const peer = stack.use(await startPeer(file, { use, url }))
  return async (trees, items) => ({
    ms: await peer.runTrees(trees, items),
    transitions: trees * (items * child + root),
  })
}

function sectionOf(
  contestants: readonly Contestant[],
  runs: ReadonlyMap<string, readonly (readonly Run[])[]>,
): Section {
  const msOf = (name: string, size: number): number => median(runs.get(name)?.[size]?.map(({ ms }) => ms) ?? [])
  const many = SIZES.length - 1
  const nodes = SIZES.map(({ trees, items }) => trees * (items + 1))
  const rateOf = (name: string): number => ((nodes[many] ?? 0) / msOf(name, many)) * 1_000
  const transitionsOf = (name: string): number =>
    median(runs.get(name)?.[many]?.map(({ transitions, ms }) => (transitions / ms) * 1_000) ?? [])
  const ofNode = (what: keyof Spent): number =>
    median(runs.get(OURS)?.[many]?.map((one) => one[what] ?? Number.NaN) ?? []) / (nodes[many] ?? 0)
  const times = (ratio: number): string => `${ratio.toFixed(2)}×`
  const peers = contestants.filter(({ name }) => name !== OURS)
  return {
    title: 'tree: one root and its children, from the request to the end',
    prose: PROSE,
    table: {
      columns: [
        'contestant',
        'survives a crash',
        ...SIZES.map(({ trees, items }) => `${trees} × ${items.toLocaleString('en-US')}, ms`),
        '20 × 200, nodes/s',
        'changes of state/s',
        'Phaseline is faster: 1 × 200',
        '20 × 200',
      ],
      rows: contestants.map(({ name, durable }): Cell[] => [
        name,
        durable,
        ...SIZES.map((_, i) => msOf(name, i)),
        Math.round(rateOf(name)),
        Math.round(transitionsOf(name)),
        times(msOf(name, 1) / msOf(OURS, 1)),
        times(rateOf(OURS) / rateOf(name)),
      ]),
    },
    ratios: [
      `A node of 20 × 200 costs Phaseline ${(ofNode('spentMs') * 1_000).toFixed(0)} µs of processor time (server, agent, sandbox and Postgres) and ${ofNode('walBytes').toFixed(0)} bytes of WAL.`,
      ...peers.map(
        ({ name }) =>
          `Against ${name}, Phaseline’s throughput is ${times(rateOf(OURS) / rateOf(name))}; a tree of 10, 200 and 2,000 alone takes ${[
            0, 1, 2,
          ]
            .map((size) => times(msOf(OURS, size) / msOf(name, size)))
            .join(', ')} of its time.`,
      ),
    ],
  }
}

const PROSE = `
A root and N children that do nothing, until the root has ended; *20 × 200* is twenty such trees at once. Milliseconds are
medians of the runs of all rounds, the first request included. Each contestant runs for eight seconds before the first
round, and once before each of its turns, without being counted.

- **Phaseline** is asked over HTTP as anybody would (\`createInstallation\` with N items of the built-in mock agent, which is
  a process of its own and claims and reports over HTTP too), and the end is heard of over a WebSocket. Changes of state
  are phase changes in its log, each judged by the guard.
- **BullMQ**: one flow for each tree, added in bulk, ioredis, one worker with concurrency 100 in the producer's process.
- **graphile-worker** with the settings of its performance page: local queue of 500, 24 jobs at a time, completions batched.
  It has no trees: each child counts down a row of its tree, and the one that reaches zero adds the root's job. That row
  is what it waits for, so there is a second way to use it: children that end in one turn of the event loop are counted
  down by one statement. (Neither is safe: a child that is run again after a crash is counted twice.)
- **pg-boss**: batches of 500 in four workers, LISTEN and NOTIFY; children are counted down a batch at a time, in the
  transaction that completes them.
- **DBOS**: a root workflow enqueues its children and awaits them all; it polls its queue every 100 ms.

Producer, worker and clock of a peer are one process, with no API between them. Their changes of state are those they write
for a job (added, started, ended); none of them keeps a history of these.
`
