import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { call, refusals } from './call.ts'

/** Attacks on other callers that need a token of any role. */

let api: Api
let server: RunningServer
let token: string
let reader: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token()
  reader = await api.token({ name: 'reader', role: 'READER' })
})
afterAll(() => api[Symbol.asyncDispose]())

const send = (body: string, as = reader) =>
  call(server.port, '/graphql', {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json', accept: 'application/json' },
    body,
  })
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const SET =
  'mutation ($value: JSON) { setDataObject(input: { name: "x", value: $value }) { __typename ... on Error { message } } }'

const MB = 1024 * 1024
const EMPTY = { objects: '{},', texts: '"",' }
test.each(Object.entries(EMPTY))('a body full of %s is refused before it is parsed', async (_, part) => {
  const before = await refusals(server, token, 'TOO_COMPLEX')
  const many = `[${part.repeat((15 * MB) / part.length)}0]`
  const { status, json } = await send(`{"query":"{ viewer { name } }","variables":{"unused":${many}}}`)
  expect(status).toBe(400)
  expect(json().errors).toMatchObject([{ extensions: { code: 'TOO_COMPLEX' } }])
  expect(await refusals(server, token, 'TOO_COMPLEX')).toBe(before + 1)
})

test('a WebSocket is not compressed: a frame of some KB could unpack to GB', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: true,
  })
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  expect(socket.extensions).toBe('')
})

test('a variable that the operation does not declare is ignored, however large', async () => {
  const unused = Array.from({ length: 100_000 }, (_, i) => ({ [`name-${i}`]: 'value' }))
  const { status, json } = await send(JSON.stringify({ query: '{ viewer { name } }', variables: { unused } }))
  expect(status).toBe(200)
  expect(json()).toEqual({ data: { viewer: { name: 'reader' } } })
})

test.each([
  ['JSON, 5,000 deep', JSON.stringify({ query: SET, variables: {} }).replace('{}', `{"value":${nested(5_000)}}`)],
  ['an unused variable, 5,000 deep', `{"query":"{ viewer { name } }","variables":{"unused":${nested(5_000)}}}`],
  ['fields, 3,000 deep', JSON.stringify({ query: '{a'.repeat(3_000) + '}'.repeat(3_000) })],
  ['a literal, 4,500 deep', JSON.stringify({ query: `{ project(name: ${nested(4_500)}) { id } }` })],
  ['a type, 3,000 deep', JSON.stringify({ query: `query ($a: ${'['.repeat(3_000)}Int${']'.repeat(3_000)}) { a }` })],
])('what is nested too deep is a typed error: %s', async (_, body) => {
  const { status, json } = await send(body)
  expect(status).toBe(400)
  expect(json().errors).toMatchObject([{ extensions: { code: 'TOO_COMPLEX' } }])
})

test.each([
  ['NUL in a variable', { query: SET, variables: { value: ['a\0'] } }, 'input.value.0: holds the character NUL'],
  [
    'NUL in a key',
    { query: SET, variables: { value: { 'a\0': 1 } } },
    'input.value: has a key that holds the character NUL',
  ],
  [
    'half a pair',
    { query: SET, variables: { value: { a: '\ud83d' } } },
    'input.value.a: holds half of a surrogate pair',
  ],
  ['NUL in the document', { query: '{ project(name: "\0") { id } }' }, 'name: holds the character NUL'],
  ['an escape of the document', { query: '{ project(name: "\\u{0}") { id } }' }, 'name: holds the character NUL'],
  [
    'half a pair in a name',
    { query: 'query ($n: String!) { project(name: $n) { id } }', variables: { n: '\udc00' } },
    'name: holds half',
  ],
  [
    'a literal',
    { query: SET.replace('$value }', '{ a: [1, 1234567890123456789] } }').replace('($value: JSON)', '') },
    'input.value.a.1: is a whole number beyond ±9007199254740991',
  ],
  [
    'a literal beyond all',
    { query: SET.replace('$value }', '[-1e400] }').replace('($value: JSON)', '') },
    'input.value.0: is no number that JSON has',
  ],
])('what cannot be stored as it is is refused with its place: %s', async (_, request, words) => {
  const { body, json } = await send(JSON.stringify(request), token)
  const { data, errors } = json()
  expect(errors?.[0].extensions.code ?? data.setDataObject.__typename).toMatch(/^(BAD_USER_INPUT|InvalidInputError)$/)
  expect(body).toContain(words)
})

test.each([
  ['9007199254740993', true],
  ['1234567890123456789012345', true],
  ['-9007199254740992', true],
  ['1e400', true],
  ['9007199254740991', false],
  ['-9007199254740991', false],
  ['0.1', false],
  ['1e-7', false],
  ['12345678901234.5', false],
])('the number %s of a variable is refused or kept', async (number, isRefused) => {
  const query =
    'mutation ($value: JSON) { setDataObject(input: { name: "number", value: $value }) { ... on Error { message } ... on DataObject { value } } }'
  const { body } = await send(
    JSON.stringify({ query, variables: { value: { a: ['NUMBER'] } } }).replace('"NUMBER"', number),
    token,
  )
  if (isRefused) expect(body).toMatch(/input\.value\.a\.0: is (a whole number beyond|no number that JSON has)/)
  else expect(JSON.parse(body)).toEqual({ data: { setDataObject: { value: { a: [Number(number)] } } } })
})

const PLAN =
  'query ($input: PlanInstallationInput!) { planInstallation(input: $input) { __typename ... on InvalidInputError { fields { path message } } } }'
const entries = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, {}]))
test.each([
  [
    'a pattern that takes seconds',
    { imports: [{ name: 'a', schema: { pattern: '[^\\p{L}]'.repeat(6_000) } }] },
    { path: 'input.spec.imports.0.schema', message: 'it took more than 100 ms' },
  ],
  [
    'a config with 50,000 settings',
    { deployItems: [{ name: 'a', type: 'container', config: { image: 'x', ...entries(50_000) } }] },
    { path: 'input.spec.deployItems.0.config', message: expect.stringContaining('cannot be judged: it ') },
  ],
  [
    'a config with a list of 50,000 entries',
    { deployItems: [{ name: 'a', type: 'container', config: { image: 'x', volumes: Array(50_000).fill({}) } }] },
    { path: 'input.spec.deployItems.0.config.volumes', message: 'array has too many items (50000 > 32)' },
  ],
])('what takes long to judge is refused by the sandbox: %s', async (_, spec, problem) => {
  const { json } = await send(JSON.stringify({ query: PLAN, variables: { input: { create: { name: 'a', spec } } } }))
  expect(json().data?.planInstallation).toMatchObject({ __typename: 'InvalidInputError', fields: [problem] })
})

test('what one principal has judged at the same time is judged one after the other, and none of it is refused', async () => {
  const data = Array.from({ length: 500 }, (_, i) => `  key${i}: "${'x'.repeat(20)}"`).join('\n')
  const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n${data}\n`
  const deployItems = ['a', 'b'].map((name) => ({
    ...{ name, type: 'kubernetes-manifest', config: { manifests: [manifest, manifest] } },
  }))
  const body = JSON.stringify({ query: PLAN, variables: { input: { create: { name: 'a', spec: { deployItems } } } } })
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(body)))
  for (const { json } of answers)
    expect(json()).toMatchObject({ data: { planInstallation: { __typename: 'InstallationPlan' } } })
})

test('a key of 15 MB is refused before it is compared with what the input knows', async () => {
  const query = 'mutation ($input: SetDataObjectInput!) { setDataObject(input: $input) { __typename } }'
  const { status, body, json } = await send(
    JSON.stringify({ query, variables: { input: { ['k'.repeat(15 * MB)]: 1 } } }),
  )
  expect(status).toBe(400)
  expect(json().errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  expect(body.length).toBeLessThan(1_000)
})

test('a GET is judged in the same way', async () => {
  const ask = (params: Record<string, string>) =>
    call(server.port, `/graphql?${new URLSearchParams({ query: '{ viewer { name } }', ...params })}`, {
      headers: { authorization: `Bearer ${reader}`, accept: 'text/event-stream' },
    })
  expect((await ask({ variables: '{"unused":1}' })).body).toContain('"name":"reader"')
  const deep = await ask({ variables: `{"unused":${nested(1_000)}}` })
  expect([deep.status, deep.json().errors[0].extensions.code]).toEqual([400, 'TOO_COMPLEX'])
  expect((await ask({ query: '{ project(name: "\0") { id } }' })).body).toContain('BAD_USER_INPUT')
  const broken = await ask({ variables: '%' })
  const error = { message: 'The parameter variables is not JSON.', extensions: { code: 'BAD_REQUEST' } }
  expect([broken.status, broken.json().errors]).toEqual([400, [error]])
})

test('a body that looks like a promise is refused as any that has an unknown parameter', async () => {
  const query = '{ viewer { name } }'
  for (const then of [1, true, { a: 1 }]) {
    const { status, json } = await send(JSON.stringify({ query, then }))
    expect(status).toBe(400)
    expect(json().errors).toEqual([
      { message: 'Unexpected parameter "then" in the request body.', extensions: { code: 'BAD_REQUEST' } },
    ])
  }
  const { status } = await send(`{"query":"${query}","variables":{"then":1},"extensions":{"then":1}}`)
  expect(status).toBe(200)
})

test('on a WebSocket the operation fails, and the others go on', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0]))
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${reader}` } }))
  expect(await next()).toEqual({ type: 'connection_ack' })
  const subscribe = (payload: object, unused = '0') =>
    socket.send(JSON.stringify({ id: 'one', type: 'subscribe', payload }).replace('"UNUSED"', unused))
  const query = '{ viewer { name } }'
  for (const [payload, unused, code] of [
    [{ query, variables: { unused: 'UNUSED' } }, nested(5_000), 'TOO_COMPLEX'],
    [{ query, variables: { unused: 'UNUSED' } }, `[${'[],'.repeat(5 * MB)}0]`, 'TOO_COMPLEX'],
    [{ query: '{a'.repeat(3_000) + '}'.repeat(3_000) }, '', 'TOO_COMPLEX'],
    [{ query: '{' }, '', 'GRAPHQL_PARSE_FAILED'],
    [{ query: '{ nothing }' }, '', 'GRAPHQL_VALIDATION_FAILED'],
  ] as const) {
    subscribe(payload, unused)
    const { id, type, payload: errors } = await next()
    expect({ id, type, extensions: errors[0].extensions }).toEqual({ id: 'one', type: 'error', extensions: { code } })
  }
  subscribe({ query, ...Object.fromEntries([['then', 1]]) })
  expect(await next()).toEqual({ id: 'one', type: 'next', payload: { data: { viewer: { name: 'reader' } } } })
})
