import { mkdtempDisposable, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import { AUDIENCE, type Issuer, startIssuer } from '../testkit/issuer.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** A server that accepts the tokens of a real issuer, whose policy, keys and reachability change. */

const VIEWER = gql('{ viewer { id name role administrator projects grants { role project { name } } } }')
const WHOAMI = '{"query":"{ viewer { id name role administrator projects } }"}'

const policyOf = (rules: string, url = issuer.url): string => `
issuers:
  - url: ${url}
    audience: ${AUDIENCE}
    clockSkewS: 20
    rules:
${rules}`
const RULES = `
      - { claim: groups, value: operators, administrator: true }
      - { claim: groups, value: admins, roles: [ADMIN] }
      - { claim: groups, value: web, roles: [EDITOR, AUTHOR], projects: [default, nowhere] }
      - { roles: [VIEWER], projects: [default] }`

let issuer: Issuer
let server: ReachableServer
let file: string
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  issuer = shared.use(await startIssuer())
  issuer.groups.set('ada', ['operators']).set('bob', ['web'])
  file = join(shared.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-oidc-'))).path, 'access.yaml')
  await writeFile(file, policyOf(RULES))
  server = shared.use(await start())
})
afterAll(() => shared.disposeAsync())

const start = () => startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', PHASELINE_ACCESS_POLICY: file } })

async function ask(token: string, { url } = server): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return await fetch(url, { method: 'POST', headers, body: WHOAMI })
}
const viewerOf = async (token: string) => {
  await using client = createClient({ url: server.url, token })
  return (await client.query(VIEWER)).viewer
}
const replacePolicy = async (text: string): Promise<void> => {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}
const LOGOUT = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const now = (): number => Math.floor(Date.now() / 1_000)
const claims = (more: object = {}) => ({ iss: issuer.url, aud: AUDIENCE, sub: 'ada', exp: now() + 60, ...more })

describe('a token of the issuer', () => {
  test('makes one principal for each subject, with the rights of the policy', async () => {
    const [ada, bob, eve] = await Promise.all(
      ['ada', 'bob', 'eve'].map(async (one) => viewerOf(await issuer.token(one))),
    )
    expect(ada).toMatchObject({ name: 'ada', role: 'ADMIN', administrator: true, projects: null })
    expect(bob).toMatchObject({ name: 'bob', role: 'USER', administrator: false, projects: ['default'] })
    expect(bob?.grants.map(({ role }) => role)).toEqual(['EDITOR', 'AUTHOR', 'VIEWER'])
    expect(eve).toMatchObject({ name: 'eve', role: 'READER', projects: ['default'] })
    expect(await viewerOf(await issuer.token('bob'))).toEqual(bob)

    const { principals } = await server.client.query(gql('{ principals { id name issuer subject grants { role } } }'))
    const listed = principals?.filter((one) => one.issuer === issuer.url)
    expect(listed).toHaveLength(3)
    expect(listed).toContainEqual({ id: bob?.id, name: 'bob', issuer: issuer.url, subject: 'bob', grants: [] })
  })

  test('names the principal anew, which keeps its id; rights cannot be given to it here', async () => {
    const before = await viewerOf(await issuer.sign(claims({ sub: 'zoe', preferred_username: 'zoe' })))
    const after = await viewerOf(
      await issuer.sign(claims({ sub: 'zoe', preferred_username: ' Zoe\u0308\u202e\u200b\u0000 ' })),
    )
    expect(after).toEqual({ ...before, name: 'Zoë' })
    const UPDATE = gql(
      'mutation ($input: UpdatePrincipalInput!) { answer: updatePrincipal(input: $input) { ... on Error { code message } } }',
    )
    const input = { id: before?.id ?? '', administrator: true }
    expect(await server.client.query(UPDATE, { input })).toMatchObject({
      answer: { code: 'INVALID_INPUT', message: expect.stringContaining('access policy') },
    })
  })

  test('is refused once its principal is deleted', async () => {
    const token = () => issuer.sign(claims({ sub: 'leaver' }))
    const { id } = (await viewerOf(await token())) ?? { id: '' }
    const DELETE = gql(
      'mutation ($input: DeletePrincipalInput!) { answer: deletePrincipal(input: $input) { __typename } }',
    )
    // Somebody who is no administrator might take away more rights than it has.
    await using admin = createClient({
      url: server.url,
      token: await issuer.sign(claims({ sub: 'max', groups: ['admins'] })),
    })
    expect(await admin.query(DELETE, { input: { id } })).toEqual({ answer: { __typename: 'NotFoundError' } })
    expect((await ask(await token())).status).toBe(200)
    await server.client.query(DELETE, { input: { id } })
    expect((await ask(await token())).status).toBe(401)
  })

  test.each<[string, () => Promise<string>]>([
    ['for another audience', () => issuer.sign(claims({ aud: 'https://other.example.org' }))],
    ['without an end', () => issuer.sign(claims({ exp: undefined }))],
    ['without a subject', () => issuer.sign(claims({ sub: undefined }))],
    ['with an endless subject', () => issuer.sign(claims({ sub: 'x'.repeat(256) }))],
    ['that has expired', () => issuer.sign(claims({ exp: now() - 21 }))],
    ['that is not valid yet', () => issuer.sign(claims({ nbf: now() + 30 }))],
    ['of a key that the issuer does not have', () => issuer.sign(claims(), { kid: 'unknown' })],
    ['of another issuer', () => issuer.sign(claims({ iss: 'https://other.example.org' }))],
    ['of a logout', () => issuer.sign(claims({ events: LOGOUT }), { typ: 'logout+jwt' })],
    ['of a logout that says so in its type alone', () => issuer.sign(claims(), { typ: 'application/Logout+JWT' })],
    ['of a logout that does not say so in its type', () => issuer.sign(claims({ events: LOGOUT }), { typ: 'JWT' })],
    ['of an event', () => issuer.sign(claims(), { typ: 'secevent+jwt' })],
    ['that proves a key', () => issuer.sign(claims(), { typ: 'dpop+jwt' })],
    ['with several types', () => issuer.sign(claims(), { typ: ['JWT'] as unknown as string })],
    ['that never expires', () => issuer.sign(claims({ exp: 1e300 }))],
    ['that is bound to a key', () => issuer.sign(claims({ cnf: { jkt: 'x' } }))],
    ['without a signature', async () => `${encode({ alg: 'none' })}.${encode(claims())}.`],
    ['with a signature of no key', async () => `${(await issuer.sign(claims())).slice(0, -8)}AAAAAAAA`],
    [
      'with a secret that everybody knows',
      () => new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.alloc(32, 'public')),
    ],
  ])('%s is refused', async (_, token) => {
    const answer = await ask(await token())
    expect([answer.status, (await answer.json()) as object]).toMatchObject([
      401,
      { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    ])
  })

  test.each(['JWT', 'at+jwt', 'application/AT+jwt'])('is accepted with the type %s', async (typ) => {
    expect((await ask(await issuer.sign(claims(), { typ }))).status).toBe(200)
  })

  test('is accepted within the skew of the clocks', async () => {
    expect((await ask(await issuer.sign(claims({ exp: now() - 1, nbf: now() + 1 })))).status).toBe(200)
  })
})

test('keys are rotated', async () => {
  const before = await issuer.token('bob')
  expect((await ask(before)).status).toBe(200)
  await issuer.rotateKeys()
  const after = await issuer.token('bob')
  await until(async () => (await ask(after)).status === 200, { what: 'the new key is found' })
})

test('while the issuer does not answer, known keys go on, and a server without keys says that it cannot tell', async () => {
  const known = await issuer.token('bob')
  const fresh = await issuer.sign(claims({ jti: 'fresh' }))
  await ask(known)
  await issuer.stop()
  try {
    expect((await ask(fresh)).status).toBe(200)
    await using other = await start()
    const answer = await ask(known, other)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] })
    await issuer.start()
    await until(async () => (await ask(known, other)).status === 200, { what: 'it has the keys' })
  } finally {
    await issuer.start().catch(() => undefined)
  }
})

test('a changed policy counts at once; an invalid one does not, and is named in the log', async () => {
  const token = await issuer.token('eve')
  expect(await viewerOf(token)).toMatchObject({ role: 'READER' })
  await replacePolicy(policyOf('      - { roles: [EDITOR] }'))
  await until(async () => (await viewerOf(token))?.role === 'USER', { what: 'the policy is read' })
  await replacePolicy(policyOf('      - { roles: [OWNER] }'))
  await until(() => server.output().includes('issuers.0.rules.0.roles.0'), { what: 'it is named' })
  expect(await viewerOf(token)).toMatchObject({ role: 'USER', projects: null })
  await replacePolicy(policyOf(RULES))
  await until(async () => (await viewerOf(token))?.role === 'READER', { what: 'the first policy is back' })
})

test.each([
  ['a: 1', 'issuers'],
  [`issuers: [{ url: 'http://issuer.example.org', audience: a }]`, 'issuers.0.url'],
  [`issuers: [{ url: 'https://issuer.example.org', audience: a, algorithms: [HS256] }]`, 'issuers.0.algorithms.0'],
  [
    `issuers: [{ url: 'https://a.example.org', audience: a, rules: [{ claim: g, roles: [EDITOR] }] }]`,
    'claim and value',
  ],
  [`issuers: [{ url: 'https://a.example.org', audience: a, rules: [{}] }]`, 'gives no rights'],
])('a server does not start with the policy %s', async (text, problem) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-oidc-'))
  const path = join(folder.path, 'access.yaml')
  await writeFile(path, text)
  await expect(startTestApp({ env: { PHASELINE_ACCESS_POLICY: path } })).rejects.toThrow(problem)
})

test('unknown keys do not flood the issuer', async () => {
  const asked = () => issuer.requests.get('/jwks') ?? 0
  const start = asked()
  const began = performance.now()
  const foreign = await Promise.all(Array.from({ length: 50 }, (_, n) => issuer.sign(claims(), { kid: `k${n}` })))
  for (const token of foreign) expect((await ask(token)).status).toBe(401)
  // Once at first, and once for every two seconds that it took.
  expect(asked() - start).toBeLessThanOrEqual(2 + (performance.now() - began) / 2_000)
})

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
