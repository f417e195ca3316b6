import { findEngine, startContainerAgent } from '../container-agent.ts'
import {
  type BenchContext,
  type BenchServer,
  median,
  quantile,
  type Section,
  startRedis,
  startServer,
  type Workload,
} from '../harness.ts'
import { startPeer } from '../harness-peer.ts'
import { openCluster, startKubernetesAgent } from '../kubernetes-agent.ts'

const WARM_UP = 40
/** In each round. */
const EVENTS = 200
const STARTS = 60
/** A node starts one or two pods a second. */
const FEW: Counts = { warmUp: 4, starts: 10, events: 48 }
const MANY: Counts = { warmUp: WARM_UP, starts: STARTS, events: EVENTS }
/** Events at the same time. */
const WIDTHS = [1, 16, 64] as const
/** An engine and a cluster have no more. */
const SLOW_WIDTH = 16
const SLOTS = 64

interface Counts {
  readonly warmUp: number
  /** In each round. */
  readonly starts: number
  readonly events: number
}

interface Contestant {
  readonly name: string
  readonly counts: Counts
  readonly measureStarts: (count: number) => Promise<readonly number[]>
  readonly widths: readonly number[]
  /** Milliseconds. @param width events at the same time */
  readonly runEvents: (count: number, width: number) => Promise<number>
}
interface Measured {
  readonly starts: number[]
  /** By events at the same time. */
  readonly perSecond: Map<number, number[]>
}
const REDIS = [
  { aof: 'no', name: 'BullMQ, Redis without AOF' },
  { aof: 'always', name: 'BullMQ, AOF always' },
] as const

const PROCESSES = 'Phaseline'
const RUNTIME = 'Phaseline’s process runtime alone'
const SPAWN = 'a bare spawn'
const CONTAINERS = 'Phaseline, containers'
const BARE = 'a bare client of the engine'
const PODS = 'Phaseline, pods'
const BARE_CLUSTER = 'a bare client of the cluster'

const PAIRS: readonly (readonly [string, string])[] = [
  ...REDIS.map(({ name }) => [PROCESSES, name] as const),
  [PROCESSES, SPAWN],
  [RUNTIME, SPAWN],
  [CONTAINERS, BARE],
  [PODS, BARE_CLUSTER],
]

export const workload: Workload = { name: 'events', run }

type Opened = Promise<readonly Contestant[]>
/** By the name that `--only` takes. */
const PARTS: Readonly<Record<string, (stack: AsyncDisposableStack, server: BenchServer) => Opened>> = {
  processes: openProcesses,
  containers: openContainers,
  pods: openPods,
  queues: openQueues,
}

async function run({ postgres, log, rounds, only }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('events_phaseline')
  const env = { PHASELINE_PROCESS_RUNTIME: 'trusted', PHASELINE_MAX_WORKERS: String(SLOTS) }
  const server = stack.use(await startServer({ databaseUrl, env }))
  const contestants: Contestant[] = []
  for (const [name, open] of Object.entries(PARTS))
    if (only === null || name.includes(only)) contestants.push(...(await open(stack, server)))
  const measured = new Map<string, Measured>()
  for (const { name, counts, widths, measureStarts, runEvents } of contestants) {
    await measureStarts(counts.warmUp)
    await runEvents(counts.warmUp, SLOW_WIDTH)
    measured.set(name, { starts: [], perSecond: new Map(widths.map((width) => [width, []])) })
  }
  for (let round = 0; round < rounds; round++) {
    for (const one of [...contestants.slice(round), ...contestants.slice(0, round)]) {
      const { starts, events } = one.counts
      measured.get(one.name)?.starts.push(...(await one.measureStarts(starts)))
      for (const [width, perSecond] of measured.get(one.name)?.perSecond ?? [])
        perSecond.push(events / ((await one.runEvents(events, width)) / 1_000))
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(measured)
}

async function openProcesses(stack: AsyncDisposableStack, server: BenchServer): Opened {
  const peer = async (name: string, url = '') => stack.use(await startPeer(name, { use: 'latency', url }))
  return [
    contestantOf(PROCESSES, await peer('phaseline-events', `${server.origin}/graphql#${server.token}`)),
    contestantOf(RUNTIME, await peer('process-runtime')),
    contestantOf(SPAWN, await peer('bare-spawn')),
  ]
}

async function openContainers(stack: AsyncDisposableStack, server: BenchServer): Opened {
  const engine = await findEngine()
  if (!engine) return []
  stack.use(await startContainerAgent(server, engine))
  const query = new URLSearchParams({ runtime: 'container', image: engine.image })
  const url = `${server.origin}/graphql?${query}#${server.token}`
  const ours = stack.use(await startPeer('phaseline-events', { use: 'latency', url }))
  const bare = `unix://${engine.socket}#${engine.image}`
  const theirs = stack.use(await startPeer('container-events', { use: 'latency', url: bare }))
  return [contestantOf(CONTAINERS, ours, SLOW), contestantOf(BARE, theirs, SLOW)]
}

async function openPods(stack: AsyncDisposableStack, server: BenchServer): Opened {
  const cluster = await openCluster()
  if (!cluster) return []
  stack.use(cluster)
  stack.use(await startKubernetesAgent(server, cluster))
  const query = new URLSearchParams({ runtime: 'kubernetes', image: cluster.image })
  for (const word of ['sh', '-c', ':']) query.append('command', word)
  const url = `${server.origin}/graphql?${query}#${server.token}`
  const ours = stack.use(await startPeer('phaseline-events', { use: 'latency', url }))
  const bare = `file://${cluster.kubeconfig}?${new URLSearchParams({ image: cluster.image })}#${cluster.namespace}`
  const theirs = stack.use(await startPeer('kubernetes-events', { use: 'latency', url: bare }))
  return [contestantOf(PODS, ours, PODS_ONLY), contestantOf(BARE_CLUSTER, theirs, PODS_ONLY)]
}

async function openQueues(stack: AsyncDisposableStack): Opened {
  const opened: Contestant[] = []
  for (const { aof, name } of REDIS) {
    const { url } = stack.use(await startRedis({ aof }))
    opened.push(contestantOf(name, stack.use(await startPeer('bullmq-events', { use: 'latency', url }))))
  }
  return opened
}

const contestantOf = (
  name: string,
  peer: Awaited<ReturnType<typeof startPeer>>,
  { counts, widths }: Pick<Contestant, 'counts' | 'widths'> = { counts: MANY, widths: WIDTHS },
): Contestant => ({ ...{ name, counts, widths }, measureStarts: peer.measureStarts, runEvents: peer.runTrees })
const SLOW = { counts: MANY, widths: [SLOW_WIDTH] } as const
const PODS_ONLY = { counts: FEW, widths: [SLOW_WIDTH] } as const

function sectionOf(measured: ReadonlyMap<string, Measured>): Section {
  const start = (name: string, share: number): number => quantile(measured.get(name)?.starts ?? [], share)
  const rate = (name: string, width: number): number => median(measured.get(name)?.perSecond.get(width) ?? [])
  const names = [...measured.keys()]
  const ratio = (ours: number, theirs: number): string => `${(ours / theirs).toFixed(2)}×`
  const rates = (ours: string, theirs: string): string =>
    [...(measured.get(ours)?.perSecond.keys() ?? [])]
      .map((width) => `${ratio(rate(ours, width), rate(theirs, width))} with ${width} at once`)
      .join(', ')
  const compared = (ours: string, theirs: string): string =>
    `The p50 from created to running of ${ours} is ${ratio(start(ours, 0.5), start(theirs, 0.5))} that of ${theirs}, its events a second are ${rates(ours, theirs)}.`
  return {
    title: 'events: a process, a container or a pod for each',
    prose: PROSE,
    table: {
      columns: [
        ...['contestant', 'created to running: p50, ms', 'p99, ms'],
        ...WIDTHS.map((width) => `events/s, ${width} at once`),
      ],
      rows: names.map((name) => [
        ...[name, start(name, 0.5), start(name, 0.99)],
        ...WIDTHS.map((width) => rate(name, width)),
      ]),
    },
    ratios: [
      ...PAIRS.filter((pair) => pair.every((name) => measured.has(name))).map(([ours, theirs]) =>
        compared(ours, theirs),
      ),
    ],
  }
}

const PROSE = `
Each event starts the program \`true\`, or a shell that does nothing in a pod. *Created to running*: one after the other, from before the
request until the client hears that the process runs. *Events/s*: ${EVENTS} events, so many at the same time: the next is made when one has ended.

- **Phaseline**: \`createEvent\` over HTTP; the built-in process runtime; RUNNING and SUCCEEDED heard on a subscription. The event,
  its worker, four phases of each and what is to be removed are in fsynced Postgres. A process here is one that outlives its
  runtime: a process group whose pipes a supervisor holds, a state folder, secret files, output captured.
- **Phaseline’s process runtime alone** starts, follows and removes as many, without a server.
- **A bare spawn** reads the output and waits for the end, and stores nothing.
- **Phaseline, containers**, where there is an engine: the same with the container runtime. Output is followed, and resources are removed a
  minute after the end.
- **A bare client of the engine** creates, starts, waits and removes, and stores nothing.
- **Phaseline, pods**, where there is a cluster: the same with the kubernetes runtime, ${FEW.events} events. A pod has a secret and a finalizer.
- **A bare client of the cluster** creates pods, waits with the Kubernetes client's informer and deletes them.
- **BullMQ**: \`queue.add\`; a worker in the creator's own process spawns the program and pipes its output; it hears of both without a
  round trip. When that worker dies so does whatever it has spawned, and the job runs again.
`
