import { findEngine, startContainerAgent } from '../container-agent.ts'
import {
  type BenchContext,
  median,
  quantile,
  type Section,
  startRedis,
  startServer,
  type Workload,
} from '../harness.ts'
import { startPeer } from '../harness-peer.ts'

const WARM_UP = 40
/** In each round. */
const EVENTS = 200
const STARTS = 60
const SLOTS = 16

interface Contestant {
  readonly name: string
  readonly measureStarts: (count: number) => Promise<readonly number[]>
  /** Milliseconds. */
  readonly runEvents: (count: number) => Promise<number>
}
interface Measured {
  readonly starts: number[]
  readonly perSecond: number[]
}
const REDIS = [
  { aof: 'no', name: 'BullMQ, Redis without AOF' },
  { aof: 'always', name: 'BullMQ, AOF always' },
] as const

const RUNTIME = 'Phaseline’s process runtime alone'
const SPAWN = 'a bare spawn'
const CONTAINERS = 'Phaseline, containers'
const BARE = 'a bare client of the engine'

export const workload: Workload = { name: 'events', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('events_phaseline')
  const env = { PHASELINE_PROCESS_RUNTIME: 'trusted', PHASELINE_MAX_WORKERS: String(SLOTS) }
  const server = stack.use(await startServer({ databaseUrl, env }))
  const ours = await startPeer('phaseline-events', {
    use: 'latency',
    url: `${server.origin}/graphql#${server.token}`,
  })
  stack.use(ours)
  const contestants: Contestant[] = [contestantOf('Phaseline', ours)]
  for (const [name, peer] of [
    [RUNTIME, 'process-runtime'],
    [SPAWN, 'bare-spawn'],
  ] as const)
    contestants.push(contestantOf(name, stack.use(await startPeer(peer, { use: 'latency', url: '' }))))
  const engine = await findEngine()
  if (engine) {
    stack.use(await startContainerAgent(server, engine))
    const query = new URLSearchParams({ runtime: 'container', image: engine.image })
    const url = `${server.origin}/graphql?${query}#${server.token}`
    contestants.push(contestantOf(CONTAINERS, stack.use(await startPeer('phaseline-events', { use: 'latency', url }))))
    const bare = `unix://${engine.socket}#${engine.image}`
    contestants.push(contestantOf(BARE, stack.use(await startPeer('container-events', { use: 'latency', url: bare }))))
  }
  for (const { aof, name } of REDIS) {
    const { url } = stack.use(await startRedis({ aof }))
    contestants.push(contestantOf(name, stack.use(await startPeer('bullmq-events', { use: 'latency', url }))))
  }
  const measured = new Map<string, Measured>()
  for (const { name, measureStarts, runEvents } of contestants) {
    await measureStarts(WARM_UP)
    await runEvents(WARM_UP)
    measured.set(name, { starts: [], perSecond: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name, measureStarts, runEvents } of [...contestants.slice(round), ...contestants.slice(0, round)]) {
      measured.get(name)?.starts.push(...(await measureStarts(STARTS)))
      measured.get(name)?.perSecond.push(EVENTS / ((await runEvents(EVENTS)) / 1_000))
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(measured)
}

const contestantOf = (name: string, peer: Awaited<ReturnType<typeof startPeer>>): Contestant => ({
  name,
  measureStarts: peer.measureStarts,
  runEvents: (count) => peer.runTrees(count, 0),
})

function sectionOf(measured: ReadonlyMap<string, Measured>): Section {
  const start = (name: string, share: number): number => quantile(measured.get(name)?.starts ?? [], share)
  const rate = (name: string): number => median(measured.get(name)?.perSecond ?? [])
  const names = [...measured.keys()]
  const ratio = (ours: number, theirs: number): string => `${(ours / theirs).toFixed(2)}×`
  const compared = (ours: string, theirs: string): string =>
    `The p50 from created to running of ${ours} is ${ratio(start(ours, 0.5), start(theirs, 0.5))} that of ${theirs}, its events a second are ${ratio(rate(ours), rate(theirs))}.`
  return {
    title: 'events: a process or a container for each',
    prose: PROSE,
    table: {
      columns: ['contestant', 'created to running: p50, ms', 'p99, ms', 'events/s'],
      rows: names.map((name) => [name, start(name, 0.5), start(name, 0.99), rate(name)]),
    },
    ratios: [
      ...REDIS.map(({ name }) => compared('Phaseline', name)),
      compared('Phaseline', SPAWN),
      compared(RUNTIME, SPAWN),
      ...(names.includes(BARE) ? [compared(CONTAINERS, BARE)] : []),
    ],
  }
}

const PROSE = `
Each event starts the program \`true\`, at most ${SLOTS} at the same time. *Created to running*: one after the other, from before
the request until the client hears that the process runs. *Events/s*: ${EVENTS} at once, until all have ended.

- **Phaseline**: \`createEvent\` over HTTP; the built-in process runtime; RUNNING and SUCCEEDED heard on a subscription. The event,
  its worker, four phases of each and what is to be removed are in fsynced Postgres. A process here is one that outlives its
  runtime: a process group whose pipes a supervisor holds, a state folder, secret files, output captured.
- **Phaseline’s process runtime alone** starts, follows and removes as many, without a server.
- **A bare spawn** reads the output and waits for the end, and stores nothing.
- **Phaseline, containers**, where there is an engine: the same with the container runtime. Output is followed, and resources are removed a
  minute after the end.
- **A bare client of the engine** creates, starts, waits and removes, at most ${SLOTS} at the same time, and stores nothing.
- **BullMQ**: \`queue.add\`; a worker in the creator's own process spawns the program and pipes its output; it hears of both without a
  round trip. When that worker dies so does whatever it has spawned, and the job runs again.
`
