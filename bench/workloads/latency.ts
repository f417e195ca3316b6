import { type BenchContext, quantile, type Section, startRedis, startServer, type Workload } from '../harness.ts'
import { startPeer } from '../harness-peer.ts'

/** Code that is compiled as it runs has been by then. */
export const WARM_UP = 800
/** In each round. */
const STARTS = 300

interface Contestant {
  readonly name: string
  /** One after the other; milliseconds. */
  readonly measure: (count: number) => Promise<readonly number[]>
}
const REDIS = [
  { aof: 'no', name: 'BullMQ, Redis without AOF' },
  { aof: 'everysec', name: 'BullMQ, AOF everysec' },
  { aof: 'always', name: 'BullMQ, AOF always' },
] as const
const POSTGRES_PEERS = [
  { name: 'graphile-worker', file: 'graphile-worker' },
  { name: 'pg-boss', file: 'pg-boss' },
  { name: 'DBOS', file: 'dbos' },
] as const

export const workload: Workload = { name: 'latency', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('latency_phaseline')
  const server = stack.use(await startServer({ databaseUrl, roles: ['gateway', 'engine'] }))
  const ours = stack.use(
    await startPeer('phaseline', { use: 'latency', url: `${server.origin}/graphql#${server.token}` }),
  )
  const contestants: Contestant[] = [{ name: 'Phaseline', measure: ours.measureStarts }]
  for (const { aof, name } of REDIS) {
    const { url } = stack.use(await startRedis({ aof }))
    const peer = stack.use(await startPeer('bullmq', { use: 'latency', url }))
    contestants.push({ name, measure: peer.measureStarts })
  }
  for (const { name, file } of POSTGRES_PEERS) {
    const url = await postgres.createDatabase(`latency_${file}`)
    const peer = stack.use(await startPeer(file, { use: 'latency', url }))
    contestants.push({ name, measure: peer.measureStarts })
  }
  const times = new Map<string, number[]>()
  for (const { name, measure } of contestants) {
    await measure(WARM_UP)
    times.set(name, [])
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure } of [...contestants.slice(round), ...contestants.slice(0, round)]) {
      times.get(name)?.push(...(await measure(STARTS)))
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(times)
}

function sectionOf(times: ReadonlyMap<string, readonly number[]>): Section {
  const at = (name: string, share: number): number => quantile(times.get(name) ?? [], share)
  const ratio = (name: string, share: number): string => `${(at('Phaseline', share) / at(name, share)).toFixed(2)}×`
  const names = [...times.keys()]
  return {
    title: 'latency: from the request for one item until its agent has it',
    prose: PROSE,
    table: {
      columns: ['contestant', 'p50, ms', 'p90, ms', 'p99, ms', 'Phaseline’s p50', 'Phaseline’s p99'],
      rows: names.map((name) => [
        name,
        at(name, 0.5),
        at(name, 0.9),
        at(name, 0.99),
        ratio(name, 0.5),
        ratio(name, 0.99),
      ]),
    },
    ratios: names
      .filter((name) => name !== 'Phaseline')
      .map(
        (name) =>
          `Phaseline’s p50 is ${ratio(name, 0.5)} that of ${name}, its p99 ${ratio(name, 0.99)} (${times.get(name)?.length} starts each).`,
      ),
  }
}

const PROSE = `
One item after the other, with 5 ms of rest between them; the clock starts before the request and stops when the
function that does the work is called. Creator and worker are one process for everybody. The first 800 starts of each are
not counted.

- **Phaseline**: \`createInstallation\` with one item over HTTP, and an agent of the published client (\`runAgent\`) whose
  claim waits at the server. Before the item is offered, ten phase changes of the installation, its
  execution and the item are in the log.
- **BullMQ**: \`queue.add\`, one worker.
- **graphile-worker**: \`addJob\`, woken by NOTIFY, without its local queue (which trades latency for throughput).
- **pg-boss**: \`send\`, woken by NOTIFY.
- **DBOS**: \`startWorkflow\` without a queue (which is polled): stored, and then run in the process that asked for it, so
  that nothing is dispatched.
`
