import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_HOOK_BODY } from '../../src/core/hook.ts'
import { MAX_BODY } from '../../src/graphql/schema/limits.ts'
import { SIGN_IN_BODY } from '../../src/server/endpoints/endpoints.ts'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { openapi, requireDescribed, unseen } from '../testkit/described.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startSwitch } from '../testkit/own-postgres.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { call } from './call.ts'

/** Each endpoint of openapi.json on a real server: `call` compares status, content type and body, and here each status comes up. */

const ORIGIN = 'https://pages.example.org'
const SECRET = 'a-secret-of-a-hook'
const HOOK = '/hooks/website/build'
const KEY = `pl_page_${'k'.repeat(43)}`
const QUERY = '{ viewer { name } }'
const JSON_BODY = { 'content-type': 'application/json' }
const SENDER = { authorization: `Bearer ${SECRET}`, ...JSON_BODY }

let app: TestApp
let port: number
let admin: Record<string, string>
let reviewer: Record<string, string>
/** May read metrics, and no log. */
let monitor: Record<string, string>
beforeAll(async () => {
  // Without agents, so that work stands where the examples have it.
  app = await startTestApp({ env: { PHASELINE_ALLOWED_ORIGINS: ORIGIN, PHASELINE_ROLES: 'gateway,engine' } })
  port = portOf(app)
  admin = bearer(app.token)
  const tokenOf = async (name: string, role: 'ADMIN' | 'MONITOR') =>
    bearer((await ask(app.client, MUTATIONS.createToken, { name, role })).secret ?? '')
  reviewer = await tokenOf('reviewer', 'ADMIN')
  monitor = await tokenOf('monitor', 'MONITOR')
  await prepare(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const portOf = ({ origin }: TestApp): number => Number(new URL(origin).port)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const CREATE_HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { __typename ... on Hook { id } ... on Error { message } }
}`)
async function prepare({ client }: TestApp): Promise<void> {
  await ask(client, MUTATIONS.createProject, { name: 'website', workerTemplate: { command: ['true'] } })
  const input = { project: 'website', format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }] }
  for (const [name, filter] of [
    ['build', 'body.wanted'],
    ['other', null],
  ] as const)
    expect((await client.query(CREATE_HOOK, { input: { ...input, name, filter } })).answer).toMatchObject({
      __typename: 'Hook',
    })
}

interface Sent {
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly port?: number
}
/** The status of an answer that openapi.json has. */
async function send(target: string, { headers = {}, ...sent }: Sent = {}): Promise<number> {
  const [method = '', path = ''] = target.split(' ')
  return (await call(sent.port ?? port, path, { method, headers, ...(sent.body !== undefined && sent) })).status
}

/** For requests that no client makes: bytes, and the answer to them. */
async function sendBytes(target: string, head: readonly string[]): Promise<number> {
  const [method = '', path = ''] = target.split(' ')
  const socket = connect(port, '127.0.0.1')
  socket.write([`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...head, '', ''].join('\r\n'))
  let text = ''
  // A server that refuses a body closes the connection.
  for await (const chunk of socket.setEncoding('utf8')) text += chunk
  const [top = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(top)?.[1])
  requireDescribed(method, path, { status, type: /^content-type: (.*)$/im.exec(top)?.[1], body })
  return status
}
const announced = (bytes: number, headers: Record<string, string> = {}): readonly string[] =>
  Object.entries({ ...JSON_BODY, ...headers, 'content-length': String(bytes) }).map(
    ([name, value]) => `${name}: ${value}`,
  )

const post = (query: string, more: Record<string, string> = {}) => ({
  headers: { ...JSON_BODY, ...admin, ...more },
  body: JSON.stringify({ query }),
})
const RESPONSE = { accept: 'application/graphql-response+json' }
const EVENTS = { accept: 'text/event-stream' }
const byGet = (query: string) => `GET /graphql?query=${encodeURIComponent(query)}`
const NO_HASH = encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } }))

test('GraphQL', async () => {
  expect(await send('POST /graphql', post(QUERY))).toBe(200)
  expect(await send('POST /graphql', post(QUERY, RESPONSE))).toBe(200)
  expect(await send('POST /graphql', post(QUERY, EVENTS))).toBe(200)
  expect(await send('POST /graphql', post('{ none }'))).toBe(200)
  expect(await send('POST /graphql', post('{ none }', RESPONSE))).toBe(400)
  expect(await send('POST /graphql', { headers: { ...JSON_BODY, ...admin }, body: '[' })).toBe(400)
  expect(await send('POST /graphql', { headers: JSON_BODY, body: '{}' })).toBe(401)
  expect(await send('POST /graphql', post(QUERY, { accept: 'image/png' }))).toBe(406)
  expect(await send('POST /graphql', post(QUERY, { 'content-type': 'text/plain' }))).toBe(415)
  expect(await send('POST /graphql', post(QUERY, { 'content-encoding': 'gzip' }))).toBe(415)
  expect(await sendBytes('POST /graphql', announced(MAX_BODY + 1, admin))).toBe(413)
  expect(await send(byGet(QUERY), { headers: { ...admin, ...EVENTS } })).toBe(200)
  expect(await send('GET /graphql', { headers: { accept: 'text/html' } })).toBe(200)
  expect(await send(`GET /graphql?extensions=${NO_HASH}`, { headers: { ...admin, ...RESPONSE } })).toBe(400)
  expect(await send(byGet(QUERY), { headers: EVENTS })).toBe(401)
  expect(await send(byGet(QUERY))).toBe(405)
  const named = `${byGet('subscription { phaseChanges { id } }')}&extensions={}`
  expect(await send(named, { headers: { ...admin, accept: 'application/json' } })).toBe(406)
  expect(await send('DELETE /graphql')).toBe(405)
  await preflights('/graphql')
})

async function preflights(path: string): Promise<void> {
  const asks = { origin: ORIGIN, 'access-control-request-method': 'POST' }
  expect(await send(`OPTIONS ${path}`, { headers: asks })).toBe(204)
  expect(await send(`OPTIONS ${path}`)).toBe(405)
}

test('the log', async () => {
  await ask(app.client, MUTATIONS.createInstallation, { name: 'logged', spec: { deployItems: [] } })
  const page = await until(
    async () => {
      const got = await call(port, '/log?limit=1', { headers: admin })
      return got.body === '' ? null : got
    },
    { what: 'the log has a change' },
  )
  const known = { ...admin, 'if-none-match': String(page.headers.etag) }
  expect(await send('GET /log?limit=1', { headers: known })).toBe(304)
  expect(await send('GET /log?limit=0', { headers: admin })).toBe(400)
  expect(await send('GET /log')).toBe(401)
  expect(await send('GET /log', { headers: monitor })).toBe(403)
  expect(await send('GET /log?after=99999999', { headers: admin })).toBe(410)
  expect([200, 404]).toContain(await send('GET /log', { headers: { accept: 'text/html' } }))
  expect(await send('POST /log')).toBe(405)
})

test('the seals of the log', async () => {
  const { headers } = await call(port, '/log/seals', { headers: monitor })
  expect(await send('GET /log/seals?after=0&limit=2', { headers: monitor })).toBe(200)
  expect(await send('GET /log/seals', { headers: { ...monitor, 'if-none-match': String(headers.etag) } })).toBe(304)
  expect(await send('GET /log/seals?limit=0', { headers: monitor })).toBe(400)
  expect(await send('GET /log/seals?before=1', { headers: monitor })).toBe(400)
  expect(await send('GET /log/seals')).toBe(401)
  const { secret } = await ask(app.client, MUTATIONS.createToken, { name: 'helm', role: 'AGENT' })
  expect(await send('GET /log/seals', { headers: bearer(secret ?? '') })).toBe(403)
  expect(await send('POST /log/seals')).toBe(405)
})

const DISABLED = gql(`query { hook(project: "website", name: "other") { id } }`)
const UPDATE_HOOK = gql(`mutation ($id: ID!) {
  updateHook(input: { id: $id, format: GENERIC, disabled: true }) { __typename ... on Error { message } }
}`)

test('hooks', async () => {
  const deliver = (body: string, more: Record<string, string> = {}) => ({ headers: { ...SENDER, ...more }, body })
  expect(await send(`POST ${HOOK}`, deliver('{"wanted":true}'))).toBe(202)
  expect(await send(`POST ${HOOK}`, deliver('{"wanted":false}'))).toBe(200)
  expect(await send(`POST ${HOOK}`, deliver('{}', { authorization: 'Bearer wrong' }))).toBe(401)
  expect(await send('POST /hooks/website/none', deliver('{}'))).toBe(401)
  expect(await send(`POST ${HOOK}`, deliver('{}', { 'content-encoding': 'gzip' }))).toBe(415)
  expect(await send(`POST ${HOOK}`, deliver('{"wanted":1}'))).toBe(422)
  expect(await sendBytes(`POST ${HOOK}`, announced(MAX_HOOK_BODY + 1, SENDER))).toBe(413)
  const { hook } = await app.client.query(DISABLED)
  await app.client.query(UPDATE_HOOK, { id: present(hook).id })
  expect(await send('POST /hooks/website/other', deliver('{}'))).toBe(503)
  expect(await send(`OPTIONS ${HOOK}`, { headers: { 'webhook-request-origin': 'events.example.org' } })).toBe(200)
  expect(await send(`OPTIONS ${HOOK}`)).toBe(405)
  expect(await send(`GET ${HOOK}`)).toBe(405)
  expect(await send(`GET ${HOOK}`, { headers: { accept: 'text/html' } })).toBe(404)
})

const PRINCIPAL = gql(`mutation {
  createToken(input: { name: "leaving", role: USER, projects: ["website"] }) {
    ... on CreatedToken { secret token { principal { id } } }
  }
}`)
const LEAVE = gql(`mutation ($id: ID!) { deletePrincipal(input: { id: $id }) { __typename } }`)

test('a hook whose editor has left', async () => {
  const made = (await app.client.query(PRINCIPAL)).createToken
  if (!made?.secret) throw new Error('no token')
  const headers = { ...JSON_BODY, ...bearer(made.secret) }
  const input = { project: 'website', name: 'left', format: 'GENERIC', secrets: [{ name: 'one', value: SECRET }] }
  await send('POST /graphql', { headers, body: JSON.stringify({ query: CREATE_HOOK.valueOf(), variables: { input } }) })
  await app.client.query(LEAVE, { id: made.token?.principal.id ?? '' })
  expect(await send('POST /hooks/website/left', { headers: SENDER, body: '{}' })).toBe(403)
})

test('artifacts, besides what is read and written', async () => {
  for (const method of ['GET', 'HEAD']) {
    expect(await send(`${method} /artifacts/none`, { headers: admin })).toBe(404)
    expect(await send(`${method} /artifacts/none`)).toBe(401)
  }
  expect(await send('PUT /artifacts/none/dist')).toBe(401)
  expect(await send('PUT /artifacts/none', { headers: admin })).toBe(403)
  expect(await send('GET /artifacts/none/dist', { headers: admin })).toBe(404)
  for (const path of ['/artifacts/none', '/artifacts/none/dist']) {
    expect(await send(`DELETE ${path}`)).toBe(405)
    await preflights(path)
  }
})

test('the sign-in of pages', async () => {
  const page = { ...JSON_BODY, origin: app.origin }
  const signIn = (token: string) => JSON.stringify({ token, key: KEY, isKept: false })
  expect(await send('POST /sign-in', { headers: page, body: signIn(app.token) })).toBe(204)
  expect(await send('POST /sign-in', { headers: page, body: '{}' })).toBe(400)
  expect(await send('POST /sign-in', { headers: page, body: signIn('wrong') })).toBe(401)
  expect(await send('POST /sign-in', { headers: JSON_BODY, body: signIn(app.token) })).toBe(403)
  expect(await send('POST /sign-in', { headers: { origin: app.origin }, body: '' })).toBe(415)
  expect(await send('POST /sign-in', { headers: page, body: ' '.repeat(SIGN_IN_BODY.bytes + 1) })).toBe(413)
  expect(await send('DELETE /sign-in', { headers: page })).toBe(204)
  expect(await send('DELETE /sign-in')).toBe(403)
  expect(await send('PUT /sign-in', { headers: page })).toBe(405)
})

test('operators, and descriptions', async () => {
  for (const path of ['/livez', '/healthz', '/readyz']) {
    expect(await send(`GET ${path}`)).toBe(200)
    expect(await send(`POST ${path}`)).toBe(200)
  }
  expect(await send('GET /readyz', { headers: { accept: 'application/json' } })).toBe(200)
  expect(await send('GET /metrics', { headers: monitor })).toBe(200)
  expect(await send('GET /metrics')).toBe(401)
  const { secret } = await ask(app.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  expect(await send('GET /metrics', { headers: bearer(secret ?? '') })).toBe(403)
  for (const path of ['/.well-known/phaseline', '/openapi.json', '/asyncapi.json']) {
    expect(await send(`GET ${path}`)).toBe(200)
    expect(await send(`POST ${path}`)).toBe(405)
  }
  expect((await call(port, '/openapi.json')).json()).toEqual(openapi)
})

test('requests that reach no endpoint', async () => {
  const targets = [
    'GET /log',
    'GET /log/seals',
    `POST ${HOOK}`,
    'POST /graphql',
    'GET /livez',
    'GET /metrics',
    'POST /sign-in',
  ]
  for (const target of targets) {
    expect(await send(target, { headers: { host: 'elsewhere.example.org' } })).toBe(403)
    expect(await send(target, { headers: { origin: 'https://elsewhere.example.org' } })).toBe(403)
    expect(await sendBytes(target, ['authorization: Bearer a', 'authorization: Bearer b'])).toBe(400)
    expect(await sendBytes(target, [`x: ${'y'.repeat(20_000)}`])).toBe(431)
    expect(await sendBytes(target, ['no header'])).toBe(400)
  }
})

test('a server with few requests for each caller', async () => {
  const env = {
    PHASELINE_MAX_REQUESTS_PER_SECOND_PER_PRINCIPAL: '1',
    PHASELINE_MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1',
    PHASELINE_MAX_DELIVERIES_PER_SECOND_PER_HOOK: '1',
  }
  await using few = await startTestApp({ env })
  const headers = bearer(few.token)
  const targets: Readonly<Record<string, Sent>> = {
    'POST /graphql': { headers: { ...headers, ...JSON_BODY }, body: JSON.stringify({ query: QUERY }) },
    [byGet(QUERY)]: { headers: { ...headers, ...EVENTS } },
    'GET /log': { headers },
    'GET /log/seals': { headers },
    'GET /artifacts/none': { headers },
    'HEAD /artifacts/none': { headers },
    'PUT /artifacts/none/dist': { headers },
    [`POST ${HOOK}`]: { headers: SENDER, body: '{}' },
  }
  for (const [target, sent] of Object.entries(targets)) {
    const busy = async () => (await send(target, { ...sent, port: portOf(few) })) === 429
    await until(busy, { what: `${target} is refused` })
  }
})

test('a server whose database is gone', async () => {
  await using database = await createTestDatabase()
  const { connection } = database
  const postgres = { socket: `${connection.host}/.s.PGSQL.${connection.port}`, connection }
  const way = await startSwitch(postgres)
  await using lonely = await startTestApp({ env: { DATABASE_URL: way.url } })
  const at = portOf(lonely)
  // No token that the server knows already.
  const headers = bearer('another-token')
  way.to(null)
  const page = { ...JSON_BODY, origin: lonely.origin }
  const body = JSON.stringify({ token: 'another-token', key: KEY, isKept: false })
  const targets: Readonly<Record<string, Sent>> = {
    'GET /readyz': {},
    'POST /graphql': { headers: { ...headers, ...JSON_BODY }, body: JSON.stringify({ query: QUERY }) },
    [byGet(QUERY)]: { headers: { ...headers, ...EVENTS } },
    'GET /log': { headers },
    'GET /log/seals': { headers },
    'GET /artifacts/none': { headers },
    'HEAD /artifacts/none': { headers },
    'PUT /artifacts/none/dist': { headers },
    'GET /metrics': { headers },
    [`POST ${HOOK}`]: { headers: SENDER, body: '{}' },
    'POST /sign-in': { headers: page, body },
  }
  for (const [target, sent] of Object.entries(targets)) {
    const unavailable = async () => (await send(target, { ...sent, port: at })) === 503
    await until(unavailable, { what: `${target} is unavailable` })
  }
  expect(await send('GET /readyz', { headers: { accept: 'application/json' }, port: at })).toBe(503)
  way.to(postgres)
})

interface Example {
  readonly value: { readonly query: string; readonly variables: { readonly input: Readonly<Record<string, unknown>> } }
  readonly 'x-answer': { readonly data: Readonly<Record<string, unknown>> }
}
interface Posted {
  readonly requestBody: { readonly content: Record<string, { readonly examples: Record<string, Example> }> }
}
const posted = openapi.paths['/graphql']?.post as unknown as Posted
const EXAMPLES = posted.requestBody.content['application/json']?.examples

/** An id of the examples in place of each. */
const withoutIds = (json: string): unknown =>
  JSON.parse(json.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '0198c0de-0000-7000-8000-000000000000'))

const GATE = gql(`query ($id: ID!) { tree(rootId: $id) { objects(first: 10) { edges { node { id name } } } } }`)

test('the ten examples of mutations do what they say', async () => {
  expect(Object.keys(EXAMPLES ?? {})).toHaveLength(10)
  const spec = { deployItems: [{ name: 'go', type: 'gate', config: { approval: {} } }] }
  const { id } = await ask(app.client, MUTATIONS.createInstallation, { name: 'gated', spec })
  const gate = await until(
    async () =>
      (await app.client.query(GATE, { id: id ?? '' })).tree?.objects.edges.find(({ node }) => node.name === 'go')?.node,
    { what: 'there is a gate' },
  )
  const ids: Record<string, string> = { approve: gate.id }
  for (const [name, { value, 'x-answer': said }] of Object.entries(EXAMPLES ?? {})) {
    const { input } = value.variables
    const own = name.endsWith('Event') ? ids.event : (ids[name] ?? ids.installation)
    const variables = { input: { ...input, ...('id' in input && { id: own }) } }
    const headers = { ...JSON_BODY, ...(name === 'approve' ? reviewer : admin) }
    const { status, body, json } = await call(port, '/graphql', {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ ...value, variables }),
    })
    // The engine may have ended it in the transaction of the cancel.
    const seen = name === 'cancelInstallation' ? body.replace('ABORTED', 'PROGRESSING') : body
    expect.soft([status, withoutIds(seen)]).toEqual([200, said])
    const answer = json()
    if (name === 'createInstallation') ids.installation = answer.data[name].id
    if (name === 'createEvent') ids.event = answer.data[name].events[0].id
  }
})

test('each status of openapi.json has come up here, except for those that take an agent, ten seconds, a broken server or one without pages', () => {
  const elsewhere =
    /^put .* (201|400|403|409|413|415)$|^(get|head) \/artifacts\/\{id\} 200$|^x-other-methods \/artifacts\/.* (?!405)\d+$/
  const rest = unseen('/', [408, 500]).filter((each) => !elsewhere.test(each) && !/(\.json|\/log) 404$/.test(each))
  expect(rest).toEqual([])
})
