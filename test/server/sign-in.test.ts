import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { startTestApp } from '../testkit/app.ts'
import { type Answer, call, post } from './call.ts'

/** A browser is signed in by a cookie, which is worth something only together with the key of the pages that it was made for. */

const VIEWER = '{ viewer { name } }'
const KEY = `pl_page_${'k'.repeat(43)}`
const OTHER = `pl_page_${'o'.repeat(43)}`
const ALLOWED = 'https://allowed.example.org'
const CONFIG = { allowedHosts: ['ops.example.org'], allowedOrigins: [ALLOWED] }

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve(CONFIG)
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

interface SignIn {
  readonly key?: string
  readonly isKept?: boolean
  readonly headers?: Record<string, string>
  readonly at?: { readonly port: number; readonly url: string }
}
const signIn = (secret: unknown, { key = KEY, isKept = false, headers = {}, at = server }: SignIn = {}) =>
  call(at.port, '/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: at.url, ...headers },
    body: JSON.stringify({ token: secret, key, isKept }),
  })
const setBy = ({ headers }: Answer): readonly string[] => [headers['set-cookie'] ?? []].flat()
/** The cookies that a browser has after this answer. */
const cookieOf = (answer: Answer): string =>
  setBy(answer)
    .filter((line) => !line.includes('Max-Age=0'))
    .map((line) => line.split(';', 1)[0])
    .join('; ')
const cookieFor = async (secret: string, options: SignIn = {}): Promise<string> => {
  const answer = await signIn(secret, options)
  expect([answer.status, answer.body]).toEqual([204, ''])
  return cookieOf(answer)
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const statusOf = async (headers: Record<string, string>, at = server) =>
  (await post(at.port, null, VIEWER, headers)).status

/** A socket's first message by its type, or the code that closes it, or the status that refuses it. */
async function socketWith(headers: Record<string, string>, payload?: object): Promise<string | number> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers })
  onTestFinished(() => socket.terminate())
  const told = new Promise<string | number>((resolve) => {
    socket.on('message', (data) => resolve(JSON.parse(String(data)).type))
    socket.on('close', resolve)
    socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
  })
  socket.on('error', () => {})
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', ...(payload && { payload }) })))
  return await told
}

describe('the cookie and the key', () => {
  const EVENTS = { accept: 'text/event-stream' }
  /** All doors to which somebody comes with a token. */
  const DOORS: Readonly<Record<string, (headers: Record<string, string>) => Promise<number>>> = {
    'a query': (headers) => statusOf(headers),
    events: async (headers) =>
      (await call(server.port, `/graphql?query=${encodeURIComponent(VIEWER)}`, { headers: { ...EVENTS, ...headers } }))
        .status,
    'an artifact': async (headers) => (await call(server.port, '/artifacts/none', { headers })).status,
    metrics: async (headers) => (await call(server.port, '/metrics', { headers })).status,
  }
  test.each(Object.entries(DOORS))('are a token at %s, and none without each other', async (door, status) => {
    const cookie = await cookieFor(token)
    expect(await status({ cookie, ...bearer(KEY) })).toBe(door === 'an artifact' ? 404 : 200)
    for (const headers of [{ cookie }, bearer(KEY), { cookie, ...bearer(OTHER) }, { cookie, authorization: KEY }])
      expect(await status(headers as Record<string, string>)).toBe(401)
  })

  test('open a WebSocket, and no other page does with the cookie that its browser adds', async () => {
    const cookie = await cookieFor(token)
    const own = { origin: server.url, cookie }
    expect(await socketWith(own, bearer(KEY))).toBe('connection_ack')
    expect(await socketWith(own)).toBe(4403)
    expect(await socketWith(own, bearer(OTHER))).toBe(4403)
    expect(await socketWith({ origin: server.url }, bearer(KEY))).toBe(4403)
    expect(await socketWith({ origin: 'http://127.0.0.1:1', cookie })).toBe(403)
    expect(await socketWith({ origin: ALLOWED, cookie })).toBe(4403)
  })

  test('count for nothing beside a token in the header', async () => {
    const reader = await api.token({ name: 'reader', role: 'READER' })
    const cookie = await cookieFor(token)
    const { status, json } = await post(server.port, reader, VIEWER, { cookie })
    expect([status, json()]).toEqual([200, { data: { viewer: { name: 'reader' } } }])
    expect(await socketWith({ origin: server.url, cookie }, bearer(reader))).toBe('connection_ack')
    expect(await statusOf({ cookie, ...bearer('wrong') })).toBe(401)
  })

  test('of the sign-in before are worth nothing after the next one', async () => {
    const before = await cookieFor(token)
    const after = await cookieFor(await api.token({ name: 'next', role: 'READER' }), { key: OTHER })
    expect(await statusOf({ cookie: after, ...bearer(KEY) })).toBe(401)
    expect(await statusOf({ cookie: before, ...bearer(OTHER) })).toBe(401)
    expect(await statusOf({ cookie: after, ...bearer(OTHER) })).toBe(200)
  })

  test('end at once with their token, whether it is revoked or has expired', async () => {
    const gone = await cookieFor(await api.token({ name: 'gone', role: 'USER' }))
    const short = await cookieFor(await api.token({ name: 'short', expiresInMs: 60_000 }))
    for (const cookie of [gone, short]) expect(await statusOf({ cookie, ...bearer(KEY) })).toBe(200)
    await api.revoke('gone')
    expect(await statusOf({ cookie: gone, ...bearer(KEY) })).toBe(401)
    api.world.clock.advance(60_000)
    expect(await statusOf({ cookie: short, ...bearer(KEY) })).toBe(401)
    expect(await socketWith({ origin: server.url, cookie: short }, bearer(KEY))).toBe(4403)
  })

  test('work on any server of the same database, also on two of one host side by side', async () => {
    const other = await api.serve()
    const [here, there] = [await cookieFor(token), await cookieFor(token, { key: OTHER, at: other })]
    const cookie = `${here}; ${there}`
    expect(await statusOf({ cookie, ...bearer(KEY) })).toBe(200)
    expect(await statusOf({ cookie, ...bearer(OTHER) }, other)).toBe(200)
    expect(await statusOf({ cookie, ...bearer(KEY) }, other)).toBe(401)
    // Behind one name they are one.
    const host = { host: 'ops.example.org', origin: 'https://ops.example.org' }
    const twin = await api.serve(CONFIG)
    const shared = await cookieFor(token, { headers: host })
    expect(await statusOf({ cookie: shared, ...host, ...bearer(KEY) }, twin)).toBe(200)
  })

  test('leave a socket as it is when a ping repeats them, and close it when a ping has others', async () => {
    const cookie = await cookieFor(await api.token({ name: 'pinging', expiresInMs: 60_000 }))
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { cookie, origin: server.url },
    })
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    const answer = async (message: object) => {
      socket.send(JSON.stringify(message))
      const [data] = await once(socket, 'message')
      return JSON.parse(String(data))
    }
    const ack = await answer({ type: 'connection_init', payload: bearer(KEY) })
    expect(ack).toEqual({ type: 'connection_ack', payload: { expiresInMs: 60_000 } })
    api.world.clock.advance(1_000)
    const pong = await answer({ type: 'ping', payload: bearer(KEY) })
    expect(pong).toEqual({ type: 'pong', payload: { expiresInMs: 59_000 } })
    // Nobody has sent a wrong token: the socket ends as others do whose token has expired.
    api.world.clock.advance(60_000)
    const late = await answer({ type: 'ping', payload: bearer(KEY) })
    expect(late).toEqual({ type: 'pong', payload: { expiresInMs: 0 } })
    const closed = once(socket, 'close')
    socket.send(JSON.stringify({ type: 'ping', payload: bearer(OTHER) }))
    expect((await closed)[0]).toBe(4403)
  })
})

describe('the attributes of the cookie', () => {
  test('keep it from scripts, from pages of other sites, and from the disk unless it is wanted there', async () => {
    const [line = '', ...parts] = setBy(await signIn(token))
    expect(line).toMatch(new RegExp(`^phaseline-${server.port}=[\\w-]+; Path=/; HttpOnly; SameSite=Strict$`))
    expect(parts.every((part) => part.includes('Max-Age=0'))).toBe(true)
    expect(line).not.toContain(token)
    const [kept = ''] = setBy(await signIn(token, { isKept: true }))
    expect(kept).toMatch(/; Max-Age=2592000$/)
  })

  test('end it no later than its token', async () => {
    const hour = await api.token({ name: 'hour', expiresInMs: 3_600_000 })
    expect(setBy(await signIn(hour, { isKept: true }))[0]).toMatch(/; Max-Age=3600$/)
  })

  test('keep it from requests without encryption where a proxy encrypts', async () => {
    const headers = { host: 'ops.example.org', origin: 'https://ops.example.org' }
    const [line] = setBy(await signIn(token, { headers }))
    expect(line).toMatch(/^__Host-phaseline=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  })

  test('end it when the page signs out', async () => {
    const answer = await call(server.port, '/sign-in', { method: 'DELETE', headers: { origin: server.url } })
    expect([answer.status, cookieOf(answer)]).toEqual([204, ''])
    expect(setBy(answer)[0]).toBe(`phaseline-${server.port}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`)
  })
})

describe('only pages of this server sign in and out', () => {
  test.each([
    ['a program', {}],
    ['a page on another port', { origin: 'http://127.0.0.1:1' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['a page that may call the API', { origin: ALLOWED }],
    ['such a page on the same site', { origin: ALLOWED, 'sec-fetch-site': 'same-site' }],
  ])('and not %s', async (_, headers) => {
    const body = JSON.stringify({ token, key: KEY, isKept: true })
    for (const method of ['POST', 'DELETE', 'GET', 'OPTIONS']) {
      const asked = { 'content-type': 'application/json', 'access-control-request-method': 'POST', ...headers }
      const answer = await call(server.port, '/sign-in', {
        ...{ method, headers: asked as Record<string, string> },
        ...(method === 'POST' && { body }),
      })
      expect([method, answer.status, setBy(answer)]).toEqual([method, 403, []])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  test('also behind a proxy that replaces the host, where the browser says so', async () => {
    const cookie = await cookieFor(token, { headers: { origin: ALLOWED, 'sec-fetch-site': 'same-origin' } })
    expect(cookie).toMatch(new RegExp(`^__Host-phaseline-${server.port}=`))
    expect(await statusOf({ cookie, origin: ALLOWED, ...bearer(KEY) })).toBe(200)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'and not with a form of type %s',
    async (type) => expect((await signIn(token, { headers: { 'content-type': type } })).status).toBe(415),
  )

  test('with GET nothing is done', async () => {
    const answer = await call(server.port, '/sign-in', { headers: { origin: server.url } })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, DELETE'])
  })
})

describe('what is no sign-in', () => {
  const send = (body: string) =>
    call(server.port, '/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body,
    })
  test('is a client error', async () => {
    const parts = ['{"token":"x"}', '{"token":1,"key":2,"isKept":3}']
    for (const body of ['', '{', '[]', 'null', '1', '{}', ...parts]) {
      const answer = await send(body)
      expect([body, answer.status, setBy(answer)]).toEqual([body, 400, []])
    }
    const large = await send('x'.repeat(20_000))
    expect([large.status, setBy(large)]).toEqual([413, []])
    expect(JSON.stringify(large)).toContain('at most 16384 bytes')
  })
  test('is refused for a key that is none', async () => {
    for (const key of ['', 'x', `${KEY}x`, token]) expect((await signIn(token, { key })).status).toBe(400)
  })
  test('is refused for a token that is none', async () => {
    for (const wrong of ['wrong', '', 'a b', 'x'.repeat(9_000), KEY]) {
      const answer = await signIn(wrong)
      expect([wrong, answer.status, setBy(answer)]).toEqual([wrong, 401, []])
    }
  })
})

test('neither the token nor the key is in a log or an answer, whatever was wrong', async () => {
  await using app = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', PHASELINE_LOG_LEVEL: 'trace' } })
  const at = { port: Number(new URL(app.origin).port), url: app.origin }
  const answers = [
    await signIn(app.token, { at }),
    await signIn(app.token, { at, key: `${KEY}x` }),
    await signIn(`${app.token}x`, { at }),
    await signIn(app.token, { at, headers: { origin: 'https://evil.example' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([204, 400, 401, 403])
  const cookie = cookieOf(answers[0] as Answer)
  for (const headers of [{ cookie: `${cookie}AAAA` }, { cookie }, { cookie: `phaseline-${at.port}=x` }])
    answers.push(await post(at.port, null, VIEWER, { ...headers, ...bearer(KEY) }))
  expect(answers.slice(4).map(({ status }) => status)).toEqual([401, 200, 401])
  const told = app.output() + answers.map(({ body }) => body).join('')
  for (const secret of [app.token, KEY]) expect(told).not.toContain(secret)
})
