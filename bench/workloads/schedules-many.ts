import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { ask } from '../../test/testkit/ask.ts'
import { MUTATIONS } from '../../test/testkit/documents.ts'
import { gql } from '../../test/testkit/gql.ts'
import { cpuOfTree, postmasterOf } from '../cpu.ts'
import { type BenchContext, type Section, startRedis, startServer, type Workload } from '../harness.ts'

const SIZE = 100_000
/** Schedules that are due in one second, by turns. */
const DUE = [1, 10, 100, 1_000, 10_000]
const WARM_UP = 200
const IDLE_MS = 30_000
const SOON_MS = 3_000
const CREATE = gql(`mutation ($input: CreateScheduleInput!) {
  answer: createSchedule(input: $input) { __typename ... on Schedule { id } ... on Error { message } }
}`)

export const workload: Workload = { name: 'schedules:many', run }

async function run({ postgres, log, size: asked }: BenchContext): Promise<Section> {
  const size = asked ?? SIZE
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('schedules-many')
  stack.defer(() => postgres.dropDatabase('schedules-many'))
  const { url: redisUrl } = stack.use(await startRedis({ aof: 'no' }))
  const env = { PHASELINE_SECRET_KEY: randomBytes(32).toString('base64') }
  const shared = { databaseUrl, redisUrl, env, token: randomBytes(24).toString('base64url') }
  const gateway = stack.use(await startServer({ ...shared, roles: ['gateway'] }))
  const engine = stack.use(await startServer({ ...shared, roles: ['engine'] }))
  const pool = stack.adopt(new pg.Pool({ connectionString: databaseUrl, max: 2 }), (one) => one.end())
  const postmaster = await postmasterOf(databaseUrl)
  const look = (): Spent => ({ at: performance.now(), engine: cpuOfTree(engine.pid), postgres: cpuOfTree(postmaster) })
  const during = async (work: () => Promise<unknown>): Promise<Spent> => {
    const before = look()
    await work()
    const after = look()
    return {
      at: after.at - before.at,
      engine: after.engine - before.engine,
      postgres: after.postgres - before.postgres,
    }
  }

  await ask(gateway.client, MUTATIONS.createProject, { name: 'bench', workerTemplate: { command: ['true'] } })
  const when = { at: '2100-01-01T00:00:00Z' }
  const create = { project: 'bench', name: 'first', when, run: { createEvent: { source: 'scheduled', type: 'any' } } }
  const { id = '' } = await ask(gateway.client, CREATE, create)
  await copy(pool, id, WARM_UP)
  await fire(pool, WARM_UP)
  await copy(pool, id, 1)
  log('  warm')
  const without = await during(() => delay(IDLE_MS))
  await copy(pool, id, size)
  await pool.query('vacuum analyze')
  await postgres.checkpoint()
  await delay(5_000)
  log(`  ${size.toLocaleString('en')} schedules`)
  const idle = await during(() => delay(IDLE_MS))
  const seconds: Second[] = []
  for (const due of DUE.filter((due) => due <= size)) {
    let late = Number.NaN
    const spent = await during(async () => {
      late = await fire(pool, due)
    })
    const share = (of: 'engine' | 'postgres') => Math.max(0, spent[of] - (idle[of] / idle.at) * spent.at)
    seconds.push({ due, late, engine: share('engine'), postgres: share('postgres') })
    log(`  ${due.toLocaleString('en')} due`)
    await copy(pool, id, due)
  }
  return sectionOf({ size, without, idle, seconds })
}

/** Milliseconds of the processor, in so many of the clock. */
interface Spent {
  readonly at: number
  readonly engine: number
  readonly postgres: number
}
interface Second extends Omit<Spent, 'at'> {
  readonly due: number
  /** Milliseconds until the last event was created. */
  readonly late: number
}

let copies = 0
/** More schedules, each a copy of this one's rows. */
async function copy(pool: pg.Pool, id: string, count: number): Promise<void> {
  const from = copies
  copies += count
  const of = (table: string, key: string, values: string) =>
    `insert into ${table} select (jsonb_populate_record(t, ${values})).* from copied c, ${table} t where t.${key} = '${id}'`
  await pool.query(`begin;
    create temp table copied on commit drop as
      select gen_random_uuid() as id, 'copy-' || n as name from generate_series(${from + 1}, ${copies}) n;
    ${of('object', 'id', `jsonb_build_object('id', c.id, 'root_id', c.id, 'name', c.name)`)};
    ${of('object_spec', 'object_id', `jsonb_build_object('object_id', c.id)`)};
    ${of('schedule', 'object_id', `jsonb_build_object('object_id', c.id)`)};
    ${of('clock', 'object_id', `jsonb_build_object('object_id', c.id, 'root_id', c.id)`)};
    ${of('root_queue', 'root_id', `jsonb_build_object('root_id', c.id)`)};
    commit`)
}

let fired = 0
/** The next so many are due at once. Resolves when nothing is left to decide, to the milliseconds until the last event was created. */
async function fire(pool: pg.Pool, count: number): Promise<number> {
  const names = Array.from({ length: count }, (_, i) => `copy-${fired + i + 1}`)
  fired += count
  const due = new Date(Date.now() + SOON_MS)
  await pool.query(
    `with chosen as (select id from object where kind = 'SCHEDULE' and name = any($1)),
       due as (update schedule set due = $2 where object_id in (select id from chosen)),
       timed as (update clock set due_at = $2 where object_id in (select id from chosen))
     update root_queue set wake_at = $2 where root_id in (select id from chosen)`,
    [names, due],
  )
  const left = async (): Promise<number> => {
    const { rows } = await pool.query<{ n: number }>(
      `select (select count(*) from wake) + (select count(*) from root_queue where wake_at <= now())
         + $1 - (select count(*) from event) as n`,
      [fired],
    )
    return Number(rows[0]?.n)
  }
  while (Date.now() < due.getTime() || (await left()) > 0) await delay(250)
  const { rows } = await pool.query<{ ms: number }>(
    'select extract(epoch from max(created_at) - $1)::float8 * 1000 as ms from object where kind = $2',
    [due, 'EVENT'],
  )
  return rows[0]?.ms ?? Number.NaN
}

interface Measured {
  readonly size: number
  readonly without: Spent
  readonly idle: Spent
  readonly seconds: readonly Second[]
}
function sectionOf({ size, without, idle, seconds }: Measured): Section {
  const many = size.toLocaleString('en')
  const shareOf = (spent: Spent, of: 'engine' | 'postgres') => `${((100 * spent[of]) / spent.at).toFixed(2)} %`
  return {
    title: `schedules:many: a second of ${many} schedules`,
    prose: PROSE,
    table: {
      columns: ['due in the same second', 'the last after, s', 'processor, s', 'ms a firing: engine', 'Postgres'],
      rows: seconds.map(({ due, late, engine, postgres }) => [
        ...[due.toLocaleString('en'), late / 1_000, (engine + postgres) / 1_000, engine / due, postgres / due],
      ]),
    },
    ratios: [
      `While none of ${many} is due, the engine takes ${shareOf(idle, 'engine')} of a processor and Postgres ${shareOf(idle, 'postgres')}; with one schedule ${shareOf(without, 'engine')} and ${shareOf(without, 'postgres')}.`,
    ],
  }
}

const PROSE = `
One gateway and one engine, each a process of its own, with one Postgres and one Redis. All schedules but one are copies of its rows. Each that is
due creates an event. Processor time is that beyond an idle one, until each event and its worker are decided.
`
