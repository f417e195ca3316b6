import { expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/client/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { startTestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { createTestDatabase, type TestDatabase } from '../../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { until } from '../../testkit/wait.ts'

const PROJECT = gql(
  `mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const CREATE = gql(
  `mutation ($input: CreateScheduleInput!) { answer: createSchedule(input: $input) { ... on Schedule { id } ... on Error { message } } }`,
)
const DELETE = gql(`mutation ($id: ID!) { answer: deleteSchedule(input: { id: $id }) { __typename } }`)
const AUTHOR = gql(
  `mutation { createToken(input: { name: "author", role: USER, projects: ["ci"] }) { ... on CreatedToken { secret token { principal { id } } } } }`,
)
const FORGET = gql(`mutation ($id: ID!) { deletePrincipal(input: { id: $id }) { __typename } }`)
const FIRE = gql(`mutation ($id: ID!) { fireSchedule(input: { id: $id }) { __typename } }`)

type Input = VariablesOf<typeof CREATE>['input']
const RUN = { createEvent: { source: 'cron', type: 'any', payload: '${schedule.name} ${schedule.previous}' } }
async function created(client: Client, name: string, more: Partial<Input>): Promise<string> {
  const input = { project: 'ci', name, when: YEARLY, run: RUN, ...more }
  const { answer } = await client.query(CREATE, { input })
  if (!(answer && 'id' in answer)) throw new Error(JSON.stringify(answer))
  return answer.id ?? ''
}

const YEARLY = { cron: ['0 0 1 1 *'] }
/** All schedules, which are yearly, are due. A time that comes by itself may come before the last of them is created. */
const makeDue = ({ pool }: TestDatabase) =>
  pool.query(
    `with due as (update schedule set due = date_trunc('year', now(), 'UTC') returning object_id),
      timed as (update clock set due_at = now() where object_id in (select object_id from due) returning object_id)
     update root_queue set wake_at = now() where root_id in (select object_id from timed)`,
  )

interface Told {
  readonly name: string
  readonly outcome: string
  readonly reason: string | null
  readonly payload: string | null
  readonly kind: string | null
}
/** All firings, by schedule and time, with what they have started. */
async function told({ pool }: TestDatabase): Promise<readonly Told[]> {
  const { rows } = await pool.query<Told>(
    `select s.name, f.outcome, f.reason, e.payload, o.kind from firing f join object s on s.id = f.schedule_id
     left join object o on o.id = f.started_id left join event e on e.object_id = o.id order by s.name, f.due, f.id`,
  )
  return rows
}
const recorded = async ({ pool }: TestDatabase, reason: string): Promise<number> => {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::integer as n from phase_change c where c.kind = 'SCHEDULE' and c.reason = $1`,
    [reason],
  )
  return rows[0]?.n ?? 0
}
const made = async ({ pool }: TestDatabase, source: string): Promise<number> =>
  (await pool.query('select from event where source = $1', [source])).rowCount ?? 0

test('of many schedules due together, on two servers of which one is killed, each good one fires once and each bad one alone is refused', async () => {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase(4))
  const token = 'batch-administrator-token'
  const env = { DATABASE_URL: database.url, PHASELINE_TOKEN: token, PHASELINE_SECRET_KEY: SECRET_KEY }
  const servers = [stack.use(await startServer({ env, token })), stack.use(await startServer({ env, token }))] as const
  const { client } = servers[0]
  await client.query(PROJECT)
  // A failure that nobody foresees, in the middle of a transaction that others share.
  await database.pool.query(
    `create function poison() returns trigger language plpgsql as $$ begin raise exception 'poisoned'; end $$;
     create trigger poison before insert on event for each row when (new.source = 'poison') execute function poison()`,
  )
  const author = present((await client.query(AUTHOR)).createToken)
  const asAuthor = createClient({ url: servers[0].url, token: author.secret ?? '' })
  const event = { source: 'cron', type: 'any' }
  const kinds: readonly Partial<Input>[] = [
    { run: { createEvent: { ...event, labels: [{ key: 'no', value: '${schedule.previous}' }] } } },
    { run: { reconcileInstallation: { name: 'none' } } },
    { run: { createTask: { jobs: [{ name: 'job', gadget: 'none' }] } } },
    {},
    {},
    {},
  ]
  const EACH = 10
  for (let i = 0; i < EACH; i++) {
    await Promise.all(kinds.map((kind, k) => created(client, `k${k}-${i}`, kind)))
    await created(asAuthor, `of-author-${i}`, {})
  }
  await created(client, 'poison', { run: { createEvent: { ...event, source: 'poison' } } })
  await client.query(FORGET, { id: author.token?.principal.id ?? '' })
  expect(await told(database)).toEqual([])
  await makeDue(database)

  await until(async () => (await made(database, 'cron')) > 0, { what: 'the first have fired' })
  await servers[0].kill()
  const firings = await until(
    async () => {
      const found = await told(database)
      const open = found.filter(({ outcome }) => outcome === 'PENDING')
      return found.length === EACH * (kinds.length + 1) + 1 && open.length === 1 ? found : null
    },
    { what: 'all others are decided' },
  )
  const of = (prefix: string) => firings.filter(({ name }) => name.startsWith(prefix))
  expect(of('poison').map(({ outcome }) => outcome)).toEqual(['PENDING'])
  for (const k of [3, 4, 5])
    expect(of(`k${k}`).map(({ name, outcome, payload }) => [name, outcome, payload])).toEqual(
      of(`k${k}`).map(({ name }) => [name, 'FIRED', `${name} null`]),
    )
  expect(await made(database, 'cron')).toBe(3 * EACH)
  expect(new Set(of('k2').map(({ outcome, kind }) => `${outcome} ${kind}`))).toEqual(new Set(['FIRED TASK']))
  const refused = (prefix: string) => new Set(of(prefix).map(({ outcome, reason }) => `${outcome} ${reason}`))
  expect(refused('k0')).toEqual(new Set([expect.stringMatching(/^REFUSED .*labels\.0\.value: is no text/)]))
  expect(refused('k1')).toEqual(new Set([expect.stringMatching(/^REFUSED NOT_FOUND: /)]))
  expect(refused('of-author')).toEqual(new Set([expect.stringMatching(/^FORBIDDEN author may not create event/)]))
  const inLog = async () => [await recorded(database, 'REFUSED'), await recorded(database, 'FORBIDDEN')].join()
  await until(async () => (await inLog()) === `${2 * EACH},${EACH}`, { what: 'each refusal is in the log' })
})

test('several times of one schedule are decided together by its overlap, each after the one before', async () => {
  await using database = await createTestDatabase(2)
  await using app = await startTestApp({ env: { DATABASE_URL: database.url } })
  await app.client.query(PROJECT)
  const overlaps = ['SKIP', 'QUEUE', 'CANCEL_RUNNING', 'ALLOW'] as const
  const ids = await Promise.all(overlaps.map((overlap) => created(app.client, overlap, { overlap })))
  await database.pool.query(
    `insert into firing (id, schedule_id, cause, due, at, outcome)
     select gen_random_uuid(), s.id, 'TIME', due, now(), 'PENDING' from unnest($1::uuid[]) s(id)
     cross join generate_series(timestamptz '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', '1 hour') due`,
    [ids],
  )
  // Each search for firings follows a write.
  await app.client.query(FIRE, { id: await created(app.client, 'other', {}) })
  const firings = await until(
    async () => {
      const found = await told(database)
      return found.some(({ outcome }) => outcome === 'PENDING') ? null : found
    },
    { what: 'all are decided' },
  )
  const of = (name: string) => firings.flatMap((one) => (one.name === name ? [one.reason ?? one.outcome] : []))
  expect(of('SKIP')).toEqual(['FIRED', 'OVERLAP', 'OVERLAP'])
  expect(of('QUEUE')).toEqual(['FIRED', 'QUEUED', 'QUEUE_FULL'])
  expect(of('CANCEL_RUNNING')).toEqual(['REPLACED', 'REPLACED', 'FIRED'])
  expect(firings.flatMap(({ name, payload }) => (name === 'ALLOW' ? [payload] : []))).toEqual([
    'ALLOW null',
    'ALLOW 2026-01-01T00:00:00.000Z',
    'ALLOW 2026-01-01T01:00:00.000Z',
  ])
})

test('schedules that are deleted while they fire hold up no other', async () => {
  await using database = await createTestDatabase(2)
  await using app = await startTestApp({ env: { DATABASE_URL: database.url } })
  await app.client.query(PROJECT)
  const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => created(app.client, `s-${i}`, {})))
  await makeDue(database)
  await until(async () => (await told(database)).length > 0, { what: 'the first are due' })
  const deleted = ids.filter((_, i) => i % 3 === 0)
  await Promise.all(deleted.map((id) => app.client.query(DELETE, { id })))
  const left = ids.length - deleted.length
  await until(async () => (await told(database)).filter(({ outcome }) => outcome === 'FIRED').length === left, {
    what: 'the others have fired',
  })
  const events = await made(database, 'cron')
  expect(events).toBeGreaterThanOrEqual(left)
  expect(events).toBeLessThanOrEqual(ids.length)
})

const HOUR = 3_600_000
test('schedules that are planned together have each time once, however many it are, and those that fail hold up no other', async () => {
  await using database = await createTestDatabase(2)
  await using app = await startTestApp({ env: { DATABASE_URL: database.url } })
  await app.client.query(PROJECT)
  const many: Partial<Input> = { when: { every: { ms: HOUR } }, catchUp: 'ALL', maxCaughtUp: 100 }
  const names = Array.from({ length: 12 }, (_, i) => `many-${String(i).padStart(2, '0')}`)
  const ids = await Promise.all(names.map((name) => created(app.client, name, { ...many, overlap: 'SKIP' })))
  await database.pool.query(
    `create function poison() returns trigger language plpgsql as $$ begin raise exception 'poisoned'; end $$;
     create trigger poison before insert on firing for each row when (new.schedule_id = '${ids[0]}') execute function poison();
     create function disconnect() returns trigger language plpgsql as $$
       begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
     create trigger disconnect before insert on firing for each row when (new.schedule_id = '${ids[1]}')
       execute function disconnect()`,
  )
  // They have been due for a while: more phase writes than one transaction makes.
  await database.pool.query(
    `with due as (update schedule set due = date_trunc('hour', now()) - interval '95 hours' where object_id = any($1::uuid[]) returning object_id),
      timed as (update clock set due_at = now() where object_id in (select object_id from due) returning object_id)
     update root_queue set wake_at = now() where root_id in (select object_id from timed)`,
    [ids],
  )
  const dues = async () => {
    const { rows } = await database.pool.query<{ name: string; dues: readonly Date[] }>(
      `select s.name, array_agg(f.due order by f.due) as dues from firing f join object s on s.id = f.schedule_id
       where f.outcome <> 'PENDING' group by 1 having count(*) >= 96 order by 1`,
    )
    return rows
  }
  await until(async () => (await dues()).length === names.length - 2, { what: 'the others are planned and decided' })
  for (const { name, dues: found } of await dues()) {
    expect([names[0], names[1]]).not.toContain(name)
    const first = found[0]?.getTime() ?? 0
    expect(found.map((due) => due.getTime())).toEqual(found.map((_, i) => first + i * HOUR))
  }
  const failing = 'select from root_queue where root_id = any($1) and failures > 0'
  const delayed = async () => (await database.pool.query(failing, [ids.slice(0, 2)])).rowCount === 2
  await until(delayed, { what: 'those that fail are delayed' })
})

test('clocks of other trees run out while there are schedules', async () => {
  await using database = await createTestDatabase(2)
  await using app = await startTestApp({ env: { DATABASE_URL: database.url } })
  await app.client.query(PROJECT)
  await app.client.query(FIRE, { id: await created(app.client, 'one', {}) })
  const workers = `select w.root_id from work w join object o on o.id = w.object_id where o.kind = 'WORKER' and w.due_at is not null`
  const count = async (query: string) => (await database.pool.query(query)).rowCount ?? 0
  await until(async () => (await count(workers)) === 1, { what: 'its worker waits for a runtime' })
  await database.pool.query(`update root_queue set wake_at = now() where root_id in (${workers})`)
  const overdue = 'select from root_queue where wake_at <= now()'
  await until(async () => (await count(overdue)) === 0, { what: 'its clock is looked at' })
})
