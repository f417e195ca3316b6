import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Api, createApi } from '../graphql/api.ts'
import { gql } from '../testkit/gql.ts'
import { call, post } from './call.ts'

/** Keeps strangers out: a page that the user has open, a foreign name that resolves to us, a caller without a token. */

let api: Api
let port: number
let token: string
beforeAll(async () => {
  api = await createApi()
  port = (await api.serve({ allowedHosts: ['ops.example.org'], allowedOrigins: ['https://ops.example.org'] })).port
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

const CREATE_PRINCIPAL = gql(`mutation ($input: CreatePrincipalInput!) { answer: createPrincipal(input: $input) {
  ... on Principal { id } ... on InvalidInputError { fields { path } } } }`)
const ADD_TOKEN = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  ... on CreatedToken { secret } } }`)

const VIEWER = '{ viewer { name role } }'

/** Opens a socket; tells how it ended, or that it opened. */
function upgrade(headers: Record<string, string>, path = '/graphql'): Promise<number | 'open'> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, 'graphql-transport-ws', { headers })
    socket.on('open', () => {
      resolve('open')
      socket.terminate()
    })
    socket.on('unexpected-response', (request, { statusCode = 0 }) => {
      resolve(statusCode)
      request.destroy()
    })
    socket.on('error', () => {})
  })
}

describe('host', () => {
  test.each([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['ops.example.org', 200],
    ['ops.example.org:8443', 200],
    ['localhost', 403],
    ['localhost:1', 403],
    ['evil.example', 403],
    ['evil.example:PORT', 403],
    ['localhost.evil.example:PORT', 403],
  ])('%s: %i', async (host, status) => {
    const named = host.replace('PORT', String(port))
    expect((await call(port, '/healthz', { headers: { host: named } })).status).toBe(status)
    expect((await post(port, token, VIEWER, { host: named })).status).toBe(status)
    expect(await upgrade({ host: named })).toBe(status === 200 ? 'open' : status)
  })
})

/** The server's bytes on a connection, after exactly these lines of a request. */
async function exchange(lines: readonly string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return await text(socket)
}

describe('a request that a proxy may read otherwise', () => {
  const body = JSON.stringify({ query: VIEWER })
  const lines = (more: readonly string[]): readonly string[] => [
    'POST /graphql HTTP/1.1',
    ...[`host: 127.0.0.1:${port}`, `authorization: Bearer ${token}`, 'content-type: application/json'],
    ...[`content-length: ${body.length}`, 'connection: close', ...more],
  ]

  test('is refused if a header that decides is there twice', async () => {
    expect(await exchange(lines([]), body)).toMatch(/^HTTP\/1.1 200 /)
    expect(await exchange(lines(['accept: */*', 'accept: application/json']), body)).toMatch(/^HTTP\/1.1 200 /)
    for (const twice of [
      'Host: evil.example',
      `hOST: 127.0.0.1:${port}`,
      'authorization: Bearer x',
      'content-type: a/b',
    ]) {
      const answer = await exchange(lines([twice]), body)
      expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"BAD_REQUEST"/)
      expect(answer).not.toContain('"ada"')
    }
    const hosts = ['host: localhost', `host: 127.0.0.1:${port}`]
    expect(await exchange(['GET /readyz HTTP/1.1', ...hosts, 'connection: close'])).toMatch(/^HTTP\/1.1 400 /)
    const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
    expect(await exchange(['GET /graphql HTTP/1.1', ...hosts, ...upgrade])).toMatch(/^HTTP\/1.1 400 /)
  })

  test('is not asked for its body before its caller is known', async () => {
    const asking = (more: readonly string[], length = body.length) => [
      ...['POST /graphql HTTP/1.1', `host: 127.0.0.1:${port}`, 'content-type: application/json'],
      ...[`content-length: ${length}`, 'expect: 100-continue', ...more],
    ]
    // The connection ends with the refusal, since what would come next on it is uncertain.
    expect(await exchange(asking([]))).toMatch(/^HTTP\/1.1 401 [\s\S]*connection: close/i)
    const wrong = asking(['authorization: Bearer wrong'])
    expect(await exchange(wrong)).toMatch(/^HTTP\/1.1 401 /)
    const known = `authorization: Bearer ${token}`
    expect(await exchange(asking([known], 1e9))).toMatch(/^HTTP\/1.1 413 /)
    expect(await exchange(asking([known, 'origin: https://evil.example']))).toMatch(/^HTTP\/1.1 403 /)
    const answer = await exchange(asking([known, 'connection: close']), body)
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /)
  })
})

describe('origin', () => {
  test.each([
    ['http://127.0.0.1:PORT', true],
    ['https://ops.example.org', true],
    ['http://127.0.0.1:1', false],
    ['http://localhost:PORT', false],
    ['https://evil.example', false],
    ['https://ops.example.org.evil.example', false],
    ['null', false],
  ])('%s: %s', async (template, allowed) => {
    const origin = template.replace('PORT', String(port))
    const streamed = { accept: 'text/event-stream', origin, authorization: `Bearer ${token}` }
    const path = `/graphql?query=${encodeURIComponent(VIEWER)}`
    expect((await post(port, token, VIEWER, { origin })).status).toBe(allowed ? 200 : 403)
    expect((await call(port, path, { headers: streamed })).status).toBe(allowed ? 200 : 403)
    expect(await upgrade({ origin })).toBe(allowed ? 'open' : 403)
  })

  const grantsIn = (headers: object) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control')))
  const ask = (origin: string, path = '/graphql') =>
    call(port, path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    })
  const ALLOWED = 'https://ops.example.org'

  test('a page of an allowed origin may call the API and read its answers, whatever they are', async () => {
    const preflight = await ask(ALLOWED)
    expect(preflight.status).toBe(204)
    expect(grantsIn(preflight.headers)).toEqual({
      'access-control-allow-origin': ALLOWED,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type, traceparent, tracestate',
      'access-control-max-age': '7200',
    })
    const path = `/graphql?query=${encodeURIComponent(VIEWER)}`
    const events = { accept: 'text/event-stream', origin: ALLOWED, authorization: `Bearer ${token}` }
    for (const [answer, status] of [
      [await post(port, token, VIEWER, { origin: ALLOWED }), 200],
      [await post(port, token, '{', { origin: ALLOWED }), 200],
      [await post(port, null, VIEWER, { origin: ALLOWED }), 401],
      [await call(port, path, { headers: events }), 200],
      [await call(port, '/graphql', { method: 'OPTIONS', headers: { origin: ALLOWED } }), 405],
    ] as const) {
      expect(answer.status).toBe(status)
      expect(grantsIn(answer.headers)).toEqual({ 'access-control-allow-origin': ALLOWED })
      expect(answer.headers.vary).toBe('origin')
    }
  })

  test('no other page is granted anything, nor anything but the API', async () => {
    for (const answer of [
      await ask('https://evil.example'),
      await ask(`http://127.0.0.1:${port}`),
      await ask(ALLOWED, '/metrics'),
      await post(port, token, VIEWER, { origin: `http://127.0.0.1:${port}` }),
      await post(port, token, VIEWER),
      await call(port, '/metrics', { headers: { origin: ALLOWED, authorization: `Bearer ${token}` } }),
    ]) {
      expect(grantsIn(answer.headers)).toEqual({})
    }
  })
})

describe('tokens', () => {
  test('without one nothing is executed', async () => {
    for (const authorization of [null, 'Bearer wrong', 'Bearer', `Basic ${token}`, `Bearer ${token}x`]) {
      const { status, headers, json } = await post(
        port,
        null,
        'mutation { setDataObject(input: { name: "x", value: 1 }) { __typename } }',
        authorization === null ? {} : { authorization },
      )
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toBe('Bearer')
      expect(json().errors[0].extensions.code).toBe('UNAUTHENTICATED')
      expect(json().data).toBeUndefined()
    }
    expect((await api.world.pool.query('select 1 from data_object')).rowCount).toBe(0)
  })

  test('pages and health checks need none, metrics that of an administrator of everything', async () => {
    for (const path of ['/', '/graphiql', '/livez', '/healthz', '/readyz'])
      expect((await call(port, path)).status).toBe(200)
    expect((await call(port, '/metrics')).status).toBe(401)
    for (const restricted of [
      { role: 'USER' },
      { role: 'READER' },
      { role: 'AGENT', actor: 'DEPLOYER' },
      { role: 'ADMIN', projects: ['default'] },
    ] as const) {
      const authorization = `Bearer ${await api.token({ name: JSON.stringify(restricted), ...restricted })}`
      const { status, json } = await call(port, '/metrics', { headers: { authorization } })
      expect([status, json().errors[0].extensions.code]).toEqual([403, 'FORBIDDEN'])
    }
    const { status, body } = await call(port, '/metrics', { headers: { authorization: `Bearer ${token}` } })
    expect(status).toBe(200)
    expect(body).toContain('phaseline_http_request_seconds_count')
  })

  test('the role MONITOR reads metrics, and no project', async () => {
    const create = (grants: readonly object[]) =>
      api.query(CREATE_PRINCIPAL, { input: { name: 'prometheus', grants } } as never)
    const refused = await create([{ role: 'MONITOR', project: 'default' }])
    expect(refused).toMatchObject({ answer: { fields: [{ path: 'input.grants.0.project' }] } })
    const { answer } = (await create([{ role: 'MONITOR' }])) as { readonly answer: { readonly id: string } }
    const added = await api.query(ADD_TOKEN, { input: { principalId: answer.id, name: 'scrapes' } })
    const { secret } = added.answer as { readonly secret: string }
    expect((await call(port, '/metrics', { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
    const viewer = await post(port, secret, '{ viewer { role projects } }')
    expect(viewer.json().data.viewer).toEqual({ role: 'MONITOR', projects: [] })
    expect((await post(port, secret, '{ project(name: "default") { id } }')).json().data.project).toBeNull()
    const objects = await post(port, secret, '{ objects(first: 1) { totalCount } }')
    expect(objects.json().errors[0].extensions.code).toBe('FORBIDDEN')
  })

  test('a revoked or expired one is refused', async () => {
    const short = await api.token({ name: 'short', expiresInMs: 60_000 })
    expect((await post(port, short, VIEWER)).status).toBe(200)
    api.world.clock.advance(60_000)
    expect((await post(port, short, VIEWER)).status).toBe(401)
    const secret = await api.token({ name: 'gone', role: 'USER' })
    expect((await post(port, secret, VIEWER)).json().data.viewer).toEqual({ name: 'gone', role: 'USER' })
    await api.revoke('gone')
    expect((await post(port, secret, VIEWER)).status).toBe(401)
  })
})

describe('requests', () => {
  const authorized = () => ({ authorization: `Bearer ${token}` })
  const body = JSON.stringify({ query: VIEWER })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
  ])('a body of type %s is refused', async (type) => {
    const headers = { ...authorized(), 'content-type': type }
    expect((await call(port, '/graphql', { method: 'POST', headers, body })).status).toBe(415)
  })

  test('a body without a type is refused', async () => {
    expect((await call(port, '/graphql', { method: 'POST', headers: authorized(), body })).status).toBe(415)
  })

  test('GET is for events only, and never a mutation', async () => {
    const path = `/graphql?query=${encodeURIComponent(VIEWER)}`
    expect((await call(port, path, { headers: authorized() })).status).toBe(405)
    const events = { ...authorized(), accept: 'text/event-stream' }
    expect((await call(port, path, { headers: events })).body).toContain('"name":"ada"')
    const mutation = gql(`mutation { setDataObject(input: { name: "y", value: 1 }) { __typename } }`)
    const answer = await call(port, `/graphql?query=${encodeURIComponent(mutation)}`, { headers: events })
    expect(answer.status).toBe(405)
    expect((await api.world.pool.query('select 1 from data_object')).rowCount).toBe(0)
  })

  test('a body that is too long is not read', async () => {
    const headers = { ...authorized(), 'content-type': 'application/json' }
    const long = JSON.stringify({ query: VIEWER, variables: { x: 'x'.repeat(16 * 1024 * 1024) } })
    expect((await call(port, '/graphql', { method: 'POST', headers, body: long })).status).toBe(413)
  })

  test('a body that is not JSON, or not a request, is a client error', async () => {
    const headers = { ...authorized(), 'content-type': 'application/json' }
    for (const wrong of ['', '{', '[]', '{}', '{"query":1}', '{"query":"{"}', '{"query":"{ nothing }"}']) {
      const { status, json } = await call(port, '/graphql', { method: 'POST', headers, body: wrong })
      expect(status, wrong).toBeLessThan(500)
      expect(json().errors.length).toBeGreaterThan(0)
    }
  })
})

describe('limits', () => {
  /** An operation is refused with one error, however many fields it has. */
  const codeOf = async (query: string) => {
    const { errors = [] } = (await post(port, token, query)).json()
    expect(errors.length).toBeLessThan(2)
    return errors[0]?.extensions?.code ?? null
  }
  test('depth, cost, aliases and length are bounded; introspection passes', async () => {
    const deep = (levels: number): string =>
      levels === 0 ? 'id' : `children(first: 1) { edges { node { ${deep(levels - 1)} } } }`
    expect(await codeOf(`{ objects(first: 1) { edges { node { ${deep(2)} } } } }`)).toBe(null)
    expect(await codeOf(`{ objects(first: 1) { edges { node { ${deep(8)} } } } }`)).toBe('TOO_COMPLEX')
    const wide = '{ objects(first: 500) { edges { node { children(first: 500) { edges { node { id name } } } } } } }'
    expect(await codeOf(wide)).toBe('TOO_COMPLEX')
    const aliases = Array.from({ length: 1_500 }, (_, i) => `a${i}: viewer { name }`).join(' ')
    expect(await codeOf(`{ ${aliases} }`)).toBe('TOO_COMPLEX')
    const pages = Array.from({ length: 190 }, (_, i) => `a${i}: objects(first: 500) { edges { node { id name } } }`)
    expect(await codeOf(`{ ${pages.join(' ')} }`)).toBe('TOO_COMPLEX')
    expect(await codeOf(`{ viewer { name } } # ${'x'.repeat(300_000)}`)).toBe('TOO_COMPLEX')
    expect((await post(port, token, `{ ${'viewer '.repeat(20_000)} }`)).json().errors).toHaveLength(1)
    const { getIntrospectionQuery } = await import('graphql')
    expect((await post(port, token, getIntrospectionQuery())).json().errors).toBeUndefined()
  })

  test('fragments that multiply each other are counted, quickly', async () => {
    const fragments = Array.from({ length: 30 }, (_, i) => `fragment f${i} on Viewer { ...f${i + 1} ...f${i + 1} }`)
    const started = performance.now()
    expect(await codeOf(`{ viewer { ...f0 } } ${fragments.join(' ')} fragment f30 on Viewer { name }`)).toBe(
      'TOO_COMPLEX',
    )
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('an answer does not repeat a value that does not fit, however long it is', async () => {
    const long = 'x'.repeat(4_000_000)
    for (const [query, k] of [
      ['query ($k: [ObjectKind!]) { objects(filter: { kinds: $k }) { totalCount } }', [long]],
      ['query ($k: Int) { objects(first: $k) { totalCount } }', long],
      ['query ($k: Sequence) { phaseChanges(atLeast: $k) { totalCount } }', long],
      ['query ($k: ObjectFilter) { objects(filter: $k) { totalCount } }', { [long]: 1 }],
    ] as const) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const { body } = await call(port, '/graphql', {
        method: 'POST',
        headers,
        body: JSON.stringify({ query, variables: { k } }),
      })
      expect(JSON.parse(body).errors).not.toEqual([])
      expect(body.length).toBeLessThan(50_000)
    }
  })

  test('text that Postgres cannot hold is the caller’s mistake', async () => {
    expect(await codeOf('{ objects(filter: { nameContains: "a\\u0000" }) { totalCount } }')).toBe('BAD_USER_INPUT')
    expect(await codeOf('{ project(name: "\\u0000") { id } }')).toBe('BAD_USER_INPUT')
  })

  test('pages are bounded', async () => {
    expect(await codeOf('{ objects(first: 501) { totalCount } }')).toBe('BAD_USER_INPUT')
    expect(await codeOf('{ objects(first: -1) { totalCount } }')).toBe('BAD_USER_INPUT')
    expect(await codeOf('{ objects(first: 1, last: 1) { totalCount } }')).toBe('BAD_USER_INPUT')
    expect(await codeOf('{ objects(after: "nonsense") { totalCount } }')).toBe('BAD_USER_INPUT')
    // The first number that is not exact.
    expect(await codeOf('{ phaseChanges(after: "9007199254740992") { totalCount } }')).toBe('BAD_USER_INPUT')
    expect(await codeOf('{ phaseChanges(before: "9007199254740992") { totalCount } }')).toBe('BAD_USER_INPUT')
  })
})

test('a bug tells nothing about itself', async () => {
  await api.world.pool.query('alter table agent rename to agent_away')
  const { body, json } = await post(port, token, '{ agents { totalCount edges { node { id } } } viewer { name } }')
  await api.world.pool.query('alter table agent_away rename to agent')
  expect(json()).toMatchObject({
    data: { agents: null, viewer: { name: 'ada' } },
    errors: [{ path: ['agents'], extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  })
  expect(body).not.toContain('relation')
})
