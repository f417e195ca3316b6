import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { until } from '../../testkit/wait.ts'

/** Rules that collect changes, or are quiet at times, on a whole server. */

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' } })
  await app.client.query(
    gql(`mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`),
  )
})
afterAll(() => app[Symbol.asyncDispose]())

const CREATE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) {
    __typename ... on Error { code message }
    ... on NotificationRule { id digest { windowMs } quietHours { timeZone ranges { days from to } } urgent }
  }
}`)
const UPDATE = gql(`mutation ($input: UpdateNotificationRuleInput!) {
  answer: updateNotificationRule(input: $input) { __typename ... on Error { code message } }
}`)
const TEST = gql(`mutation ($id: ID!) { answer: testNotificationRule(input: { id: $id }) { __typename } }`)
const READ = gql(`query ($id: ID!) {
  node(id: $id) { ... on NotificationRule { notifications(first: 100) { edges { node {
    id text state attempts due problem changeCount sequence object { id }
  } } } } }
}`)
const EVENT = gql(
  `mutation { answer: createEvent(input: { project: "ci", source: "test", type: "push" }) { ... on CreatedEvents { events { id } } } }`,
)
const CANCEL = gql(`mutation ($id: ID!) { answer: cancelEvent(input: { id: $id }) { __typename } }`)

type Input = VariablesOf<typeof CREATE>['input']
const CHANGES: Input['changes'] = { kinds: ['EVENT'], to: ['PENDING', 'ABORTED'] }
async function rule(name: string, input: Omit<Input, 'name' | 'project'>) {
  const answer = present((await app.client.query(CREATE, { input: { project: 'ci', name, ...input } })).answer)
  if (answer.__typename !== 'NotificationRule') throw new Error(JSON.stringify(answer))
  return answer.id
}
async function newEvent(): Promise<string> {
  const answer = present((await app.client.query(EVENT)).answer)
  return ('events' in answer && answer.events?.[0]?.id) || ''
}
async function messagesOf(id: string) {
  const { node } = await app.client.query(READ, { id })
  return node?.notifications?.edges.map((edge) => edge.node) ?? []
}
/** From two hours ago until two hours from now. */
function aroundNow(): NonNullable<Input['quietHours']> {
  const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  return { timeZone: 'UTC', ranges: [{ from: time(-2), to: time(2) }] }
}
const told = (body: string) => {
  const { data } = JSON.parse(body)
  return `${data.change.objectId} ${data.change.to}`
}

test('a digest tells the changes of its window in one message, each once and in order', async () => {
  await using receiver = await startReceiver()
  const id = await rule('collects', {
    changes: CHANGES,
    digest: { windowMs: 3_000 },
    receiver: { webhook: { url: receiver.url } },
    // The first change of an object is from nothing.
    text: '${change.from}>${change.to} ${change.name}',
  })
  const events: string[] = []
  for (let i = 0; i < 7; i += 1) {
    const event = await newEvent()
    events.push(event)
    await app.client.query(CANCEL, { id: event })
  }
  const changes = () => receiver.received.flatMap(({ body }) => JSON.parse(body).data.changes)
  await until(() => changes().length >= 14, { what: 'all are told' })
  expect(receiver.received.length).toBeLessThan(5)
  for (const event of events)
    expect(changes().flatMap(({ objectId, to }) => (objectId === event ? [to] : []))).toEqual(['PENDING', 'ABORTED'])
  const first = JSON.parse(receiver.received[0]?.body ?? '{}')
  expect(first).toMatchObject({ type: 'notification.digest', data: { rule: 'collects', omitted: 0 } })
  const lines = first.data.text.split('\n')
  // A window may end after its first change.
  const count = first.data.changes.length
  expect(lines[0]).toBe(count === 1 ? '1 change:' : `${count} changes:`)
  expect(lines.slice(1)).toEqual(
    first.data.changes.map(
      ({ from, to, name }: { from: string | null; to: string; name: string }) => `${from ?? ''}>${to} ${name}`,
    ),
  )
  await until(async () => (await messagesOf(id)).every(({ state }) => state === 'DELIVERED'), {
    what: 'all are delivered',
  })
  const messages = await messagesOf(id)
  expect(messages.reduce((sum, { changeCount }) => sum + changeCount, 0)).toBe(14)
  expect(messages.at(-1)?.text).toMatch(/ changes?:/)
})

test('a digest that cannot be delivered keeps its order, and the next one collects behind it', async () => {
  await using receiver = await startReceiver()
  let answers = 503
  receiver.answer = () => answers
  const id = await rule('patient', {
    changes: CHANGES,
    digest: { windowMs: 1_000 },
    receiver: { webhook: { url: receiver.url } },
  })
  const first = await newEvent()
  await until(() => receiver.received.length > 0, { what: 'the first one is tried' })
  const behind = [await newEvent(), await newEvent()]
  await until(async () => (await messagesOf(id))[0]?.changeCount === 2, { what: 'the others are in one digest' })
  expect((await messagesOf(id)).map(({ due }) => due === null)).toEqual([true, false])
  answers = 204
  await until(() => receiver.received.filter(({ status }) => status === 204).length === 2, { what: 'both arrive' })
  const arrived = receiver.received
    .filter(({ status }) => status === 204)
    .map(({ body }) => JSON.parse(body).data.changes)
  expect(arrived.map((changes) => changes.map(({ objectId }: { objectId: string }) => objectId))).toEqual([
    [first],
    behind,
  ])
})

test('in quiet hours messages wait, what is urgent takes along what waits before it, and an edit lets the others go', async () => {
  await using receiver = await startReceiver()
  const settings = { changes: CHANGES, receiver: { webhook: { url: receiver.url } } }
  const quiet = { ...settings, quietHours: aroundNow(), urgent: ['STOPPED' as const] }
  const id = await rule('quiet', quiet)
  const [urgent, other] = [await newEvent(), await newEvent()]
  await until(async () => (await messagesOf(id)).length === 2, { what: 'both are written' })
  for (const { state, due, attempts } of await messagesOf(id)) {
    expect([state, attempts]).toEqual(['PENDING', 0])
    expect(Date.parse(due ?? '') - Date.now()).toBeGreaterThan(3_600_000)
  }
  await app.client.query(CANCEL, { id: urgent })
  await until(() => receiver.received.length === 2, { what: 'the urgent one has come' })
  expect(receiver.received.map(({ body }) => told(body))).toEqual([`${urgent} PENDING`, `${urgent} ABORTED`])
  expect((await app.client.query(TEST, { id })).answer?.__typename).toBe('Notification')
  await until(() => receiver.received.length === 3, { what: 'the test has come' })
  expect((await app.client.query(UPDATE, { input: { id, ...settings } })).answer?.__typename).toBe('NotificationRule')
  await until(() => receiver.received.length === 4, { what: 'the other one has come' })
  expect(told(receiver.received[3]?.body ?? '')).toBe(`${other} PENDING`)
})

test('an attempt that comes in quiet hours waits, too, and is not counted; an urgent change sends a digest at once', async () => {
  await using receiver = await startReceiver()
  receiver.answer = () => [503, { 'retry-after': '8' }]
  const settings = { changes: CHANGES, receiver: { webhook: { url: receiver.url } } }
  const id = await rule('night', settings)
  await newEvent()
  await until(async () => (await messagesOf(id))[0]?.problem, { what: 'it has failed' })
  await app.client.query(UPDATE, { input: { id, ...settings, quietHours: aroundNow() } })
  const far = async () => {
    const [message] = await messagesOf(id)
    return Date.parse(message?.due ?? '') - Date.now() > 3_600_000 && message
  }
  expect(await until(far, { what: 'it waits for the morning' })).toMatchObject({ attempts: 1, state: 'PENDING' })
  expect(receiver.received.length).toBe(1)
  await using digests = await startReceiver()
  const both = { digest: { windowMs: 3_600_000 }, quietHours: aroundNow(), urgent: ['STOPPED' as const] }
  await rule('both', { changes: CHANGES, receiver: { webhook: { url: digests.url } }, ...both })
  const [one, two] = [await newEvent(), await newEvent()]
  await app.client.query(CANCEL, { id: two })
  await until(() => digests.received.length > 0, { what: 'the digest has come' })
  const { changes } = JSON.parse(digests.received[0]?.body ?? '{}').data
  expect(changes.map(({ objectId, to }: { objectId: string; to: string }) => [objectId, to])).toEqual([
    [one, 'PENDING'],
    [two, 'PENDING'],
    [two, 'ABORTED'],
  ])
})

test('what cannot be is refused, with where', async () => {
  const refused = async (input: Partial<Input>) => {
    const receiver = { webhook: { url: 'https://example.org/' } }
    const { answer } = await app.client.query(CREATE, { input: { project: 'ci', name: 'wrong', receiver, ...input } })
    return answer && 'message' in answer ? answer.message : answer
  }
  expect(await refused({ digest: { windowMs: 10 } })).toContain('input.digest.windowMs')
  expect(await refused({ urgent: ['FAILED'] })).toContain('input.urgent')
  expect(await refused({ quietHours: { ranges: [{ from: '9', to: '17:00' }] } })).toContain(
    'input.quietHours.ranges.0.from',
  )
})
