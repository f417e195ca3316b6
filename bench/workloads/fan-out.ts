import { type BenchContext, type Cell, median, type Section, startRedis, type Workload } from '../harness.ts'
import { CONTESTANTS, type Contestant } from './fan-out-contestants.ts'
import { EASY, type Latency, measure, type Result, type Scenario } from './fan-out-measure.ts'

export const SHARED: Scenario = { name: '500', subscribers: 500, isFiltered: false }
const SCENARIOS: readonly Scenario[] = [
  SHARED,
  { name: '5,000', subscribers: 5_000, isFiltered: false },
  { name: '500, each another tree', subscribers: 500, isFiltered: true },
]
const NAMES: Readonly<Record<Contestant, string>> = {
  phaseline: 'Phaseline',
  mercurius: 'Mercurius',
  yoga: 'Yoga + graphql-ws',
  'bare-ws': 'bare ws',
}
const MB = 2 ** 20

export const workload: Workload = { name: 'fan-out', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using redis = await startRedis({ aof: 'no' })
  const results: Result[] = []
  for (const scenario of SCENARIOS) {
    for (let round = 0; round < rounds; round++) {
      for (const contestant of [...CONTESTANTS.slice(round), ...CONTESTANTS.slice(0, round)]) {
        const databaseUrl = await postgres.createDatabase('fan_out')
        const result = await measure(contestant, scenario, { databaseUrl, redisUrl: redis.url })
        results.push(result)
        log(`  ${scenario.name}: ${NAMES[contestant]}, ${Math.round(result.messagesPerSecond)} messages/s`)
      }
    }
  }
  const rows = SCENARIOS.flatMap(({ name }) => CONTESTANTS.map((contestant) => medianOf(results, name, contestant)))
  return {
    title: 'fan-out: one writer, many WebSocket subscribers',
    prose: PROSE,
    table: { columns: COLUMNS, rows: rows.map(cells) },
    ratios: SCENARIOS.map(({ name }) => ratioOf(name, rows)),
  }
}

/** Takes the median of each number separately. */
function medianOf(all: readonly Result[], scenario: string, contestant: Contestant): Result {
  const results = all.filter((result) => result.scenario === scenario && result.contestant === contestant)
  const of = (pick: (result: Result) => number): number => median(results.map(pick))
  const latency = (pick: (result: Result) => Latency): Latency => ({
    messagesPerSecond: of((r) => pick(r).messagesPerSecond),
    p50: of((r) => pick(r).p50),
    p99: of((r) => pick(r).p99),
    serverBusy: of((r) => pick(r).serverBusy),
    subscribersBusy: of((r) => pick(r).subscribersBusy),
  })
  return {
    contestant,
    scenario,
    messagesPerSecond: of((r) => r.messagesPerSecond),
    cpuPerMessage: of((r) => r.cpuPerMessage),
    serverBusy: of((r) => r.serverBusy),
    subscribersBusy: of((r) => r.subscribersBusy),
    rssBefore: of((r) => r.rssBefore),
    rss: of((r) => r.rss),
    bytes: of((r) => r.bytes),
    atHalf: latency((r) => r.atHalf),
    atEase: latency((r) => r.atEase),
    wrong: results.reduce((sum, { wrong }) => sum + wrong, 0),
  }
}

const COLUMNS = [
  'subscribers',
  'contestant',
  'messages/s',
  'server CPU, µs/message',
  'busy cores: server, subscribers',
  'p50 / p99 at half of that, ms',
  `p50 / p99 at ${EASY.toLocaleString('en-US')} messages/s, ms`,
  'server memory before, after, MB',
  'gaps, repetitions',
]
const ms = ({ p50, p99 }: Latency): string => `${p50.toFixed(1)} / ${p99.toFixed(1)}`
const cells = (row: Result): Cell[] => [
  row.scenario,
  NAMES[row.contestant],
  Math.round(row.messagesPerSecond),
  row.cpuPerMessage,
  `${row.serverBusy.toFixed(2)}, ${row.subscribersBusy.toFixed(2)}`,
  ms(row.atHalf),
  ms(row.atEase),
  `${(row.rssBefore / MB).toFixed(0)}, ${(row.rss / MB).toFixed(0)}`,
  String(row.wrong),
]

function ratioOf(scenario: string, rows: readonly Result[]): string {
  const of = (contestant: Contestant) => rows.find((r) => r.scenario === scenario && r.contestant === contestant)
  const ours = of('phaseline')
  const against = (contestant: Contestant, pick: (result: Result) => number): string => {
    const theirs = of(contestant)
    return ours && theirs ? (pick(ours) / pick(theirs)).toFixed(2) : '–'
  }
  const rate = (contestant: Contestant): string => `${against(contestant, (r) => r.messagesPerSecond)}×`
  return `${scenario}: Phaseline delivers ${rate('mercurius')} of Mercurius, ${rate('yoga')} of Yoga, ${rate('bare-ws')} of bare ws; a message costs its server ${against('mercurius', (r) => r.cpuPerMessage)}× of Mercurius’ CPU.`
}

const PROSE = `
One writer publishes phase changes; every subscriber has a WebSocket of its own (graphql-transport-ws, an operation id of
its own) and asks \`subscription { phaseChanges { sequence objectId kind name from to at } }\`: about 275 bytes a message.
In the first two scenarios all get everything; in the last one each asks for another tree (\`filter: { rootId }\`), so that a
change is for one of them. *messages/s* counts what all subscribers together have received while the writer was always
ahead of them, by as much as they take in 250 ms. Milliseconds are from commit to client.

- **Phaseline**: the writer commits to Postgres (one transaction for up to 100 changes of a tree, under its root's lock) and
  numbers the log; a gateway (\`PHASELINE_ROLES=gateway\`) hears of it over Redis. When it is behind, what waits for a
  subscriber goes out in one write: that is how it passes the ceiling below.
- **Mercurius** with \`mqemitter-redis\`, **Yoga + graphql-ws** with the Redis event target: the writer publishes to Redis and
  commits nothing. For the last scenario, a topic for each tree.
- **bare ws**: no GraphQL; the writer publishes the bytes of the message, and the server calls \`ws.send\` for each socket.

Writer, server and subscribers are a process each, on the same cores as Redis and Postgres: where the server is not
busy, another process was the limit. Subscribers read frames straight from TCP, so that they cost less than any server, and
check that nothing is missing, repeated or out of order.
`
