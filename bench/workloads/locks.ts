import { type BenchContext, median, type Section, startPostgres, startRedis, type Workload } from '../harness.ts'
import { startPeer } from '../harness-peer.ts'

const WAITERS = [1, 100, 10_000] as const
type Waiters = (typeof WAITERS)[number]
const OURS = 'Phaseline'
const IN_MEMORY = 'Phaseline, not waiting for the disk'
/** Each waiter for an advisory lock has a connection. */
const CONNECTIONS = 150

interface Contestant {
  readonly name: string
  readonly peer: string
  /** Resolves to the URL of its database: a new one. */
  readonly open: () => Promise<string>
  /** How many grants are measured; null: it cannot have so many waiters. */
  readonly grants: (waiters: Waiters) => number | null
}

export const workload: Workload = { name: 'locks', run }

async function run({ log, rounds }: BenchContext): Promise<Section> {
  await using postgres = await startPostgres({ max_connections: String(CONNECTIONS) })
  await using redis = await startRedis({ aof: 'no' })
  const manager = { peer: 'phaseline-locks', grants: () => 1_000 }
  const contestants: readonly Contestant[] = [
    { ...manager, name: OURS, open: () => postgres.createDatabase('locks') },
    {
      ...manager,
      name: IN_MEMORY,
      open: async () => `${await postgres.createDatabase('locks')}&options=-c%20synchronous_commit%3Doff`,
    },
    {
      name: 'Postgres advisory locks',
      peer: 'advisory-locks',
      open: () => postgres.createDatabase('locks'),
      grants: (waiters) => (waiters >= CONNECTIONS ? null : 2_000),
    },
    {
      name: 'Redis lock',
      peer: 'redis-lock',
      open: () => Promise.resolve(redis.url),
      grants: (waiters) => (waiters === 1 ? 20 : 200),
    },
  ]
  const rates = new Map(contestants.map(({ name }) => [name, WAITERS.map((): number[] => [])]))
  for (let round = 0; round < rounds; round++) {
    for (const contestant of [...contestants.slice(round), ...contestants.slice(0, round)]) {
      for (const [i, waiters] of WAITERS.entries()) {
        const rate = await measure(contestant, waiters)
        if (rate !== null) rates.get(contestant.name)?.[i]?.push(rate)
      }
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  return sectionOf(rates)
}

/** Grants a second; the first tenth is a warm-up. */
async function measure({ peer, open, grants }: Contestant, waiters: Waiters): Promise<number | null> {
  const count = grants(waiters)
  if (count === null) return null
  await using contestant = await startPeer(peer, { use: 'latency', url: await open() })
  await contestant.runTrees(Math.ceil(count / 10), waiters)
  return count / ((await contestant.runTrees(count, waiters)) / 1_000)
}

function sectionOf(rates: ReadonlyMap<string, readonly (readonly number[])[]>): Section {
  const rate = (name: string, waiters: Waiters): number => median(rates.get(name)?.[WAITERS.indexOf(waiters)] ?? [])
  const cost = (name: string): string => (rate(name, 100) / rate(name, 10_000)).toFixed(2)
  const per = (waiters: Waiters): string => `${(1_000 / rate(IN_MEMORY, waiters)).toFixed(2)} ms`
  const names = [...rates.keys()]
  return {
    title: 'locks: grants a second of one resource',
    prose: PROSE,
    table: {
      columns: [
        'contestant',
        ...WAITERS.map((n) => `${n.toLocaleString('en-US')} ${n === 1 ? 'waiter' : 'waiters'}, /s`),
      ],
      rows: names.map((name) => [name, ...WAITERS.map((waiters) => rate(name, waiters))]),
    },
    ratios: [
      `With 10,000 waiters a grant costs Phaseline ${cost(OURS)}× what it costs with 100; without the disk ${cost(IN_MEMORY)}× (${per(100)} and ${per(10_000)}).`,
      ...names
        .slice(2)
        .map(
          (name) =>
            `With 100 waiters Phaseline grants ${(rate(OURS, 100) / rate(name, 100)).toFixed(2)}× as often as ${name}.`,
        ),
    ],
  }
}

const PROSE = `
One resource, held exclusively. The holder gives it back, a waiter gets it, and the former holder waits again: so as
many wait all the time. All in one process, one grant after the other.

- **Phaseline**: the lock manager as the engine calls it, on one connection. Giving back, with the grant and its wake-up, is a
  transaction, and so is asking again; both are in fsynced Postgres before they count. The second row does not wait for the
  disk (\`synchronous_commit\` off): it shows what the statements cost. First come, first served.
- **Postgres advisory locks**: \`pg_advisory_lock\` and \`pg_advisory_unlock\`, a session for each that waits, so 10,000 are out of the
  question; the server is allowed ${CONNECTIONS} connections here. Nothing is written: whatever loses its connection loses its lock. First come,
  first served.
- **Redis lock**: the algorithm of Redis’s documentation, \`SET NX PX\` with a value of one’s own and a script that deletes it, on one server
  without AOF; who does not get it tries again after 200 ± 100 ms, as libraries for Redlock do. There is no queue: who gets it is
  chance, and with few waiters it lies idle until one of them asks. A holder that gives it back waits as long before it asks again: otherwise
  it would have it again at once, and nobody else ever. After its lease the lock is gone, whether its holder has ended or not.
`
