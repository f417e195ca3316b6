import { once } from 'node:events'
import { mkdtempDisposable, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { AUDIENCE, type Issuer, startIssuer } from '../testkit/issuer.ts'
import { create } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Tokens that expire under open WebSockets. */

let issuer: Issuer
let server: ReachableServer
let file: string
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  issuer = shared.use(await startIssuer())
  file = join(shared.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-oidc-'))).path, 'access.yaml')
  await writeFile(file, policyOf('VIEWER'))
  server = shared.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', PHASELINE_ACCESS_POLICY: file } }))
})
afterAll(() => shared.disposeAsync())

const policyOf = (role: string): string => `
issuers:
  - url: "${issuer.url}"
    audience: "${AUDIENCE}"
    clockSkewS: 0
    rules: [{ roles: [${role}] }, { claim: groups, value: writers, roles: [AUTHOR] }]`
const tokenFor = (seconds: number, { sub = 'ada', groups = [] as readonly string[] } = {}): Promise<string> =>
  issuer.sign({ iss: issuer.url, aud: AUDIENCE, sub, groups, exp: Math.floor(Date.now() / 1_000) + seconds })

test('a subscription outlives its tokens, and misses no change', async () => {
  issuer.tokenTtlS = 3
  let asked = 0
  const states: string[] = []
  const token = async (): Promise<string> => {
    asked += 1
    return await issuer.token('ada')
  }
  await using client = createClient({ url: server.url, token, onConnection: (state) => states.push(state) })
  const stop = new AbortController()
  const seen: number[] = []
  const { log } = await server.client.query(gql('{ log { head endCursor } }'))
  const following = (async () => {
    for await (const { changes } of client.followPhases({ after: log.endCursor, signal: stop.signal }))
      seen.push(...changes.map(({ sequence }) => sequence))
  })()
  let n = 0
  while (asked < 5) {
    n += 1
    await create(server.client, `change-${n}`, { deployItems: [] })
    const { log: now } = await server.client.query(gql('{ log { head endCursor } }'))
    await until(() => seen.at(-1) === now.head, { what: 'its changes are seen' })
  }
  stop.abort()
  await following
  // Fresh tokens kept sockets open. A machine that stands still for as long as one lives has to connect anew.
  expect(states.filter((state) => state === 'connected').length).toBeLessThan(asked - 1)
  expect(seen).toEqual(seen.map((_, i) => log.head + 1 + i))
})

const TOKEN = gql(`mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) {
  __typename ... on CreatedToken { secret token { id principal { id } } } ... on Error { message } } }`)
const MORE = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  __typename ... on CreatedToken { secret token { id } } ... on Error { message } } }`)
const REVOKE = gql(`mutation ($input: RevokeTokenInput!) { answer: revokeToken(input: $input) {
  __typename ... on RevokedToken { id } ... on Error { message } } }`)

/** A socket of the protocol with this token, once it is acknowledged. */
async function open(token: string) {
  const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws')
  const messages: { type: string; payload?: { expiresInMs?: number } }[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  const find = (type: string) =>
    until(() => messages.find((message) => message.type === type), { what: `${type} comes` })
  return {
    closed,
    find,
    life: (await find('connection_ack')).payload?.expiresInMs,
    renew: (fresh: string) =>
      socket.send(JSON.stringify({ type: 'ping', payload: { authorization: `Bearer ${fresh}` } })),
    [Symbol.dispose]: () => socket.terminate(),
  }
}

test('a socket says how long its token lives, and after a fresh one how long that does', async () => {
  using socket = await open(await tokenFor(60))
  expect(socket.life).toBeGreaterThan(30_000)
  expect(socket.life).toBeLessThanOrEqual(60_000)
  socket.renew(await tokenFor(180))
  expect((await socket.find('pong')).payload?.expiresInMs).toBeGreaterThan(120_000)
  using unending = await open(server.token)
  expect(unending.life).toBeUndefined()
})

test.each<[string, () => Promise<string>]>([
  ['of another principal', () => tokenFor(60, { sub: 'bob' })],
  ['of another principal with more rights', async () => server.token],
  ['that has expired', () => tokenFor(-5)],
  ['that is none', async () => 'x'],
])('a fresh token %s closes the socket', async (_, fresh) => {
  using socket = await open(await tokenFor(60))
  socket.renew(await fresh())
  expect(await socket.closed).toBe(4403)
})

test.each([
  ['fewer', ['writers'], []],
  ['more', [], ['writers']],
])('a fresh token of the same principal with %s rights ends what was opened with others', async (_, before, after) => {
  using socket = await open(await tokenFor(60, { groups: before }))
  socket.renew(await tokenFor(60, { groups: after }))
  expect(await socket.closed).toBe(4410)
})

test('a fresh token that is revoked closes the socket, which another one of its principal has opened', async () => {
  const { secret, token } = await ask(server.client, TOKEN, { name: 'ops', role: 'READER' })
  using socket = await open(secret)
  const other = await ask(server.client, MORE, { principalId: token.principal.id, name: 'other' })
  socket.renew(other.secret)
  await socket.find('pong')
  using renewed = await open(secret)
  await ask(server.client, REVOKE, { id: other.token.id })
  renewed.renew(other.secret)
  expect(await renewed.closed).toBe(4403)
  // It has taken the place of the first one, and ends with it.
  expect(await socket.closed).toBe(4403)
})

test('a socket ends with its token', async () => {
  using socket = await open(await tokenFor(4))
  expect(await socket.closed).toBe(4403)
})

test('a fresh token with other rights makes the client connect anew', async () => {
  using socket = await open(await tokenFor(60))
  await writeFile(`${file}.new`, policyOf('EDITOR'))
  await rename(`${file}.new`, file)
  expect(await socket.closed).toBe(4410)
})
