import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../../src/client/index.ts'
import { readPages } from '../../../src/client-model/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { commandLine } from '../../cli/command.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { createTestDatabase, type TestDatabase } from '../../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

let app: TestApp
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(1)
  app = await startTestApp({ env: { DATABASE_URL: database.url } })
  await app.client.query(PROJECT)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const PROJECT = gql(
  `mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const CREATE = gql(
  `mutation ($input: CreateScheduleInput!) { answer: createSchedule(input: $input) { ... on Schedule { id } ... on Error { message } } }`,
)
const FIRE = gql(`mutation ($id: ID!) { fireSchedule(input: { id: $id }) { __typename } }`)
const BACKFILL = gql(`mutation ($input: BackfillScheduleInput!) {
  answer: backfillSchedule(input: $input) { __typename ... on Schedule { id } ... on Error { code message } }
}`)
const CANCEL = gql(
  `mutation ($id: ID!) { answer: cancelBackfill(input: { id: $id }) { __typename ... on Error { code } } }`,
)
const READ = gql(`query ($id: ID!) {
  object(id: $id) { ... on Schedule {
    firedCount firings(first: 50) { totalCount edges { node { byHand outcome started { id } } } }
    backfills(first: 10) { totalCount edges { node {
      id by state times waiting fired running skipped refused cancelledBy endedAt
      firings(first: 20) { totalCount edges { node { due outcome reason byHand started { id kind phase ... on Event { payload } } } } }
    } } }
  } }
  phaseChanges(filter: { objectId: $id }, last: 1) { edges { node { actor by message } } }
}`)
const FIRINGS = gql(`query ($id: ID!, $first: Int!, $after: String) {
  object(id: $id) { ... on Schedule { backfills(first: 1) { edges { node { firings(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { due outcome reason started { id } } }
  } } } } } }
}`)
const EVENTS = gql(`query ($project: String!, $first: Int!, $after: String) {
  objects(filter: { project: $project, kinds: [EVENT] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id ... on Event { payload } } }
  }
}`)
const DAYS = gql(`query ($id: ID!) { object(id: $id) { ... on Schedule {
  days(from: "2024-12-31T23:00:00Z", until: "2025-01-31T23:00:00Z", timeZone: "Europe/Berlin") { date fired skipped refused waiting }
} } }`)
const CANCEL_EVENT = gql(`mutation ($id: ID!) { cancelEvent(input: { id: $id }) { __typename } }`)

const RUN = { createEvent: { source: 'cron', type: 'hour', payload: '${schedule.due}' } }
/** A minute of the hour that does not come while a test runs. */
const farMinute = (): number => (new Date().getUTCMinutes() + 30) % 60
/** No time of these comes while a test runs. */
async function created(name: string, more: Partial<VariablesOf<typeof CREATE>['input']> = {}): Promise<string> {
  const input = { project: 'ci', name, when: { cron: ['0 0 1 1 *'] }, run: RUN, ...more }
  const { answer } = await app.client.query(CREATE, { input })
  if (!(answer && 'id' in answer)) throw new Error(JSON.stringify(answer))
  return answer.id ?? ''
}
type Asked = Omit<VariablesOf<typeof BACKFILL>['input'], 'id'>
const backfill = async (id: string, asked: Asked, { client }: { readonly client: Client } = app) =>
  present((await client.query(BACKFILL, { input: { id, ...asked } })).answer)
const accepted = async (id: string, asked: Asked) => {
  expect(await backfill(id, asked)).toMatchObject({ __typename: 'Schedule' })
}
async function read(id: string, { client }: { readonly client: Client } = app) {
  const { object, phaseChanges } = await client.query(READ, { id })
  if (!object?.backfills) throw new Error('gone')
  const backfills = object.backfills.edges.map(({ node }) => ({ ...node, list: node.firings.edges.map((e) => e.node) }))
  const [newest] = backfills
  return { ...object, backfills, newest: present(newest), change: phaseChanges?.edges[0]?.node }
}
async function byHandOf(id: string) {
  const { object } = await app.client.query(READ, { id })
  return object?.firings?.edges.map(({ node }) => node) ?? []
}
async function allFirings(id: string, { client }: { readonly client: Client } = app) {
  const { nodes } = present(
    await readPages(100_000, async (first, after) => {
      const { object } = await client.query(FIRINGS, { id, first, after })
      return object?.backfills?.edges[0]?.node.firings ?? null
    }),
  )
  return nodes.toReversed()
}
async function eventsOf(project: string, { client }: { readonly client: Client } = app) {
  const { nodes } = present(
    await readPages(100_000, async (first, after) => (await client.query(EVENTS, { project, first, after })).objects),
  )
  return nodes
}

test('a year of hours is a backfill, and cancelled in the middle it names what it has not started', async () => {
  await app.client.query(
    gql(`mutation { createProject(input: { name: "year", workerTemplate: { command: ["true"] } }) { __typename } }`),
  )
  const minute = farMinute()
  const hour = (n: number) => new Date(Date.UTC(2025, 0, 1, n, minute)).toISOString()
  const when = { cron: [`${minute} * * * *`], timeZone: 'Europe/Berlin' }
  const id = await created('hourly', { project: 'year', when })
  await accepted(id, { from: hour(0), until: hour(8_759), overlap: 'ALLOW' })
  const begun = await read(id)
  expect(begun.newest).toMatchObject({ state: 'RUNNING', times: 8_760, by: 'admin' })
  expect(begun.change).toMatchObject({ actor: 'USER', by: 'admin', message: expect.stringMatching(/8760 times/) })
  expect(await backfill(id, { from: '2024-01-01T00:00:00Z', until: '2024-02-01T00:00:00Z' })).toMatchObject({
    code: 'ALREADY_EXISTS',
  })
  await until(async () => (await read(id)).newest.fired >= 100, { what: 'some have started' })
  expect((await app.client.query(CANCEL, { id })).answer).toEqual({ __typename: 'Schedule' })
  const { newest, firedCount } = await read(id)
  expect(newest).toMatchObject({ state: 'CANCELLED', cancelledBy: 'admin', waiting: 0, refused: 0 })
  expect(newest.fired + newest.skipped).toBe(8_760)
  expect(firedCount).toBe(0)
  expect((await app.client.query(CANCEL, { id })).answer).toMatchObject({ code: 'NOT_FOUND' })
  const firings = await allFirings(id)
  expect(firings.map(({ due }) => due)).toEqual(Array.from({ length: 8_760 }, (_, n) => hour(n)))
  const { object } = await app.client.query(DAYS, { id })
  expect(object?.days?.slice(0, 2)).toEqual([
    { date: '2025-01-01', fired: 23, skipped: 0, refused: 0, waiting: 0 },
    { date: '2025-01-02', fired: 24, skipped: 0, refused: 0, waiting: 0 },
  ])
  expect(object?.days?.reduce((sum, { fired, skipped }) => sum + fired + skipped, 0)).toBe(23 + 30 * 24)
  // The oldest come first, and each has its event.
  expect(firings.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
    ...Array.from({ length: newest.fired }, () => 'FIRED'),
    ...Array.from({ length: newest.skipped }, () => 'CANCELLED'),
  ])
  const events = new Map((await eventsOf('year')).map(({ id, payload }) => [id, payload]))
  expect(events).toEqual(new Map(firings.slice(0, newest.fired).map(({ due, started }) => [started?.id, due])))
})

test('one runs after the other, and what has fired is passed over unless it is to fire again', async () => {
  const id = await created('yearly', { count: 5 })
  const asked = { from: '2019-01-01T00:00:00Z', until: '2021-01-01T00:00:00Z' }
  await accepted(id, asked)
  const cancelEvents = async () => {
    for (const { started } of (await read(id)).newest.list)
      if (started && started.phase !== 'CANCELED') await app.client.query(CANCEL_EVENT, { id: started.id })
  }
  for (const fired of [1, 2, 3]) {
    await until(async () => (await read(id)).newest.fired === fired, { what: `${fired} have started` })
    expect((await read(id)).newest).toMatchObject({ fired, running: 1, waiting: 3 - fired, state: 'RUNNING' })
    await cancelEvents()
  }
  await until(async () => (await read(id)).newest.state === 'ENDED', { what: 'it has ended' })
  await accepted(id, { ...asked, until: '2022-06-01T00:00:00Z', overlap: 'ALLOW' })
  await until(async () => (await read(id)).newest.fired === 1, { what: 'the new one has started' })
  expect((await read(id)).newest.list.map(({ due, reason, byHand }) => [due.slice(0, 4), reason, byHand])).toEqual([
    ...[['2022', null, false]],
    ...['2021', '2020', '2019'].map((year) => [year, 'HAS_FIRED', false]),
  ])
  await cancelEvents()
  await until(async () => (await read(id)).newest.state === 'ENDED', { what: 'it has ended' })
  await accepted(id, { ...asked, overlap: 'ALLOW', refire: true })
  await until(async () => (await read(id)).newest.fired === 3, { what: 'all have started again' })
  const found = await read(id)
  expect(found).toMatchObject({ firedCount: 0, firings: { totalCount: 0 }, backfills: { length: 3 } })
  expect(found.newest.list.map(({ started }) => started?.payload)).toEqual(found.newest.list.map(({ due }) => due))
})

test('a firing by hand goes before a backfill, which waits while automation is held', async () => {
  const id = await created('held', { overlap: 'QUEUE' })
  await app.client.query(gql('mutation { holdAutomation(input: { project: "ci", reason: "a drill" }) { __typename } }'))
  await accepted(id, { from: '2020-01-01T00:00:00Z', until: '2021-06-01T00:00:00Z' })
  await app.client.query(FIRE, { id })
  const byHand = async () => (await read(id)).firings?.edges[0]?.node
  await until(async () => (await byHand())?.outcome === 'FIRED', { what: 'people may still fire' })
  expect((await read(id)).newest).toMatchObject({ waiting: 2, fired: 0 })
  await app.client.query(CANCEL_EVENT, { id: (await byHand())?.started?.id ?? '' })
  expect((await read(id)).newest).toMatchObject({ waiting: 2, fired: 0 })
  await app.client.query(gql('mutation { releaseAutomation(input: { project: "ci" }) { __typename } }'))
  await until(async () => (await read(id)).newest.fired === 1, { what: 'it goes on' })
  await app.client.query(CANCEL, { id })
})

test('a stretch that cannot be is refused with its place', async () => {
  const id = await created('wrong', { when: { cron: ['* * * * *'] } })
  const refusalOf = async (asked: Asked) => {
    const answer = await backfill(id, asked)
    return 'message' in answer ? answer.message : JSON.stringify(answer)
  }
  const [from, soon] = ['2020-01-01T00:00:00Z', new Date(Date.now() + 3_600_000).toISOString()]
  expect(await refusalOf({ from, until: '2019-01-01T00:00:00Z' })).toMatch('input.until: must not be before from')
  expect(await refusalOf({ from, until: soon })).toMatch('input.until: must not be in the future')
  expect(await refusalOf({ from, until: '2021-01-01T00:00:00Z' })).toMatch('input.from: has more than 10000 times')
  expect(await refusalOf({ from, until: from, overlap: 'SKIP' })).toMatch('input.overlap: must be QUEUE or ALLOW')
  expect(await refusalOf({ from: soon })).toMatch('input.from: must not be in the future')
  const second = '2020-01-01T00:00:01Z'
  expect(await refusalOf({ from: second, until: second })).toMatch('input.from: has no time up to until')
})

test('a stretch before the thousand firings that are kept is refused, however old one is that runs still', async () => {
  const minute = farMinute()
  const at = (day: number, hour: number) => new Date(Date.UTC(2020, 0, day, hour, minute)).toISOString()
  const id = await created('hourly-kept', { when: { cron: [`${minute} * * * *`] } })
  await database.pool.query(
    `insert into firing (id, schedule_id, cause, due, at, outcome, started_id, ended_at)
     select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'time', due, due, 'FIRED',
       case n when 0 then $1::uuid end, case when n > 0 then due end
     from (select n, $2::timestamptz + n * interval '1 hour' as due from generate_series(0, 1100) n where n = 0 or n > 100) f`,
    [id, at(1, 0)],
  )
  const asked = { until: at(10, 0) }
  const answer = await backfill(id, { ...asked, from: at(1, 0) })
  expect('message' in answer && answer.message).toMatch(`begin at ${at(5, 5)}, or set refire`)
  await accepted(id, { ...asked, from: at(5, 5), overlap: 'ALLOW' })
  expect((await read(id)).newest).toMatchObject({ times: 116, skipped: 116 })
})

test('an earlier backfill is kept as long as only it says that a time has fired', async () => {
  const id = await created('often', {})
  await database.pool.query(
    `with written as (
       insert into backfill (id, schedule_id, first, last, overlap, refire, by, at, ended_at)
       select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, $1, t, t, 'QUEUE', false, 'ada', t, t
       from generate_series(1, 102) n, (select timestamptz '2020-01-01T00:00:00Z' as t) t returning id, at)
     insert into firing (id, schedule_id, backfill_id, cause, due, at, outcome, ended_at)
     select id, $1, id, id::text, at, at, 'FIRED', at from written w order by w.id limit 1`,
    [id],
  )
  await accepted(id, { from: '2020-01-01T00:00:00Z', until: '2020-02-01T00:00:00Z' })
  expect((await read(id)).newest).toMatchObject({ times: 1, skipped: 1 })
  const { rows } = await database.pool.query('select id from backfill where schedule_id = $1 order by id', [id])
  expect(rows.slice(0, 2).map((row) => row.id.slice(-3))).toEqual(['001', '003'])
  expect(rows).toHaveLength(102)
})

test('a firing by hand waits for what a backfill runs, and cancels none of it', async () => {
  const id = await created('cancelling', { overlap: 'CANCEL_RUNNING' })
  await accepted(id, { from: '2020-01-01T00:00:00Z', until: '2020-02-01T00:00:00Z' })
  await until(async () => (await read(id)).newest.running === 1, { what: 'the time has started' })
  await app.client.query(FIRE, { id })
  const byHand = async () => (await read(id)).firings?.edges[0]?.node.outcome
  await until(async () => (await byHand()) === 'QUEUED', { what: 'the firing waits' })
  const [started] = (await read(id)).newest.list
  expect(started?.started?.phase).not.toMatch(/CANCEL|ABORT/)
  await app.client.query(CANCEL_EVENT, { id: started?.started?.id ?? '' })
  await until(async () => (await byHand()) === 'FIRED', { what: 'it has started' })
})

test('a firing that is queued goes before a backfill whose times may overlap', async () => {
  const id = await created('queueing', { overlap: 'QUEUE' })
  const byHand = () => byHandOf(id)
  for (const outcome of ['FIRED', 'QUEUED']) {
    await app.client.query(FIRE, { id })
    await until(async () => (await byHand())[0]?.outcome === outcome, { what: `it is ${outcome}` })
  }
  await accepted(id, { from: '2018-01-01T00:00:00Z', until: '2020-02-01T00:00:00Z', overlap: 'ALLOW' })
  await app.client.query(FIRE, { id })
  await until(async () => (await byHand())[0]?.outcome === 'SKIPPED', { what: 'the schedule was decided about' })
  expect((await read(id)).newest).toMatchObject({ waiting: 3, fired: 0 })
  await app.client.query(CANCEL_EVENT, { id: (await byHand())[2]?.started?.id ?? '' })
  await until(async () => (await read(id)).newest.fired === 3, { what: 'all have started' })
  const [, queued] = await byHand()
  const { newest } = await read(id)
  // Ids are made in the order of their times.
  for (const { started } of newest.list) expect(present(started).id > present(queued?.started).id).toBe(true)
})

test('an end is recorded, however many that are older run still', async () => {
  const id = await created('many', {})
  await app.client.query(FIRE, { id })
  const started = async () => (await byHandOf(id))[0]?.started?.id
  await until(async () => (await started()) !== undefined, { what: 'its event has started' })
  await database.pool.query(
    `insert into firing (id, schedule_id, cause, due, at, outcome, started_id)
     select gen_random_uuid(), $1, n::text, due, due, 'FIRED', case when n <= 1000 then $2::uuid end
     from (select n, timestamptz '2020-01-01T00:00:00Z' + n * interval '1 hour' as due from generate_series(1, 1001) n) f`,
    [id, await started()],
  )
  const ended = async () =>
    (await database.pool.query('select cause from firing where schedule_id = $1 and ended_at is not null', [id])).rows
  await until(async () => (await ended()).length === 1, { what: 'the end is recorded' })
  expect(await ended()).toEqual([{ cause: '1001' }])
})

test('the command line backfills, shows and cancels', async () => {
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  await created('told', {})
  await created('repeated', {})
  const repeated =
    'schedule backfill ci/repeated --from 2026-01-01T00:00:00Z --until 2026-06-01T00:00:00Z --key again --json'
  const first = await phaseline(repeated)
  expect(first.out).toMatch(/"times": ?1/)
  expect((await phaseline(repeated)).out).toMatch(/"times": ?1/)
  expect((await phaseline('schedule backfill ci/repeated --cancel')).out).toMatch(/^repeated: CANCELLED/)
  expect((await phaseline('schedule backfill ci/told')).err).toMatch(/--from/)
  const { out } = await phaseline('schedule backfill ci/told --from 2020-01-01T00:00:00Z --until 2022-02-01T00:00:00Z')
  expect(out).toMatch(
    /^told: RUNNING, \d of 3 times decided.*: 2020-01-01T00:00:00.000Z to 2022-02-01T00:00:00.000Z\n$/,
  )
  expect((await phaseline('schedule get ci/told')).out).toMatch(/last backfill +RUNNING/)
  expect((await phaseline('schedule backfill ci/told --cancel')).out).toMatch(
    /^told: CANCELLED, 3 of 3 times decided, .*\d (?:fired|skipped)/,
  )
})

test('two engines and whatever is killed: each time of a backfill has one event', async () => {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase(4))
  const token = 'backfill-administrator-token'
  const env = { DATABASE_URL: database.url, PHASELINE_TOKEN: token, PHASELINE_SECRET_KEY: SECRET_KEY }
  const servers = [stack.use(await startServer({ env, token })), stack.use(await startServer({ env, token }))] as const
  const [one, two] = servers
  await one.client.query(PROJECT)
  const input = { project: 'ci', name: 'minutes', when: { cron: ['* * * * *'] }, overlap: 'SKIP' as const, run: RUN }
  const { answer } = await one.client.query(CREATE, { input })
  const id = (answer && 'id' in answer && answer.id) || ''
  const times = soak(400, 6_000)
  const last = new Date(Date.UTC(2025, 0, 1, 0, times - 1)).toISOString()
  await backfill(id, { from: '2025-01-01T00:00:00Z', until: last, overlap: 'ALLOW' }, one)
  for (let round = 1; round <= soak(3, 40); round += 1) {
    const [killed, other] = round % 2 === 0 ? [one, two] : [two, one]
    const more = Math.floor((times * round) / soak(4, 50))
    await until(async () => (await read(id, other)).newest.fired >= more, { what: `${more} have started` })
    await killed.kill()
    await killed.start()
  }
  await until(async () => (await read(id, one)).newest.waiting === 0, { what: 'all are decided' })
  const firings = await allFirings(id, one)
  expect(firings).toHaveLength(times)
  expect(new Set(firings.map(({ outcome }) => outcome))).toEqual(new Set(['FIRED']))
  const made = (await eventsOf('ci', one)).filter(({ payload }) => (payload ?? '') <= last)
  expect(new Map(made.map(({ id, payload }) => [id, payload]))).toEqual(
    new Map(firings.map(({ due, started }) => [started?.id, due])),
  )
})
