import { afterAll, beforeAll, expect, test } from 'vitest'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { verify } from '../../../src/standard-webhooks.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { until } from '../../testkit/wait.ts'

/** Rules on a whole server, and receivers that answer, fail and redirect. */

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
let app: TestApp
beforeAll(async () => {
  app = await startTestApp({
    env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8', PHASELINE_PUBLIC_URL: 'https://ops.example' },
  })
  await app.client.query(PREPARE, { secret: SECRET })
})
afterAll(() => app[Symbol.asyncDispose]())

const PREPARE = gql(`mutation ($secret: String!) {
  createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename }
  setSecret(input: { project: "ci", name: "SIGNING", value: $secret }) { __typename }
}`)
const CREATE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { __typename ... on NotificationRule { id generation } ... on Error { code message } }
}`)
const UPDATE = gql(`mutation ($input: UpdateNotificationRuleInput!) {
  answer: updateNotificationRule(input: $input) { __typename ... on NotificationRule { id generation enabled } ... on Error { code message } }
}`)
const TEST = gql(`mutation ($id: ID!) {
  answer: testNotificationRule(input: { id: $id }) { __typename ... on Notification { id state } ... on Error { code message } }
}`)
const REPLAY = gql(`mutation ($id: ID!) {
  answer: replayNotification(input: { id: $id }) { __typename ... on Notification { id state late } ... on Error { code } }
}`)
const READ = gql(`query ($id: ID!) {
  node(id: $id) { ... on NotificationRule {
    pendingCount mayRead notifications(first: 100) { totalCount edges { node { id text state attempts due problem late object { id } } } }
  } }
}`)
const EVENT = gql(`mutation ($labels: [LabelInput!]) {
  answer: createEvent(input: { project: "ci", source: "test", type: "push", labels: $labels }) { ... on CreatedEvents { events { id } } }
}`)
const SECRET_OF = gql(`mutation ($name: String!, $value: String!) {
  setSecret(input: { project: "ci", name: $name, value: $value }) { __typename }
}`)
const LOOP = gql(`mutation ($secret: String!) {
  createProject(input: { name: "loop", workerTemplate: { command: ["true"] } }) { __typename }
  setSecret(input: { project: "loop", name: "SIGNING", value: $secret }) { __typename }
  createHook(input: {
    project: "loop", name: "again", format: STANDARD_WEBHOOKS, secrets: [{ name: "first", value: $secret }]
  }) { __typename ... on Error { message } }
}`)
const EVENT_OF = gql(`mutation ($project: String!) {
  createEvent(input: { project: $project, source: "test", type: "push" }) { __typename }
}`)
const CANCEL = gql(`mutation ($id: ID!) { answer: cancelEvent(input: { id: $id }) { __typename } }`)

type Input = VariablesOf<typeof CREATE>['input']
const ENDED: Input['changes'] = { kinds: ['EVENT'], to: ['ABORTED'] }
async function rule(name: string, input: Omit<Input, 'name' | 'project'>) {
  const answer = present((await app.client.query(CREATE, { input: { project: 'ci', name, ...input } })).answer)
  if (answer.__typename !== 'NotificationRule') throw new Error(JSON.stringify(answer))
  return answer.id
}
async function newEvent(labels: readonly { key: string; value: string }[] = []): Promise<string> {
  const answer = present((await app.client.query(EVENT, { labels: [...labels] })).answer)
  return ('events' in answer && answer.events?.[0]?.id) || ''
}
async function canceledEvent(labels?: readonly { key: string; value: string }[]): Promise<string> {
  const id = await newEvent(labels)
  await app.client.query(CANCEL, { id })
  return id
}
async function read(id: string) {
  const { node } = await app.client.query(READ, { id })
  if (!node?.notifications) throw new Error('gone')
  return { ...node, messages: node.notifications.edges.map((edge) => edge.node) }
}

test('a webhook gets each matching change once, signed, with a link', async () => {
  await using receiver = await startReceiver()
  const id = await rule('signed', {
    changes: ENDED,
    receiver: { webhook: { url: receiver.url, secret: 'SIGNING' } },
  })
  const event = await canceledEvent()
  const got = await until(() => receiver.received[0], { what: 'it is posted' })
  const header = (name: string) => got.headers[name] as string
  const headers = {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
  }
  expect(verify([SECRET], headers, got.body, Date.now())).toMatchObject({ ok: true })
  expect(JSON.parse(got.body)).toMatchObject({
    type: 'object.phase_changed',
    data: {
      ...{ rule: 'signed', project: 'ci', late: false, url: `https://ops.example/tree/${event}` },
      change: { objectId: event, kind: 'EVENT', to: 'ABORTED', phaseClass: 'STOPPED' },
    },
  })
  await until(async () => (await read(id)).messages[0]?.state === 'DELIVERED', { what: 'it is delivered' })
  expect((await read(id)).messages).toEqual([
    expect.objectContaining({ id: headers.id, attempts: 1, object: { id: event }, problem: null }),
  ])
})

test('what fails is tried again, in order for each object, and holds up no other', async () => {
  await using receiver = await startReceiver()
  const id = await rule('patient', { changes: { kinds: ['EVENT'] }, receiver: { webhook: { url: receiver.url } } })
  let failing: string | null = null
  receiver.answer = ({ body }) => (JSON.parse(body).data.change.objectId === failing ? 503 : 204)
  const first = await newEvent()
  failing = first
  await app.client.query(CANCEL, { id: first })
  const other = await canceledEvent()
  const phasesOf = (object: string) =>
    receiver.received
      .filter(({ status }) => status === 204)
      .map(({ body }) => JSON.parse(body).data.change)
      .filter(({ objectId }) => objectId === object)
      .map(({ to }) => to)
  await until(() => phasesOf(other).includes('ABORTED'), { what: 'the other one is told' })
  failing = null
  await until(async () => (await read(id)).pendingCount === 0, { what: 'all are told' })
  expect(phasesOf(first)).toEqual(['PENDING', 'STARTING', 'ABORTED'])
  expect(phasesOf(other)).toEqual(['PENDING', 'STARTING', 'ABORTED'])
  const repeated = receiver.received.filter(({ body }) => JSON.parse(body).data.change.objectId === first)
  expect(new Set(repeated.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
})

test('what redirects, is private or cannot be found keeps its own messages waiting, and says why', async () => {
  await using receiver = await startReceiver()
  await using elsewhere = await startReceiver()
  receiver.answer = () => [307, { location: elsewhere.url }]
  const redirected = await rule('redirected', { changes: ENDED, receiver: { webhook: { url: receiver.url } } })
  const hidden = await rule('hidden', {
    changes: ENDED,
    receiver: { cloudEvents: { url: 'http://[::ffff:10.0.0.1]:1/' } },
  })
  const named = await rule('named', { changes: ENDED, receiver: { webhook: { url: 'http://localhost.invalid:1/' } } })
  const unsigned = await rule('unsigned', {
    changes: ENDED,
    receiver: { webhook: { url: receiver.url, secret: 'MISSING' } },
  })
  await canceledEvent()
  for (const [id, problem] of [
    [redirected, 'The receiver has answered 307, a redirect, which is not followed'],
    [hidden, expect.stringContaining('is an address of a private network, which PHASELINE_NOTIFICATION_NETWORKS')],
    [named, expect.stringContaining('ENOTFOUND')],
    [unsigned, 'The project has no secret MISSING that this server can open.'],
  ] as const) {
    const failed = async () => (await read(id)).messages.find((message) => message.problem !== null)
    // A slow answer of the name server leaves time for more attempts of the others.
    expect(await until(failed, { what: 'it has failed' })).toMatchObject({
      ...{ problem, state: 'PENDING', due: expect.any(String) },
    })
  }
  expect(elsewhere.received).toEqual([])
})

test('chats get texts, others CloudEvents, people e-mails', async () => {
  await using receiver = await startReceiver()
  await app.client.query(SECRET_OF, { name: 'CHAT', value: `${receiver.url}services/T0/B0/x` })
  const chat = await rule('chat', {
    changes: ENDED,
    receiver: { slack: { secret: 'CHAT' } },
    text: '<${change.name}> is ${change.to} (${rule.name})',
  })
  await rule('events', { changes: ENDED, receiver: { cloudEvents: { url: receiver.url } } })
  const mail = await rule('mail', { changes: ENDED, receiver: { email: { to: ['team@example.org'] } } })
  const event = await canceledEvent()
  await until(() => receiver.received.length >= 2, { what: 'both are posted' })
  const bodies = receiver.received.map(({ body }) => JSON.parse(body))
  expect(bodies).toContainEqual({
    text: expect.stringMatching(/^&lt;.+&gt; is ABORTED \(chat\)\n<https:\/\/ops\.example\/tree\//),
  })
  expect(bodies).toContainEqual(
    expect.objectContaining({ specversion: '1.0', type: 'dev.phaseline.object.phase_changed', subject: event }),
  )
  expect(receiver.received.find(({ body }) => body.includes('specversion'))?.headers['content-type']).toBe(
    'application/cloudevents+json',
  )
  await until(async () => (await read(mail)).messages[0]?.problem, { what: 'the e-mail has failed' })
  expect((await read(mail)).messages[0]?.problem).toContain('set PHASELINE_SMTP_URL')
  await until(async () => (await read(chat)).messages[0]?.state === 'DELIVERED', { what: 'the text is delivered' })
})

test('a rule with labels tells what has them; a disabled one nothing; a message is sent again', async () => {
  await using chat = await startReceiver()
  const receiver = { webhook: { url: chat.url } }
  const changes = { ...ENDED, labels: [{ key: 'team', value: 'shop' }] }
  const id = await rule('labelled', { changes, receiver })
  await canceledEvent()
  const wanted = await canceledEvent([{ key: 'team', value: 'shop' }])
  await until(async () => (await read(id)).messages[0]?.state === 'DELIVERED', { what: 'it is delivered' })
  expect((await read(id)).messages.map(({ object }) => object?.id)).toEqual([wanted])
  const message = (await read(id)).messages[0]?.id ?? ''
  expect((await app.client.query(REPLAY, { id: message })).answer).toMatchObject({ id: message, late: true })
  await until(() => chat.received.length === 2, { what: 'it comes again' })
  expect(chat.received[1]?.headers['webhook-id']).toBe(message)
  expect((await app.client.query(TEST, { id })).answer).toMatchObject({ __typename: 'Notification' })
  await until(() => chat.received.length === 3, { what: 'the test comes' })
  const input = { id, changes, receiver, enabled: false }
  expect((await app.client.query(UPDATE, { input })).answer).toMatchObject({ enabled: false, generation: 2 })
  expect((await app.client.query(TEST, { id })).answer).toMatchObject({ code: 'NOT_READY' })
  await canceledEvent([{ key: 'team', value: 'shop' }])
  await app.client.query(UPDATE, { input: { ...input, enabled: true } })
  const last = await canceledEvent([{ key: 'team', value: 'shop' }])
  await until(() => chat.received.length === 4, { what: 'the last one comes' })
  expect(JSON.parse(chat.received[3]?.body ?? '{}').data.change.objectId).toBe(last)
})

test('what cannot be is refused, with where', async () => {
  const refused = async (input: Omit<Input, 'name' | 'project'>) => {
    const { answer } = await app.client.query(CREATE, { input: { project: 'ci', name: 'wrong', ...input } })
    return answer && 'message' in answer ? answer.message : answer
  }
  const webhook = { url: 'https://example.org/' }
  expect(await refused({ receiver: {} })).toContain('input.receiver: must have one of webhook')
  expect(await refused({ receiver: { webhook: { url: 'ftp://example.org/' } } })).toContain(
    'must be an http or https URL',
  )
  expect(await refused({ receiver: { webhook: { url: 'https://a:b@example.org/' } } })).toContain('use a secret')
  expect(await refused({ receiver: { email: { to: ['a@b\nBcc: c@d'] } } })).toContain('input.receiver.email.to.0')
  expect(await refused({ receiver: { webhook }, text: '${secret.x}' })).toContain('input.text')
})

test('a rule whose hook creates what it tells comes to an end', async () => {
  await app.client.query(LOOP, { secret: SECRET })
  const url = `${app.origin}/hooks/loop/again`
  const input = {
    project: 'loop',
    name: 'again',
    changes: { kinds: ['EVENT' as const], to: ['PENDING' as const] },
    receiver: { webhook: { url, secret: 'SIGNING' } },
  }
  const created = present((await app.client.query(CREATE, { input })).answer)
  const id = created.__typename === 'NotificationRule' ? created.id : ''
  await app.client.query(EVENT_OF, { project: 'loop' })
  const refused = async () => (await read(id)).messages.find(({ problem }) => problem?.includes('HOPS'))
  await until(refused, { what: 'the chain has ended' })
  expect((await read(id)).messages.length).toBe(8)
})

test('an answer harms nobody else, and its text does not show the address of a chat', async () => {
  await using receiver = await startReceiver()
  await using chat = await startReceiver()
  await app.client.query(SECRET_OF, { name: 'TEAM', value: `${chat.url}services/T0/hidden` })
  receiver.answer = () => [500, {}, `${'x'.repeat(999)}😀 bad\0`]
  chat.answer = () => [404, {}, 'Cannot POST /services/T0/hidden']
  const bad = await rule('bad', { changes: ENDED, receiver: { webhook: { url: receiver.url } } })
  const hidden = await rule('hiding', { changes: ENDED, receiver: { slack: { secret: 'TEAM' } } })
  await canceledEvent()
  await until(async () => (await read(bad)).messages[0]?.problem, { what: 'it has failed' })
  await until(async () => (await read(hidden)).messages[0]?.problem, { what: 'it has failed' })
  expect((await read(bad)).messages[0]?.problem).toMatch(/^The receiver has answered 500: x+/)
  expect((await read(hidden)).messages[0]?.problem).toBe('The receiver has answered 404')
})
