import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { sign } from '../../src/standard-webhooks.ts'
import { commandLine } from '../cli/command.ts'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { describedText } from '../testkit/described.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
  await app.client.query(CREATE_PROJECT, { name: 'ci' })
})
afterAll(() => app[Symbol.asyncDispose]())

const CREATE_PROJECT = gql(
  `mutation ($name: String!) { createProject(input: { name: $name, workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const CREATE = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { __typename ... on Hook { id path generation secrets { name } signature { header } } ... on Error { code message } }
}`)
const UPDATE = gql(`mutation ($input: UpdateHookInput!) {
  answer: updateHook(input: $input) { __typename ... on Hook { generation disabled editor secrets { name } } ... on Error { code message } }
}`)
const DELETE = gql(`mutation ($id: ID!) { answer: deleteHook(input: { id: $id }) { __typename } }`)
const REPLAY = gql(`mutation ($id: ID!, $key: String) {
  answer: replayDelivery(input: { id: $id, idempotencyKey: $key }) {
    __typename ... on HookDelivery { id outcome reason started { id } replayOf { id } secretName } ... on Error { code message }
  }
}`)
const READ = gql(`query ($name: String!) {
  hook(project: "ci", name: $name) { id generation
    deliveries(first: 100) { totalCount edges { node {
      id outcome reason deliveryId headers body bodyBytes secretName hops
      started { id ... on Event { source type payload hops qualifiers { key value } labels { key value } } }
    } } } }
  phaseChanges(filter: { project: "ci" }, last: 100) { edges { node { by byId actor } } }
}`)

type Input = VariablesOf<typeof CREATE>['input']
const SECRET = "It's a Secret to Everybody"

async function create(name: string, more: Partial<Input> = {}, client = app.client): Promise<string> {
  const input = { project: 'ci', name, format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }], ...more }
  const answer = present((await client.query(CREATE, { input })).answer)
  if (!('id' in answer)) throw new Error(JSON.stringify(answer))
  return answer.id ?? ''
}
async function refusal(name: string, more: Partial<Input> = {}): Promise<string> {
  const input = { project: 'ci', name, format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }], ...more }
  const answer = present((await app.client.query(CREATE, { input })).answer)
  return 'message' in answer ? (answer.message ?? '') : answer.__typename
}

interface Answer {
  readonly deliveries: readonly {
    id: string
    outcome: string
    reason: string | null
    eventId: string | null
    deliveryId: string | null
  }[]
  readonly errors?: readonly { message: string; extensions: { code: string } }[]
}
async function post(name: string, body: string | Buffer, headers: Record<string, string>, project = 'ci') {
  const path = `/hooks/${project}/${name}`
  const response = await fetch(`${app.origin}${path}`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
    headers,
  })
  return {
    status: response.status,
    headers: response.headers,
    ...(JSON.parse(await describedText('POST', path, response)) as Answer),
  }
}
const bearer = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' }
const github = (body: string, delivery: string, event = 'push', secret = SECRET) => ({
  ...{ 'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': delivery },
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})
async function read(name: string) {
  const { hook } = await app.client.query(READ, { name })
  return present(hook).deliveries.edges.map(({ node }) => node)
}
const PUSH = JSON.stringify({
  ref: 'refs/heads/main',
  after: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
  repository: {
    full_name: 'octocat/Hello-World',
    html_url: 'https://github.com/octocat/Hello-World',
    clone_url: 'https://github.com/octocat/Hello-World.git',
  },
  pusher: { name: 'octocat' },
})

test('a push of GitHub becomes one event, with its id in the answer, however often it is delivered', async () => {
  await create('github', {
    format: 'GITHUB',
    filter: 'body.ref == "refs/heads/main"',
    event: {
      qualifiers: [{ key: 'repo', value: '${body.repository.full_name}' }],
      labels: [{ key: 'by', value: '${body.pusher.name}' }],
    },
  })
  const first = await post('github', PUSH, github(PUSH, 'd-1'))
  expect(first).toMatchObject({ status: 202, deliveries: [{ outcome: 'ACCEPTED', deliveryId: 'd-1', reason: null }] })
  const again = await post('github', PUSH, github(PUSH, 'd-1'))
  expect(again).toMatchObject({
    status: 200,
    deliveries: [{ outcome: 'DUPLICATE', eventId: first.deliveries[0]?.eventId }],
  })
  const other = PUSH.replace('heads/main', 'heads/topic')
  expect(await post('github', other, github(other, 'd-2'))).toMatchObject({
    status: 200,
    deliveries: [{ outcome: 'FILTERED', eventId: null }],
  })
  const ping = '{"zen":"Design for failure."}'
  expect(await post('github', ping, github(ping, 'd-3', 'ping'))).toMatchObject({
    status: 200,
    deliveries: [{ outcome: 'FILTERED' }],
  })
  const [pinged, filtered, duplicate, accepted] = await read('github')
  expect(accepted).toMatchObject({
    ...{ outcome: 'ACCEPTED', secretName: 'one', body: PUSH, bodyBytes: PUSH.length, hops: 0 },
    started: {
      id: first.deliveries[0]?.eventId,
      source: 'github.com/octocat/Hello-World',
      type: 'push',
      payload: PUSH,
      hops: 0,
    },
  })
  expect(accepted?.started).toMatchObject({
    qualifiers: [{ key: 'repo', value: 'octocat/Hello-World' }],
    labels: [{ key: 'by', value: 'octocat' }],
  })
  expect(Object.keys(accepted?.headers as object)).toEqual(
    expect.arrayContaining(['x-github-event', 'x-github-delivery']),
  )
  expect(JSON.stringify(accepted?.headers)).not.toContain('sha256=')
  expect([pinged, filtered, duplicate].map((each) => each?.outcome)).toEqual(['FILTERED', 'FILTERED', 'DUPLICATE'])
  const { phaseChanges } = await app.client.query(READ, { name: 'github' })
  expect(present(phaseChanges).edges.map(({ node }) => node.by)).toContain('hook:ci/github')
})

test('deliveries of one id that arrive together create one event', async () => {
  await create('together', { format: 'GITHUB' })
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('together', PUSH, github(PUSH, 'same'))))
  expect(new Set(answers.map(({ deliveries }) => deliveries[0]?.eventId)).size).toBe(1)
  expect(answers.map(({ deliveries }) => deliveries[0]?.outcome).sort()).toEqual([
    'ACCEPTED',
    ...Array(11).fill('DUPLICATE'),
  ])
  expect((await read('together')).filter(({ outcome }) => outcome === 'ACCEPTED')).toHaveLength(1)
})

test('GitHub’s published example is authentic, and a form is read like JSON', async () => {
  await create('hello', { format: 'GITHUB' })
  // "Hello, World!" with this secret: the digest that GitHub's documentation prints.
  const published = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  expect(await post('hello', 'Hello, World!', { 'x-hub-signature-256': published })).toMatchObject({
    ...{ status: 422, deliveries: [{ outcome: 'REFUSED', reason: 'The body is not JSON.' }] },
  })
  const form = new URLSearchParams({ payload: PUSH }).toString()
  const headers = { ...github(form, 'form-1'), 'content-type': 'application/x-www-form-urlencoded' }
  expect(await post('hello', form, headers)).toMatchObject({ status: 202 })
  expect((await read('hello'))[0]?.started).toMatchObject({ payload: PUSH, type: 'push' })
})

test('what is not authentic leaves no row, and looks like a hook that does not exist', async () => {
  const before = (await read('github')).length
  const answers = [
    await post('github', PUSH, github(PUSH, 'x-1', 'push', 'another secret that is long')),
    await post('github', `${PUSH} `, github(PUSH, 'x-2')),
    await post('github', PUSH, { 'x-github-event': 'push' }),
    await post('none', PUSH, github(PUSH, 'x-3')),
    await post('github', PUSH, github(PUSH, 'x-4'), 'nowhere'),
  ]
  for (const answer of answers) expect(answer).toMatchObject({ status: 401, errors: answers[0]?.errors })
  expect((await read('github')).length).toBe(before)
  const metrics = await (
    await fetch(`${app.origin}/metrics`, { headers: { authorization: `Bearer ${app.token}` } })
  ).text()
  expect(metrics).toMatch(/phaseline_hook_deliveries_total\{outcome="UNAUTHENTIC"\} [5-9]/)
  expect(metrics).toMatch(/phaseline_hook_deliveries_total\{outcome="ACCEPTED"\} [1-9]/)
})

test('a secret is replaced while both are good, and the log says which was used', async () => {
  const id = await create('rotated')
  const update = async (secrets: Input['secrets']) =>
    present((await app.client.query(UPDATE, { input: { id, format: 'GENERIC', secrets } })).answer)
  const NEW = 'another secret, for the sender'
  expect(await update([{ name: 'one' }, { name: 'two', value: NEW }])).toMatchObject({
    generation: 2,
    secrets: [{ name: 'one' }, { name: 'two' }],
  })
  const send = (secret: string) => post('rotated', '{}', { ...bearer, authorization: `Bearer ${secret}` })
  expect([(await send(SECRET)).status, (await send(NEW)).status]).toEqual([202, 202])
  expect((await read('rotated')).map(({ secretName }) => secretName)).toEqual(['two', 'one'])
  expect(await update([{ name: 'two' }])).toMatchObject({ generation: 3, secrets: [{ name: 'two' }] })
  expect([(await send(SECRET)).status, (await send(NEW)).status]).toEqual([401, 202])
  expect(await update([])).toMatchObject({ code: 'INVALID_INPUT' })
  // A secret that stays is none of the other format.
  const format = 'STANDARD_WEBHOOKS' as const
  expect(present((await app.client.query(UPDATE, { input: { id, format } })).answer)).toMatchObject({
    code: 'INVALID_INPUT',
  })
  expect(await update([{ name: 'three' }])).toMatchObject({ code: 'INVALID_INPUT' })
})

test('Standard Webhooks, GitLab, and signatures of any header', async () => {
  const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  await create('standard', { format: 'STANDARD_WEBHOOKS', secrets: [{ name: 'one', value: key }] })
  const body = '{"type":"invoice.paid","timestamp":"2026-11-27T12:00:00Z","data":{"id":"in_1"}}'
  const timestamp = Math.floor(Date.now() / 1_000)
  const signed = (at: number) => ({
    ...{ 'webhook-id': 'msg_1', 'webhook-timestamp': String(at) },
    'webhook-signature': sign([key], { id: 'msg_1', timestamp: at, body }),
  })
  expect((await post('standard', body, signed(timestamp - 400))).status).toBe(401)
  expect((await post('standard', body, signed(timestamp))).status).toBe(202)
  expect(await post('standard', body, signed(timestamp - 1))).toMatchObject({
    status: 200,
    deliveries: [{ outcome: 'DUPLICATE' }],
  })
  expect((await read('standard'))[1]?.started).toMatchObject({ source: 'standard', type: 'invoice.paid' })

  await create('gitlab', { format: 'GITLAB' })
  const push = '{"object_kind":"push","project":{"web_url":"https://gitlab.example.com/mike/diaspora"}}'
  const sent = { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Push Hook', 'x-gitlab-event-uuid': '13792a34-cac6-4fda' }
  expect((await post('gitlab', push, sent)).status).toBe(202)
  expect((await post('gitlab', push, sent)).deliveries[0]?.outcome).toBe('DUPLICATE')
  // An event that a hook has caused has the id of the first one.
  const caused = push.replace('"push"', '"pipeline"')
  expect((await post('gitlab', caused, sent)).deliveries[0]?.outcome).toBe('ACCEPTED')
  expect((await post('gitlab', push, { ...sent, 'idempotency-key': 'k-1' })).deliveries[0]).toMatchObject({
    outcome: 'ACCEPTED',
    deliveryId: 'k-1',
  })
  expect((await post('gitlab', push, { ...sent, 'x-gitlab-token': `${SECRET}x` })).status).toBe(401)
  expect((await read('gitlab')).at(-1)?.started).toMatchObject({
    source: 'gitlab.example.com/mike/diaspora',
    type: 'push',
  })

  await create('signed', {
    signature: { header: 'X-Signature', algorithm: 'SHA512', encoding: 'BASE64', prefix: 'v0=' },
    deliveryId: '${body.n}',
    event: { type: '${body.kind}', payload: '${body.kind}: ${headers["x-more"]}' },
  })
  const json = '{"kind":"ordered","n":7}'
  const signature = `v0=${createHmac('sha512', SECRET).update(json).digest('base64')}`
  expect((await post('signed', json, { 'x-signature': signature, 'x-more': 'yes' })).status).toBe(202)
  expect((await post('signed', json, { 'x-signature': signature })).deliveries[0]?.outcome).toBe('DUPLICATE')
  expect((await post('signed', json, bearer)).status).toBe(401)
  expect((await read('signed'))[1]).toMatchObject({
    deliveryId: '7',
    started: { source: 'signed', type: 'ordered', payload: 'ordered: yes' },
  })
})

test('each event of a batch of CloudEvents is a delivery, and one that is sent again brings what was refused', async () => {
  const id = await create('cloud', { format: 'CLOUDEVENTS', event: { type: '${body.data.kind}' } })
  const event = (name: string, data: object) => ({ specversion: '1.0', type: 't', source: '/a', id: name, data })
  const send = (...events: object[]) =>
    post('cloud', JSON.stringify(events), { ...bearer, 'content-type': 'application/cloudevents-batch+json' })
  const first = await send(event('1', { kind: 'x' }), event('2', {}), event('3', { kind: 'z' }))
  expect(first).toMatchObject({
    status: 422,
    deliveries: [{ outcome: 'ACCEPTED', deliveryId: '/a 1' }, { outcome: 'REFUSED' }, { outcome: 'ACCEPTED' }],
  })
  await app.client.query(UPDATE, { input: { id, format: 'CLOUDEVENTS' } })
  const again = await send(event('1', { kind: 'x' }), event('2', {}), event('3', { kind: 'z' }))
  expect(again).toMatchObject({
    status: 202,
    deliveries: [{ outcome: 'DUPLICATE' }, { outcome: 'ACCEPTED' }, { outcome: 'DUPLICATE' }],
  })
  const binary = { ...bearer, 'ce-specversion': '1.0', 'ce-type': 'com.example', 'ce-source': '/a', 'ce-id': '1' }
  // The same event in another mode.
  expect(await post('cloud', '{"kind":"x"}', binary)).toMatchObject({
    status: 200,
    deliveries: [{ outcome: 'DUPLICATE' }],
  })
  expect(await post('cloud', '{"n":1}', { ...binary, 'ce-source': '/b' })).toMatchObject({ status: 202 })
  const [last] = await read('cloud')
  expect(last?.started).toMatchObject({ source: '/b', type: 'com.example' })
  expect(JSON.parse(last?.started?.payload ?? '')).toMatchObject({ source: '/b', id: '1', data: { n: 1 } })
  expect(
    (await post('cloud', '{}', { ...bearer, 'ce-specversion': '1.0', 'ce-type': 't', 'ce-source': '/a' })).deliveries[0]
      ?.reason,
  ).toMatch(/no id/)
  const replayed = present((await app.client.query(REPLAY, { id: last?.id ?? '' })).answer)
  expect(replayed).toMatchObject({ outcome: 'ACCEPTED' })
})

test('a refused delivery spends no id, and is played again by the hook as it is then', async () => {
  const id = await create('mended', { deliveryId: '${body.id}', event: { type: '${body.kind}' } })
  const body = '{"id":"a"}'
  const refused = await post('mended', body, bearer)
  expect(refused).toMatchObject({ status: 422, deliveries: [{ outcome: 'REFUSED', deliveryId: 'a' }] })
  expect(refused.deliveries[0]?.reason).toMatch(/^The event: type: .*kind/)
  await app.client.query(UPDATE, {
    input: { id, format: 'GENERIC', deliveryId: '${body.id}', event: { type: 'fixed' } },
  })
  const of = refused.deliveries[0]?.id ?? ''
  const replayed = present((await app.client.query(REPLAY, { id: of, key: 'k' })).answer)
  expect(replayed).toMatchObject({ outcome: 'ACCEPTED', replayOf: { id: of }, secretName: null })
  const repeated = present((await app.client.query(REPLAY, { id: of, key: 'k' })).answer)
  expect(repeated).toMatchObject({ outcome: 'DUPLICATE', started: 'started' in replayed ? replayed.started : null })
  // Its sender repeats it now, and so does another person.
  expect(await post('mended', body, bearer)).toMatchObject({ status: 200, deliveries: [{ outcome: 'DUPLICATE' }] })
  expect(present((await app.client.query(REPLAY, { id: of })).answer)).toMatchObject({ outcome: 'DUPLICATE' })
  // One that was accepted is played again as often as somebody wants it.
  const accepted = 'id' in replayed ? (replayed.id ?? '') : ''
  expect(present((await app.client.query(REPLAY, { id: accepted })).answer)).toMatchObject({ outcome: 'ACCEPTED' })
  expect(present((await app.client.query(REPLAY, { id })).answer)).toMatchObject({ code: 'NOT_FOUND' })
})

test('a disabled hook keeps what arrives, and senders come again', async () => {
  const id = await create('disabled', { disabled: true, deliveryId: '${body.id}' })
  const answer = await post('disabled', '{"id":1}', bearer)
  expect(answer).toMatchObject({ status: 503, deliveries: [{ outcome: 'REFUSED' }] })
  expect(answer.headers.get('retry-after')).toBe('5')
  const kept = answer.deliveries[0]?.id ?? ''
  const replays = await Promise.all([1, 2].map(() => app.client.query(REPLAY, { id: kept })))
  expect(replays.map((each) => each.answer && 'outcome' in each.answer && each.answer.outcome).sort()).toEqual([
    ...['ACCEPTED', 'DUPLICATE'],
  ])
  await app.client.query(UPDATE, { input: { id, format: 'GENERIC', deliveryId: '${body.id}' } })
  expect(await post('disabled', '{"id":1}', bearer)).toMatchObject({ deliveries: [{ outcome: 'DUPLICATE' }] })
  expect((await post('disabled', '{"id":2}', bearer)).status).toBe(202)
})

test('deliveries without an id repeat nothing', async () => {
  await create('nameless', { deliveryId: '${has(body.id) ? body.id : null}' })
  const ids = ['{}', '{}', '{"id":""}', '{"id":""}', '{"id":1}', '{"id":1}']
  const outcomes: unknown[] = []
  for (const body of ids) outcomes.push((await post('nameless', body, bearer)).deliveries[0]?.outcome)
  expect(outcomes).toEqual([...Array(5).fill('ACCEPTED'), 'DUPLICATE'])
})

test('while slow expressions of a project keep others waiting, its senders come again', async () => {
  await app.client.query(CREATE_PROJECT, { name: 'slow' })
  await create('one', { project: 'slow', filter: 'body.n.exists(a, body.n.exists(b, a * b == -1))' })
  const slow = JSON.stringify({ n: Array.from({ length: 5_000 }, (_, i) => i) })
  // A machine that is busy counts as the reason.
  expect([422, 503]).toContain((await post('one', slow, bearer, 'slow')).status)
  // One that is answered before the next has come keeps none waiting.
  const refused = async () => {
    const answers = await Promise.all([1, 2, 3].map(() => post('one', '{"n":[]}', bearer, 'slow')))
    return answers.find(({ status }) => status === 503)
  }
  const busy = await until(refused, { what: 'some are kept waiting' })
  expect(busy.deliveries).toMatchObject([{ outcome: 'REFUSED', reason: expect.stringMatching(/^BUSY: /) }])
  expect(busy.headers.get('retry-after')).toBe('5')
})

test('a chain of notifications and hooks ends', async () => {
  await create('chain')
  const status = async (hops: string) => (await post('chain', '{}', { ...bearer, 'phaseline-hops': hops })).status
  expect([await status('7'), await status('8'), await status('many'), await status('-1')]).toEqual([202, 422, 422, 422])
  const deliveries = await read('chain')
  expect(deliveries.at(-1)).toMatchObject({ hops: 7, started: { hops: 7 } })
  expect(deliveries.at(-2)?.reason).toMatch(/^HOPS: .*8 times/)
})

/** Sends the beginning of a request, and collects the answer. */
function begin(name: string, length: number, head = ''): { socket: Socket; answer(): string } {
  const { host, hostname, port } = new URL(app.origin)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  socket.on('error', () => {})
  const token = `Authorization: Bearer ${SECRET}`
  socket.write(
    `POST /hooks/ci/${name} HTTP/1.1\r\nHost: ${host}\r\n${token}\r\n${head}Content-Length: ${length}\r\n\r\n`,
  )
  return { socket, answer: () => text }
}

test('large bodies that do not end hold up neither small ones nor other hooks, and not for long', async () => {
  await create('flooded')
  await create('quiet')
  const MIB = 1_024 * 1_024
  const open = [1, 2, 3, 4].map(() => begin('flooded', 10 * MIB))
  for (const { socket } of open) socket.write(Buffer.alloc(9 * MIB, 'x'))
  await until(() => open.some(({ answer }) => answer().includes('429')), { what: 'a refusal' })
  expect((await post('quiet', JSON.stringify({ text: 'x'.repeat(200_000) }), bearer)).status).toBe(202)
  expect((await post('flooded', '{}', bearer)).status).toBe(202)
  await until(() => open.filter(({ answer }) => answer().startsWith('HTTP/1.1 408')).length === 3, {
    what: 'the deadline',
    timeoutMs: 30_000,
  })
  for (const { socket } of open) socket.destroy()
})

test('a hook that does not exist asks for the body as one that does', async () => {
  await create('there')
  const heads: string[] = []
  for (const name of ['there', 'not-there']) {
    const { socket, answer } = begin(name, 2, 'Expect: 100-continue\r\n')
    await until(() => answer() !== '', { what: 'a request for the body' })
    heads.push(answer())
    socket.destroy()
  }
  expect(heads).toEqual(Array(2).fill('HTTP/1.1 100 Continue\r\n\r\n'))
})

test('a secret that is removed while a body arrives is none', async () => {
  const id = await create('revoked')
  const { socket, answer } = begin('revoked', 2, 'Expect: 100-continue\r\nConnection: close\r\n')
  await until(() => answer() !== '', { what: 'a request for the body' })
  const secrets = [{ name: 'two', value: 'another secret, for the sender' }]
  await app.client.query(UPDATE, { input: { id, format: 'GENERIC', secrets } })
  socket.write('{}')
  await once(socket, 'close')
  expect(answer()).toContain('HTTP/1.1 401')
})

test('headers by which proxies know their callers are not kept', async () => {
  await create('proxied')
  await post('proxied', '{}', {
    ...bearer,
    'x-goog-iap-jwt-assertion': 'eyJ',
    'x-amz-security-token': 't',
    'x-more': 'y',
  })
  const headers = JSON.stringify((await read('proxied'))[0]?.headers)
  expect(headers).toMatch(/x-more/)
  expect(headers).not.toMatch(/assertion|security-token|authorization/)
})

test('bounds are named with their numbers', async () => {
  await create('bounds')
  const big = JSON.stringify({ text: 'x'.repeat(600_000) })
  expect(await post('bounds', big, bearer)).toMatchObject({
    status: 413,
    deliveries: [{ reason: expect.stringContaining('524288 bytes') }],
  })
  const bigger = `{"broken": ${'x'.repeat(5_000_000)}`
  expect(await post('bounds', bigger, bearer)).toMatchObject({
    status: 413,
    deliveries: [{ reason: expect.stringContaining('4194304') }],
  })
  expect(await post('bounds', 'x'.repeat(10 * 1_024 * 1_024 + 1), bearer)).toMatchObject({
    ...{ status: 413, errors: [{ message: expect.stringContaining('10485760'), extensions: { code: 'TOO_LARGE' } }] },
  })
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  await create('deep', { format: 'CLOUDEVENTS' })
  expect((await post('deep', deep, { ...bearer, 'content-type': 'application/cloudevents+json' })).status).toBe(422)
  expect((await post('bounds', Buffer.from([0xff, 0xfe]), bearer)).status).toBe(422)
  expect((await post('bounds', 'a\0b', bearer)).status).toBe(422)
  expect((await fetch(`${app.origin}/hooks/ci/bounds`)).status).toBe(405)
  const asked = await fetch(`${app.origin}/hooks/ci/deep`, {
    ...{ method: 'OPTIONS', headers: { 'webhook-request-origin': 'eventemitter.example.com' } },
  })
  expect([asked.status, asked.headers.get('webhook-allowed-origin')]).toEqual([200, '*'])
})

test('specs are judged when they are written', async () => {
  expect(await refusal('bad', { filter: 'body.' })).toMatch(/input.filter/)
  expect(await refusal('bad', { filter: 'imports.x' })).toMatch(/headers, body/)
  expect(await refusal('bad', { filter: 'true} ${true' })).toMatch(/input.filter/)
  expect(await refusal('bad', { event: { type: '${body.' } })).toMatch(/input.event.type/)
  expect(await refusal('bad', { event: { type: '*' } })).toMatch(/input.event.type/)
  expect(await refusal('bad', { secrets: [] })).toMatch(/input.secrets/)
  expect(await refusal('bad', { secrets: [{ name: 'a', value: 'short' }] })).toMatch(/16 characters/)
  expect(await refusal('bad', { secrets: [{ name: 'a' }] })).toMatch(/is missing/)
  expect(await refusal('bad', { secrets: [{ name: 'a', value: 'geheim für alle anderen' }] })).toMatch(/ASCII/)
  expect(await refusal('bad', { format: 'STANDARD_WEBHOOKS' })).toMatch(/base64/)
  expect(await refusal('bad', { format: 'GITHUB', signature: { header: 'x' } })).toMatch(/input.signature/)
  expect(await refusal('bad', { signature: { header: 'x y' } })).toMatch(/name of a header/)
  expect(await refusal('github', {})).toMatch(/already/)
  for (const message of [await refusal('bad', { secrets: [{ name: 'a', value: `${SECRET}\n` }] })])
    expect(message).not.toContain(SECRET)
})

const TOKEN = gql(
  `mutation { createToken(input: { name: "editor", role: USER, projects: ["ci"] }) { ... on CreatedToken { secret token { principal { id } } } } }`,
)
const DROP = gql(`mutation ($id: ID!) { deletePrincipal(input: { id: $id }) { __typename } }`)

test('a hook acts with the rights of its last editor, as they are at each delivery', async () => {
  const made = (await app.client.query(TOKEN)).createToken
  if (!made?.secret || !made.token) throw new Error('no token')
  await using client = createClient({ url: app.url, token: made.secret })
  await create('theirs', {}, client)
  expect((await post('theirs', '{}', bearer)).status).toBe(202)
  await app.client.query(DROP, { id: made.token.principal.id })
  const lost = await post('theirs', '{}', bearer)
  expect(lost).toMatchObject({ status: 403, deliveries: [{ outcome: 'FORBIDDEN' }] })
  expect((await read('theirs'))[0]?.reason).toMatch(/editor may not/)
  const { hook } = await app.client.query(READ, { name: 'theirs' })
  await app.client.query(UPDATE, { input: { id: hook?.id ?? '', format: 'GENERIC' } })
  expect((await post('theirs', '{}', bearer)).status).toBe(202)
})

test('a project without worker template refuses, and a deleted hook is gone with its deliveries', async () => {
  await app.client.query(gql(`mutation { createProject(input: { name: "bare" }) { __typename } }`))
  const input = { project: 'bare', name: 'one', format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }] }
  const made = present((await app.client.query(CREATE, { input })).answer)
  expect(await post('one', '{}', bearer, 'bare')).toMatchObject({
    status: 422,
    deliveries: [{ reason: expect.stringContaining('worker template') }],
  })
  const id = 'id' in made ? (made.id ?? '') : ''
  expect(await app.client.query(DELETE, { id })).toEqual({ answer: { __typename: 'DeletedHook' } })
  expect((await post('one', '{}', bearer, 'bare')).status).toBe(401)
  expect(await app.client.query(gql(`mutation { deleteProject(input: { name: "bare" }) { __typename } }`))).toEqual({
    deleteProject: { __typename: 'DeletedProject' },
  })
})

test('the command line applies a hook, shows what it got, plays it again, switches it off and deletes it', async () => {
  const phaseline = commandLine({
    PHASELINE_URL: app.url,
    PHASELINE_TOKEN: app.token,
    HOOK_SECRET: SECRET,
    HOOK_TOKEN: 'ghp_1234567890123456',
  })
  const file = `kind: Hook
name: shop
project: ci
format: GENERIC
secrets: [{ name: first, env: HOOK_SECRET }]
filter: body.paid
event: { type: "\${body.kind}", labels: { by: "\${headers['x-by']}" } }
`
  const applied = await phaseline('hook apply -f -', { stdin: file })
  expect(applied).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^hook ci\/shop created, deliveries go to http.*\/hooks\/ci\/shop$/m),
  })
  expect((await post('shop', '{"paid":true,"kind":"order"}', { ...bearer, 'x-by': 'shop' })).status).toBe(202)
  const refused = await post('shop', '{"paid":true}', { ...bearer, 'x-by': 'shop' })
  const id = refused.deliveries[0]?.id ?? ''
  expect((await phaseline('hook list --project ci')).out).toMatch(/ci +shop +GENERIC .*REFUSED/)
  const got = (await phaseline('hook get ci/shop')).out
  expect(got).toMatch(/ACCEPTED.*event-/)
  expect(got).toMatch(/^source +shop {2}\(of the format\)$/m)
  expect(got).toMatch(/^type +\$\{body\.kind\}$/m)
  const shown = (await phaseline(`hook delivery ${id}`)).out
  expect(shown).toMatch(/x-by: shop[\s\S]*\{"paid":true\}/)
  // One header a line.
  expect(shown).toMatch(/^headers +\S+: .*\n(?: +\S+: .*\n)*? +x-by: shop$/m)
  expect(shown).not.toContain(SECRET)
  const exported = (await phaseline('hook export ci/shop')).out
  expect(exported).not.toContain(SECRET)
  // It is what is applied: secrets that are only named stay.
  expect(await phaseline('hook apply -f -', { stdin: exported.replace('${body.kind}', 'bought') })).toMatchObject({
    code: 0,
  })
  expect((await phaseline(`hook replay ${id}`)).out).toMatch(/ACCEPTED, event event-/)
  // A repetition has no body of its own, and never had one.
  const once = file.replace('filter:', 'deliveryId: ${headers["x-id"]}\nfilter:').replaceAll('body.kind', "'x'")
  // A text without an expression is one id for all deliveries.
  const constant = await phaseline('hook apply -f -', { stdin: once.replace('${headers["x-id"]}', 'headers["x-id"]') })
  expect(constant).toMatchObject({ code: 2, err: expect.stringContaining('deliveryId: holds no ${…}') })
  expect(await phaseline('hook apply -f -', { stdin: once })).toMatchObject({ code: 0 })
  const [, repeated] = [
    await post('shop', '{"paid":true}', { ...bearer, 'x-by': 'shop', 'x-id': '1' }),
    await post('shop', '{"paid":true}', { ...bearer, 'x-by': 'shop', 'x-id': '1' }),
  ].map(({ deliveries }) => deliveries[0]?.id ?? '')
  expect((await phaseline(`hook delivery ${repeated}`)).out).toContain('is kept with the delivery that it repeats')
  expect((await phaseline(`hook replay ${repeated}`)).err).toMatch(
    /It repeats the delivery [\da-f-]+\. Play that one again\./,
  )
  expect((await phaseline('hook disable shop --project ci')).out).toBe('ci/shop disabled\n')
  expect((await post('shop', '{"paid":true}', { ...bearer, 'x-by': 'shop' })).status).toBe(503)
  expect((await phaseline('hook enable shop --project ci')).out).toBe('ci/shop enabled\n')
  expect((await post('shop', '{"paid":true}', { ...bearer, 'x-by': 'shop', 'x-id': '2' })).status).toBe(202)
  expect((await phaseline('hook apply -f -', { stdin: file.replace('body.paid', 'body.') })).err).toMatch(
    /<stdin>:6:\d+/,
  )
  const again = `kind: Hook
name: asked
project: ci
format: GITHUB
secrets: [{ name: first, env: HOOK_SECRET }]
redelivery: { address: "https://api.github.com/repos/acme/shop/hooks/1", token: { env: HOOK_SECRET } }
`
  expect(await phaseline('hook apply -f -', { stdin: again.replace('HOOK_SECRET', 'NONE') })).toMatchObject({ code: 2 })
  expect(await phaseline('hook apply -f -', { stdin: again.replace('HOOK_SECRET }\n', '') })).toMatchObject({ code: 2 })
  expect(await phaseline('hook apply -f -', { stdin: again.replaceAll('HOOK_SECRET', 'HOOK_TOKEN') })).toMatchObject({
    code: 0,
  })
  const manifest = (await phaseline('hook export ci/asked')).out
  expect(manifest).toContain('address: https://api.github.com/repos/acme/shop/hooks/1')
  expect(await phaseline('hook apply -f -', { stdin: manifest })).toMatchObject({ code: 0 })
  expect(await phaseline('hook disable ci/asked')).toMatchObject({ code: 0 })
  expect((await phaseline('hook get ci/asked')).out).toMatch(/asks again +https:.*not yet/)
  expect((await phaseline('hook delete ci/shop --yes')).out).toBe('ci/shop deleted\n')
  expect(await phaseline('hook get ci/shop')).toMatchObject({ code: 3 })
})
