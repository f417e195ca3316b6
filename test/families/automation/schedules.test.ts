import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../../src/client/index.ts'
import { createClient } from '../../../src/client/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { commandLine } from '../../cli/command.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { until } from '../../testkit/wait.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
  await app.client.query(CREATE_PROJECT)
})
afterAll(() => app[Symbol.asyncDispose]())

const CREATE_PROJECT = gql(
  `mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const CREATE = gql(`mutation ($input: CreateScheduleInput!) {
  answer: createSchedule(input: $input) { __typename ... on Schedule { id phase due } ... on Error { code message } }
}`)
const UPDATE = gql(`mutation ($input: UpdateScheduleInput!) {
  answer: updateSchedule(input: $input) { __typename ... on Schedule { phase due generation } ... on Error { code message } }
}`)
const FIRE = gql(
  `mutation ($id: ID!) { answer: fireSchedule(input: { id: $id }) { __typename ... on Error { code message } } }`,
)
const PAUSE = gql(`mutation ($id: ID!) {
  answer: pauseSchedule(input: { id: $id, reason: "a holiday" }) { __typename ... on Schedule { phase due pausedBecause nextTimes } ... on Error { code } }
}`)
const RESUME = gql(
  `mutation ($id: ID!) { answer: resumeSchedule(input: { id: $id }) { __typename ... on Schedule { phase due } ... on Error { code } } }`,
)
const DELETE = gql(`mutation ($id: ID!) { answer: deleteSchedule(input: { id: $id }) { __typename } }`)
const READ = gql(`query ($id: ID!) {
  object(id: $id) { phase ... on Schedule {
    firedCount firings(first: 50) { totalCount edges { node { id due at times byHand outcome reason started { id kind name phase ... on Event { payload source } } } } }
  } }
  phaseChanges(filter: { objectId: $id }, last: 50) { edges { node { from to actor by message } } }
}`)
const CANCEL = gql(`mutation ($id: ID!) { answer: cancelEvent(input: { id: $id }) { __typename } }`)
const NEXT = gql(`query ($when: ScheduleWhenInput!) { nextTimes(when: $when, first: 2) timesInWords(when: $when) }`)
const COUNT = gql(
  `query ($name: String!) { events: objects(filter: { project: "ci", kinds: [EVENT], nameContains: $name }, first: 100) { totalCount } }`,
)

type Input = VariablesOf<typeof CREATE>['input']
const EVENT = {
  createEvent: { source: 'cron', type: 'night', payload: '${schedule.name} ${schedule.due} ${schedule.count}' },
}
const MINUTE = { every: { ms: 60_000 } }
const SOON = { every: { ms: 1_000 } }

async function create(name: string, more: Partial<Input>, client: Client = app.client) {
  const input = { project: 'ci', name, when: MINUTE, run: EVENT, ...more }
  return present((await client.query(CREATE, { input })).answer)
}
async function created(name: string, more: Partial<Input>): Promise<string> {
  const answer = await create(name, more)
  if (!('id' in answer)) throw new Error(JSON.stringify(answer))
  return answer.id ?? ''
}
async function read(id: string) {
  const { object, phaseChanges } = await app.client.query(READ, { id })
  if (!object?.firings) throw new Error('gone')
  const firings = object.firings.edges.map(({ node }) => node)
  return { ...object, firings, changes: present(phaseChanges).edges.map(({ node }) => node) }
}
const untilTold = (id: string, outcome: string) =>
  until(async () => (await read(id)).firings[0]?.outcome === outcome, { what: `it is ${outcome}` })
const outcomes = async (id: string) =>
  (await read(id)).firings.map(({ outcome, reason }) => reason ?? outcome).reverse()

test('each time fires once, as a change in the log, and the event says for which', async () => {
  const id = await created('each', { when: SOON, overlap: 'ALLOW', catchUp: 'ALL', count: 3 })
  const found = await until(
    async () => {
      const now = await read(id)
      return now.phase === 'FINISHED' && now.firings.every(({ outcome }) => outcome === 'FIRED') ? now : null
    },
    { what: 'it has fired three times' },
  )
  expect(found.firedCount).toBe(3)
  expect(found.firings).toHaveLength(3)
  const dues = found.firings.map(({ due }) => due)
  expect(new Set(dues).size).toBe(3)
  for (const { due, at, started } of found.firings) {
    expect(Date.parse(due) % 1_000).toBe(0)
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(due))
    expect(started).toMatchObject({
      kind: 'EVENT',
      source: 'cron',
      payload: expect.stringMatching(`^each ${due} [123]$`),
    })
  }
  expect(found.changes.filter(({ from, to }) => from === 'ACTIVE' && to === 'ACTIVE')).toHaveLength(3)
  expect(found.changes.at(-1)).toMatchObject({ from: 'ACTIVE', to: 'FINISHED', actor: 'CONTROLLER' })
  expect(await app.client.query(DELETE, { id })).toEqual({ answer: { __typename: 'Schedule' } })
})

test('firings that overlap are skipped, queued, or take the place of what runs', async () => {
  const ids = new Map<string, string>()
  for (const overlap of ['SKIP', 'QUEUE', 'CANCEL_RUNNING', 'ALLOW'] as const)
    ids.set(overlap, await created(`overlap-${overlap}`, { overlap, when: { cron: ['0 0 1 1 *'] } }))
  const fire = async (id = '') =>
    expect(await app.client.query(FIRE, { id })).toEqual({ answer: { __typename: 'Schedule' } })
  const settled = (id: string, expected: readonly string[]) =>
    until(
      async () => {
        const found = await outcomes(id)
        return JSON.stringify(found) === JSON.stringify(expected)
      },
      { what: `${id} has ${expected}` },
    )
  for (const id of ids.values()) {
    await fire(id)
    await settled(id, ['FIRED'])
    await fire(id)
  }
  await settled(ids.get('SKIP') ?? '', ['FIRED', 'OVERLAP'])
  await settled(ids.get('ALLOW') ?? '', ['FIRED', 'FIRED'])
  const queued = ids.get('QUEUE') ?? ''
  await settled(queued, ['FIRED', 'QUEUED'])
  await fire(queued)
  await settled(queued, ['FIRED', 'QUEUED', 'QUEUE_FULL'])
  const [, , first] = (await read(queued)).firings
  await app.client.query(CANCEL, { id: first?.started?.id ?? '' })
  await settled(queued, ['FIRED', 'FIRED', 'QUEUE_FULL'])
  // The event waits for a runtime, so its cancellation ends it at once.
  const cancelled = ids.get('CANCEL_RUNNING') ?? ''
  await settled(cancelled, ['FIRED', 'FIRED'])
  expect((await read(cancelled)).firings.map(({ started }) => started?.phase)).toEqual(
    ['STARTING', 'CANCELED'].map((phase) =>
      expect.stringMatching(phase === 'CANCELED' ? /CANCELED|ABORTED/ : /PENDING|STARTING/),
    ),
  )
})

test('a paused schedule fires nothing, and names what it has skipped', async () => {
  const id = await created('paused', { when: SOON, overlap: 'ALLOW' })
  expect((await app.client.query(PAUSE, { id })).answer).toEqual({
    ...{ __typename: 'Schedule', phase: 'PAUSED', due: null, pausedBecause: 'a holiday', nextTimes: [] },
  })
  expect((await app.client.query(FIRE, { id })).answer).toMatchObject({ code: 'TRANSITION' })
  const before = (await read(id)).firings.length
  const since = Date.now()
  await until(async () => Date.now() - since > 2_100, { what: 'two times have passed' })
  expect((await read(id)).firings).toHaveLength(before)
  expect((await app.client.query(RESUME, { id })).answer).toMatchObject({ phase: 'ACTIVE', due: expect.any(String) })
  const skipped = (await read(id)).firings.find(({ reason }) => reason === 'PAUSED')
  expect(skipped?.times).toBeGreaterThanOrEqual(2)
  await app.client.query(DELETE, { id })
})

test('edits and pauses in quick succession lose no time, delayed or not', async () => {
  const spec = { when: SOON, run: EVENT, overlap: 'ALLOW' as const, jitterMs: 800 }
  const id = await created('edited', spec)
  for (let i = 0; i < 24; i += 1) {
    await app.client.query(UPDATE, { input: { id, ...spec, maxQueued: 1 + (i % 2) } })
    if (i % 8 === 4) {
      await app.client.query(PAUSE, { id })
      await app.client.query(UPDATE, { input: { id, ...spec, maxQueued: 3 } })
      await app.client.query(RESUME, { id })
    }
    await setTimeout(120)
  }
  await until(async () => (await read(id)).firings.length > 2, { what: 'some times are told' })
  const { firings } = await read(id)
  const times = firings
    .toReversed()
    .flatMap(({ due, times }) => Array.from({ length: times ?? 0 }, (_, i) => Date.parse(due) + i * 1_000))
  expect(times).toEqual(times.map((_, i) => (times[0] ?? 0) + i * 1_000))
  await app.client.query(DELETE, { id })
})

test('a schedule whose end passes while it is paused is finished, and what expressions yield has to be text', async () => {
  const end = new Date(Date.now() + 4_000).toISOString()
  const id = await created('ending', { when: { ...SOON, until: end } })
  await app.client.query(PAUSE, { id })
  await until(async () => Date.now() > Date.parse(end), { what: 'its end has passed' })
  expect((await app.client.query(RESUME, { id })).answer).toMatchObject({ phase: 'FINISHED', due: null })
  const wrong = { source: 'a', type: 'b', labels: [{ key: 'last', value: '${schedule.previous}' }] }
  const other = await created('no-text', { when: { cron: ['0 0 1 1 *'] }, run: { createEvent: wrong } })
  await app.client.query(FIRE, { id: other })
  await untilTold(other, 'REFUSED')
  expect((await read(other)).firings[0]?.reason).toMatch(/labels\.0\.value: is no text/)
})

test('a target that refuses is told once, and an edit fires nothing again', async () => {
  const id = await created('refused', {
    when: { cron: ['0 0 1 1 *'] },
    run: { reconcileInstallation: { name: 'none' } },
  })
  await app.client.query(FIRE, { id })
  await until(async () => (await read(id)).firings[0]?.outcome === 'REFUSED', { what: 'it is refused' })
  expect((await read(id)).firings[0]?.reason).toMatch(/^NOT_FOUND: /)
  const [before] = (await read(id)).firings
  const answer = present(
    (await app.client.query(UPDATE, { input: { id, when: { at: '2100-01-01T00:00:00Z' }, run: EVENT } })).answer,
  )
  expect(answer).toMatchObject({ phase: 'ACTIVE', due: '2100-01-01T00:00:00.000Z', generation: 2 })
  expect((await read(id)).firings).toEqual([before])
})

test('times and texts that cannot be are refused with their place', async () => {
  const refusalOf = async (more: Partial<Input>) => {
    const answer = await create('wrong', more)
    return 'message' in answer ? answer.message : JSON.stringify(answer)
  }
  expect(await refusalOf({ when: {} })).toMatch(/^input.when: must have one of cron, every and at/)
  expect(await refusalOf({ when: { cron: ['99 * * * *'] } })).toMatch(/input.when.cron.0: is no line of cron/)
  expect(await refusalOf({ when: { cron: ['0 0 30 2 *'] } })).toMatch('it has no time within eight years')
  expect(await refusalOf({ when: { ...MINUTE, timeZone: 'Mars/North' } })).toMatch(
    'input.when.timeZone: is no time zone',
  )
  expect(await refusalOf({ when: { every: { ms: 10 } } })).toMatch('input.when.every.ms: must be from 1000')
  expect(await refusalOf({ run: {} })).toMatch('input.run: must have one of its fields')
  expect(await refusalOf({ run: { createEvent: { source: '${imports.a}', type: 'x' } } })).toMatch(
    /input.run.createEvent.source: .*schedule/,
  )
  const { nextTimes, timesInWords } = await app.client.query(NEXT, { when: { cron: ['0 0 1 1 *'] } })
  expect(timesInWords).toBe('on day 1 of January at 00:00 in UTC')
  expect(nextTimes).toEqual([expect.stringMatching(/-01-01T00:00:00.000Z$/), expect.any(String)])
  await expect(app.client.query(NEXT, { when: { cron: ['* *'] } })).rejects.toThrow(/when.cron.0 is no line of cron/)
  expect(await refusalOf({ jitterMs: -1 })).toMatch('input.jitterMs: must be from 0')
})

test('a schedule has the rights of its editor, at each firing', async () => {
  const token = await app.client.query(
    gql(
      `mutation { createToken(input: { name: "author", role: USER, projects: ["ci"] }) { ... on CreatedToken { secret token { principal { id } } } } }`,
    ),
  )
  const made = token.createToken
  if (!made?.secret || !made.token) throw new Error('no token')
  const author = createClient({ url: app.url, token: made.secret })
  const answer = await create('of-author', { when: { cron: ['0 0 1 1 *'] }, overlap: 'ALLOW' }, author)
  if (!('id' in answer)) throw new Error(JSON.stringify(answer))
  const { id = '' } = answer
  await app.client.query(FIRE, { id })
  await until(async () => (await read(id)).firings[0]?.outcome === 'FIRED', { what: 'it has fired' })
  await app.client.query(gql(`mutation ($id: ID!) { deletePrincipal(input: { id: $id }) { __typename } }`), {
    id: made.token.principal.id,
  })
  await app.client.query(FIRE, { id })
  await until(async () => (await read(id)).firings[0]?.outcome === 'FORBIDDEN', { what: 'it is forbidden' })
  expect((await read(id)).firings[0]?.reason).toMatch(/^author may not create event/)
  expect((await app.client.query(COUNT, { name: 'event' })).events?.totalCount).toBeGreaterThan(0)
})

test('the command line applies a file, lists, shows, fires and deletes', async () => {
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const file = `kind: Schedule
name: nightly
project: ci
when: { cron: "30 2 * * *", timeZone: Europe/Berlin }
run: { createEvent: { source: cron, type: night, labels: { when: night } } }
`
  expect((await phaseline('schedule apply -f -', { stdin: file })).out).toMatch(
    /^schedule ci\/nightly created, now ACTIVE, next at /,
  )
  expect((await phaseline('schedule apply -f -', { stdin: file })).out).toMatch(
    /^schedule ci\/nightly unchanged, now ACTIVE/,
  )
  expect((await phaseline('schedule list --project ci')).out).toMatch(
    /ci +nightly +. ACTIVE +\S+ +every day at 02:30 in Berlin +createEvent/,
  )
  expect((await phaseline('schedule fire ci/nightly')).out).toBe('nightly fired, now ACTIVE\n')
  await until(async () => (await phaseline('schedule get ci/nightly')).out.includes('FIRED'), { what: 'it has fired' })
  expect((await phaseline('schedule get ci/nightly')).out).toMatch(/^generation +1, revision \d+$/m)
  // The clock of the zone stands beside each time: a line of cron is about that one.
  const berlin = String.raw`(\S+Z) {2}\d{4}-\d\d-\d\d 02:30 \+0[12]:00 Europe\/Berlin`
  expect((await phaseline('schedule get ci/nightly')).out).toMatch(
    new RegExp(`^next +${berlin}\n +${berlin}\n(?: +${berlin}\n)+phase `, 'm'),
  )
  const shown = (await phaseline('schedule get ci/nightly')).out
  expect(shown).toMatch(/^fired by itself +0 times$/m)
  expect(shown).toMatch(/^generation +1, revision \d+$/m)
  expect(
    (await phaseline('schedule next 30\u00a02\u00a0*\u00a0*\u00a0* --time-zone Europe/Berlin --count 2')).out,
  ).toMatch(new RegExp(`^${berlin}\n${berlin}\n$`))
  expect((await phaseline('schedule next @daily --count 1')).out).toMatch(/^\S+T00:00:00.000Z\n$/)
  expect((await phaseline('schedule pause ci/nightly --reason later')).out).toBe('nightly paused, now PAUSED\n')
  expect((await phaseline('schedule resume ci/nightly')).out).toBe('nightly resumed, now ACTIVE\n')
  expect((await phaseline('schedule delete ci/nightly')).code).toBe(0)
})
