import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { ask } from '../../test/testkit/ask.ts'
import { MUTATIONS } from '../../test/testkit/documents.ts'
import { gql } from '../../test/testkit/gql.ts'
import { atOnce } from '../at-once.ts'
import { cpuOfTree } from '../cpu.ts'
import {
  type BenchContext,
  type BenchServer,
  type Cell,
  quantile,
  type Section,
  startRedis,
  startServer,
  type Workload,
} from '../harness.ts'

const SIZE = 10_000
const ENGINES = 3
/** Requests under way at a time. */
const WIDTH = 32
const WARM_UP = 500
const IDLE_MS = 60_000
/** More than the creation of the others takes, so that all of them are idle for a while. */
const SLACK = 1.3
const PROJECT = 'bench'
const CREATE = gql(`mutation ($input: CreateScheduleInput!) {
  answer: createSchedule(input: $input) { __typename ... on Schedule { id } ... on Error { message } }
}`)

export const workload: Workload = { name: 'schedules', run }

async function run({ postgres, log, size }: BenchContext): Promise<Section> {
  const schedules = size ?? SIZE
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('schedules')
  stack.defer(() => postgres.dropDatabase('schedules'))
  const { url: redisUrl } = stack.use(await startRedis({ aof: 'no' }))
  const env = { PHASELINE_SECRET_KEY: randomBytes(32).toString('base64') }
  const shared = { databaseUrl, redisUrl, env, token: randomBytes(24).toString('base64url') }
  const gateway = stack.use(await startServer({ ...shared, roles: ['gateway'] }))
  const engines: BenchServer[] = []
  for (let i = 0; i < ENGINES; i++) engines.push(stack.use(await startServer({ ...shared, roles: ['engine'] })))
  const pool = stack.adopt(new pg.Pool({ connectionString: databaseUrl, max: 2 }), (one) => one.end())

  await ask(gateway.client, MUTATIONS.createProject, { name: PROJECT, workerTemplate: { command: ['true'] } })
  await createEvents(gateway, WARM_UP, 'warm-up')
  const idle = { without: await idleShare(engines), with: Number.NaN }
  log('  warm')
  const since = await now(pool)
  await createEvents(gateway, schedules, 'batch')
  const batch = await lateness(pool, 'batch', since)
  log('  created as a batch')

  const before = performance.now()
  await createSchedules(gateway, WARM_UP, new Date(Date.now() + 86_400_000))
  const eachMs = (performance.now() - before) / WARM_UP
  const at = new Date(Date.now() + SLACK * eachMs * schedules + 2 * IDLE_MS)
  await createSchedules(gateway, schedules, at)
  log('  waiting for their time')
  idle.with = await idleShare(engines)
  while ((await count(pool, 'scheduled')) < schedules) await delay(500)
  const fired = await lateness(pool, 'scheduled', at)
  return sectionOf({ schedules, batch, fired, idle })
}

const createEvents = (server: BenchServer, count: number, source: string): Promise<void> =>
  atOnce(count, WIDTH, async () => {
    await ask(server.client, MUTATIONS.createEvent, { project: PROJECT, source, type: 'any' })
  })

let made = 0
const createSchedules = (server: BenchServer, count: number, at: Date): Promise<void> =>
  atOnce(count, WIDTH, async () => {
    const run = { createEvent: { source: 'scheduled', type: 'any' } }
    const when = { at: at.toISOString() }
    await ask(server.client, CREATE, { project: PROJECT, name: `s-${made++}`, when, run })
  })

/** Share of one processor that the engines take while nothing is due. */
async function idleShare(engines: readonly BenchServer[]): Promise<number> {
  const total = () => engines.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0)
  const before = total()
  await delay(IDLE_MS)
  return (total() - before) / IDLE_MS / engines.length
}

const now = async (pool: pg.Pool): Promise<Date> =>
  (await pool.query<{ now: Date }>('select now()')).rows[0]?.now ?? new Date(Number.NaN)
async function count(pool: pg.Pool, source: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>('select count(*)::integer as n from event where source = $1', [
    source,
  ])
  return rows[0]?.n ?? 0
}
/** Milliseconds from that time to the creation of each event. */
async function lateness(pool: pg.Pool, source: string, since: Date): Promise<readonly number[]> {
  const { rows } = await pool.query<{ at: Date }>(
    'select o.created_at as at from event e join object o on o.id = e.object_id where e.source = $1',
    [source],
  )
  return rows.map(({ at }) => at.getTime() - since.getTime())
}

interface Measured {
  readonly schedules: number
  readonly batch: readonly number[]
  readonly fired: readonly number[]
  readonly idle: { readonly without: number; readonly with: number }
}
function sectionOf({ schedules, batch, fired, idle }: Measured): Section {
  const many = schedules.toLocaleString('en')
  const row = (what: string, late: readonly number[]): Cell[] => [
    what,
    ...[0.5, 0.99, 1].map((share) => `${(quantile(late, share) / 1_000).toFixed(1)} s`),
    schedules / (quantile(late, 1) / 1_000),
  ]
  const p99 = (late: readonly number[]): number => quantile(late, 0.99)
  const percent = (share: number): string => `${(100 * share).toFixed(2)} %`
  return {
    title: `schedules: ${many} in the same second`,
    prose: PROSE,
    table: {
      columns: ['events', 'p50', 'p99', 'last', 'a second'],
      rows: [row(`of ${many} schedules, ${ENGINES} engines`, fired), row(`created by ${WIDTH} clients at once`, batch)],
    },
    ratios: [
      `The p99 of schedules is ${(p99(fired) / p99(batch)).toFixed(2)}× that of the same creations as one batch.`,
      `An idle engine takes ${percent(idle.without)} of a processor, and ${percent(idle.with)} with ${many} schedules that are not due.`,
    ],
  }
}

const PROSE = `
One gateway and ${ENGINES} engines, each a process of its own, with one Postgres and one Redis. Each schedule has the same time, and creates an event of its
own. The batch creates as many events through the gateway. A row says how long after that time, or after the first request, events were created.
`
