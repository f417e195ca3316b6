import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { createClient as createEvents } from 'graphql-sse'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { FAILURE_CODES } from '../../src/core/vocabulary.ts'
import { mediaOf } from '../../src/server/http/accepted-media.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { call, post } from './call.ts'

/** An operation is judged, limited and listed in the same way, however it has come. */

const VIEWER = '{ viewer { name } }'
const FOLLOW = 'subscription { phaseLog(after: 0) { through } }'
const KIB = 1_024

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

interface Sent {
  readonly query?: unknown
  readonly variables?: unknown
  readonly operationName?: unknown
  readonly extensions?: unknown
  readonly documentId?: unknown
}
const send = (request: Sent | string | Buffer, headers: Record<string, string> = {}, { port } = server) =>
  call(port, '/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: typeof request === 'string' || Buffer.isBuffer(request) ? request : JSON.stringify(request),
  })
const overHttp = (accept: string) => async (request: Sent) => (await send(request, { accept })).json().errors

async function overEvents(request: Sent): Promise<unknown> {
  const client = createEvents({
    url: `${server.url}/graphql`,
    headers: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  })
  onTestFinished(() => client.dispose())
  for await (const { errors } of client.iterate(request as { query: string })) return errors
  return undefined
}

async function open(payload?: object, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws', { headers })
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', ...(payload ? { payload } : {}) }))
  return socket
}
async function overSocket(request: Sent): Promise<unknown> {
  const socket = await open({ authorization: `Bearer ${token}` })
  await once(socket, 'message')
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '', ...request } }))
  const { payload } = JSON.parse(String((await once(socket, 'message'))[0]))
  return payload.errors ?? payload
}

describe.each([
  ['JSON', overHttp('application/json')],
  ['GraphQL’s own type', overHttp('application/graphql-response+json')],
  ['anything', overHttp('*/*')],
  ['events', overEvents],
  ['a WebSocket', overSocket],
] as const)('as %s, each refusal has one code', (_, errorsOf) => {
  const NUMBER = 'query ($n: Int) { projects(first: $n) { edges { node { id } } } }'
  const SEVERAL = `query A ${VIEWER} query B ${VIEWER}`
  const byHash = { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }
  test.each([
    ['a syntax error', { query: '{' }, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['no operation', { query: 'fragment V on Viewer { name }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['several operations', { query: SEVERAL }, 'OPERATION_RESOLUTION_FAILURE'],
    ['another name', { query: SEVERAL, operationName: 'C' }, 'OPERATION_RESOLUTION_FAILURE'],
    ['a variable of the wrong type', { query: NUMBER, variables: { n: 'x' } }, 'BAD_USER_INPUT'],
    ['no variable', { query: 'query ($id: ID!) { object(id: $id) { id } }' }, 'BAD_USER_INPUT'],
    [
      'null for an argument that has a default',
      {
        query: 'query ($p: String) { objectByPath(kind: INSTALLATION, path: ["x"], project: $p) { id } }',
        variables: { p: null },
      },
      'BAD_USER_INPUT',
    ],
    ['NUL', { query: '{ project(name: "\\u{0}") { id } }' }, 'BAD_USER_INPUT'],
    ['an unknown id', { documentId: 'sha256:unknown' }, 'PERSISTED_QUERY_NOT_FOUND'],
    ['a hash', byHash, 'PERSISTED_QUERY_NOT_SUPPORTED'],
  ])('%s', async (_, request, code) => {
    const errors = await errorsOf(request)
    expect(errors).toMatchObject([{ extensions: { code } }])
    // Beside the code there is at most the place of the mistake.
    expect(Object.keys((errors as any)[0].extensions).filter((name) => name !== 'fields')).toEqual(['code'])
    expect(FAILURE_CODES).toContain(code)
  })
  test('a value of the server that does not fit its type is a fault of the server', async () => {
    await api.world.pool.query('alter table principal_grant drop constraint if exists principal_grant_role_check')
    await api.world.pool.query(`insert into principal_grant select id, 9, 'NOBODY', null from principal limit 1`)
    onTestFinished(async () => {
      await api.world.pool.query(`delete from principal_grant where role = 'NOBODY'`)
    })
    const message = 'Something went wrong on the server; its log says more.'
    expect(await errorsOf({ query: '{ principals { grants { role } } }' })).toMatchObject([
      { message, path: expect.arrayContaining(['grants', 'role']), extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ])
  })
  test('a hash is refused with the message that clients know, and with its text it is executed', async () => {
    expect(await errorsOf(byHash)).toMatchObject([{ message: 'PersistedQueryNotSupported' }])
    const answered = (await send({ query: VIEWER, ...byHash })).json()
    expect(answered).toEqual({ data: { viewer: { name: 'ada' } } })
  })
})

test.each([
  [{ query: 1 }, 'The parameter query is not a text.'],
  [{ query: null }, 'The parameter query is missing: send the text of a document.'],
  [{ query: VIEWER, variables: [1] }, 'The parameter variables is not an object.'],
  [{ query: VIEWER, extensions: 'x' }, 'The parameter extensions is not an object.'],
  [{ query: VIEWER, operationName: 1 }, 'The parameter operationName is not a text.'],
  [{ query: VIEWER, more: 1 }, 'Unexpected parameter "more" in the request body.'],
])('a request that is none is refused: %j', async (request, message) => {
  const { status, json } = await send(request)
  expect([status, json()]).toEqual([400, { errors: [{ message, extensions: { code: 'BAD_REQUEST' } }] }])
})

test('a subscription whose variables are wrong is refused, over events and sockets', async () => {
  const request = {
    query: 'subscription ($n: Int!) { phaseLog(after: 0, maxBatch: $n) { through } }',
    variables: { n: 'x' },
  }
  for (const errors of [await overEvents(request), await overSocket(request)])
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
})

test('limits, the list of subscriptions and the drain go by what is asked for, not by what is accepted', async () => {
  const own = await api.serve({ limits: { openSubscriptionsPerPrincipal: 1, openOperationsPerPrincipal: 1 } })
  const follow = async (accept: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, accept }
    const body = JSON.stringify({ query: FOLLOW })
    return await fetch(`${own.url}/graphql`, { method: 'POST', headers, body })
  }
  const first = await follow('*/*')
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  await until(() => api.services.streams.list().length === 1, { what: 'it is listed' })
  const second = await follow('*/*')
  expect([second.status, await second.json()]).toMatchObject([429, { errors: [{ extensions: { code: 'TOO_MANY' } }] }])
  const events = await post(own.port, token, VIEWER, { accept: 'text/event-stream' })
  expect([events.status, events.body]).toEqual([200, expect.stringContaining('"name":"ada"')])
  const text = first.text()
  await own.close()
  expect(await text).not.toContain('event: complete')
})

test('whoever takes no events hears that a subscription is sent as them, and how', async () => {
  for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream;q=0']) {
    const { status, json } = await send({ query: FOLLOW }, { accept })
    expect([status, json().errors]).toEqual([
      406,
      [{ message: expect.stringContaining('send accept: text/event-stream'), extensions: { code: 'NOT_ACCEPTABLE' } }],
    ])
  }
  const picture = await send({ query: VIEWER }, { accept: 'image/png' })
  expect([picture.status, picture.json().errors[0].extensions.code]).toEqual([406, 'NOT_ACCEPTABLE'])
})

test('a hash by GET is refused in the same way, so that clients send the text by POST', async () => {
  const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } })
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
  const answer = await call(server.port, `/graphql?${new URLSearchParams({ operationName: 'V', extensions })}`, {
    headers,
  })
  expect([answer.status, answer.json().errors]).toMatchObject([200, [{ message: 'PersistedQueryNotSupported' }]])
})

test('a mutation is not sent by GET', async () => {
  const query = 'mutation { createProject(input: { name: "got" }) { __typename } }'
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const answer = await call(server.port, `/graphql?${new URLSearchParams({ query })}`, { headers })
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
  expect(answer.json().errors[0].extensions.code).toBe('METHOD_NOT_ALLOWED')
})

test.each([
  [undefined, 'application/json', 'text/event-stream'],
  ['*/*', 'application/json', 'text/event-stream'],
  ['application/json', 'application/json', null],
  ['application/json, application/graphql-response+json', 'application/graphql-response+json', null],
  ['text/event-stream', 'text/event-stream', 'text/event-stream'],
  ['text/event-stream, application/json', 'text/event-stream', 'text/event-stream'],
  // As urql sends it.
  ['application/json, text/event-stream, multipart/mixed', 'application/json', 'text/event-stream'],
  // As Apollo Client sends it.
  ['multipart/mixed;deferSpec=20220824,application/json', 'application/json', null],
  ['text/event-stream;q=0.5, application/json;q=0.9', 'application/json', 'text/event-stream'],
  ['text/html, application/json;q=0', null, null],
  ['application/json, application/graphql-response+json;q=0.1', 'application/json', null],
  ['application/json;q=0.1, application/graphql-response+json', 'application/graphql-response+json', null],
  ['*/*, application/graphql-response+json;q=0.5', 'application/json', 'text/event-stream'],
  ['*/*, application/json;q=0', 'application/graphql-response+json', 'text/event-stream'],
])('%s is answered as %s, and a subscription as %s', (accept, answer, stream) => {
  expect([mediaOf(accept, false), mediaOf(accept, true)]).toEqual([answer, stream])
})

describe('bodies', () => {
  const body = JSON.stringify({ query: VIEWER })
  test.each([
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(body), 'must not be compressed'],
    ['in UTF-16', { 'content-type': 'application/json; charset=utf-16' }, Buffer.from(body, 'utf16le'), 'UTF-8'],
    ['in UTF-16, told last', { 'content-type': 'application/json; v=1; charset=utf-16' }, Buffer.from(body), 'UTF-8'],
    ['of another type', { 'content-type': 'application/jsonp' }, Buffer.from(body), 'application/json'],
  ])('one %s is refused with what is taken', async (_, headers, sent, told) => {
    const { status, json } = await send(sent, headers)
    expect([status, json().errors]).toEqual([
      415,
      [{ message: expect.stringContaining(told), extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }],
    ])
  })
  test.each(['application/json; charset="UTF-8"', 'application/json;charset=utf8', 'Application/JSON; v=1'])(
    'one with the type %s is taken',
    async (type) => {
      expect((await send(body, { 'content-type': type, 'content-encoding': 'identity' })).status).toBe(200)
    },
  )
  test('one with bytes that are no UTF-8 is refused, however long, since they would be replaced', async () => {
    for (const unused of ['\xe9', '\xe9'.repeat(100 * KIB)]) {
      const { status, json } = await send(
        Buffer.from(JSON.stringify({ query: VIEWER, variables: { unused } }), 'latin1'),
      )
      expect([status, json().errors]).toEqual([
        400,
        [{ message: 'The body is not UTF-8 text.', extensions: { code: 'BAD_REQUEST' } }],
      ])
    }
    const socket = await open({ authorization: `Bearer ${token}` })
    await once(socket, 'message')
    const payload = { query: VIEWER, variables: { unused: '\xe9' } }
    socket.send(Buffer.from(JSON.stringify({ id: '1', type: 'subscribe', payload }), 'latin1'), { binary: true })
    expect((await once(socket, 'close'))[0]).toBe(4400)
  })
  test('a byte order mark is passed over, before a large one, too', async () => {
    const unused = Array.from({ length: 50 * KIB }, (_, i) => i)
    for (const text of [body, JSON.stringify({ query: VIEWER, variables: { unused } })])
      expect((await send(`\uFEFF${text}`)).json()).toEqual({ data: { viewer: { name: 'ada' } } })
  })
})

describe('the token of a WebSocket', () => {
  const bearer = () => `Bearer ${token}`
  test.each([
    ['in its payload', () => open({ AUTHORIZATION: bearer() })],
    ['among the headers of its payload', () => open({ headers: { Authorization: bearer() } })],
    ['in the header of the upgrade', () => open(undefined, { authorization: bearer() })],
    ['in the header, beside other parameters', () => open({ client: 'x' }, { authorization: bearer() })],
  ])('is taken %s', async (_, opened) => {
    const [message] = await once(await opened(), 'message')
    expect(JSON.parse(String(message))).toMatchObject({ type: 'connection_ack' })
  })
  test.each([
    ['none', () => open()],
    ['one without Bearer', () => open({ authorization: token })],
    [
      'one without Bearer, beside that of the upgrade',
      () => open({ authorization: token }, { authorization: bearer() }),
    ],
  ])('%s: the close tells what to send', async (_, opened) => {
    const [code, reason] = await once(await opened(), 'close')
    expect([code, String(reason)]).toEqual([4403, expect.stringContaining('"authorization": "Bearer')])
  })
  test('a wrong one in the payload is not replaced by that of the upgrade', async () => {
    const [code, reason] = await once(await open({ authorization: 'Bearer x' }, { authorization: bearer() }), 'close')
    expect([code, String(reason)]).toEqual([4403, 'Forbidden'])
  })
})

test('connections are kept alive for longer than proxies keep them, or as the setting says', async () => {
  const impatient = await api.serve({ limits: { keepAliveMs: 3_000 } })
  const timeoutOf = async ({ url }: RunningServer) => (await fetch(`${url}/livez`)).headers.get('keep-alive')
  expect([await timeoutOf(server), await timeoutOf(impatient)]).toEqual(['timeout=75', 'timeout=3'])
})
