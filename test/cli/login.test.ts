import { mkdtempDisposable, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { SignIn } from '../../src/sign-in/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { decide } from '../testkit/device-page.ts'
import { gql } from '../testkit/gql.ts'
import { AUDIENCE, CLIENT_ID, type Issuer, startIssuer } from '../testkit/issuer.ts'
import { create } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents, type Running } from './command.ts'

/** The command line signs in at a real issuer, by device. */

let issuer: Issuer
let server: ReachableServer
let policyFile: string
let config: string
let phaseline: CommandLine
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  issuer = shared.use(await startIssuer())
  issuer.groups.set('ada', ['web'])
  const folder = shared.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-login-'))).path
  policyFile = join(folder, 'access.yaml')
  config = join(folder, 'config')
  await writeFile(policyFile, policyOf())
  server = shared.use(
    await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', PHASELINE_ACCESS_POLICY: policyFile } }),
  )
  phaseline = commandLine({ PHASELINE_URL: server.url, XDG_CONFIG_HOME: config })
})
afterAll(() => shared.disposeAsync())
afterEach(async () => {
  Object.assign(issuer, { tokenTtlS: 60, beforeTokens: null, codeTtlS: 60, codeAnswer: { interval: 1 }, slowDowns: 0 })
  await phaseline('logout')
})

const policyOf = ({ audience = AUDIENCE, login = '' } = {}): string => `
issuers:
  - url: ${issuer.url}
    audience: ${audience}
    clockSkewS: 0
    login: { clientId: ${CLIENT_ID}, scope: openid profile offline_access, resource: "${AUDIENCE}"${login} }
    rules: [{ claim: groups, value: web, roles: [VIEWER, EDITOR], projects: [default] }]
`

/** The first line of `login --json` has the code. */
const codeOf = async (running: Running): Promise<string> => {
  await running.shows('verificationUri')
  return String(documents(running.out())[0]?.verificationUriComplete)
}
async function signIn(): Promise<string> {
  await using running = phaseline.spawn('login --json')
  await decide(await codeOf(running), 'confirm')
  expect(await running.exit).toBe(0)
  return running.out()
}
const folder = (): string => join(config, 'phaseline/sign-ins')
const files = async (): Promise<readonly string[]> =>
  (await readdir(folder())).filter((name) => name.endsWith('.json')).map((name) => join(folder(), name))
async function stored(): Promise<SignIn> {
  const [file = ''] = await files()
  return JSON.parse(await readFile(file, 'utf8')) as SignIn
}
const renewals = (): number => issuer.requests.get('/token') ?? 0

test('somebody signs in, is known from then on, and signs out', async () => {
  await using running = phaseline.spawn('login --context here')
  await until(() => running.err().includes('It is valid for'), { what: 'it says what to do' })
  const [, address = ''] = /^ {2}(http\S+)$/m.exec(running.err()) ?? []
  expect(running.err()).toContain(`Sign in at ${issuer.url}`)
  expect(running.err()).toContain(new URL(address).searchParams.get('user_code'))
  await decide(address, 'confirm')
  expect(await running.exit).toBe(0)
  const signedIn = `You are signed in to ${server.url} as ada: VIEWER and EDITOR of default.`
  expect(running.out()).toBe(`${signedIn}\nCommands call here.\n`)
  const contexts = { current: 'here', contexts: { here: { url: server.url } } }
  expect(documents((await phaseline('context list --json')).out)).toEqual([contexts])

  const [file = '', ...more] = await files()
  expect(more).toEqual([])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(folder())).mode & 0o777).toBe(0o700)
  const who = await phaseline('whoami')
  expect(who).toMatchObject({ code: 0, err: '' })
  expect(who.out).toContain(`token   sign-in at ${issuer.url}`)
  const overridden = { PHASELINE_URL: server.url, XDG_CONFIG_HOME: config, PHASELINE_TOKEN: server.token }
  expect((await phaseline('whoami', { env: overridden })).out).toContain('admin: administrator')

  const { token, refreshToken } = await stored()
  expect(await phaseline('logout')).toEqual({ code: 0, out: `You are signed out of ${server.url}.\n`, err: '' })
  expect(await files()).toEqual([])
  expect(await refresh(refreshToken)).toBe('invalid_grant')
  expect((await phaseline('logout')).out).toContain('Nobody is signed in')
  for (const secret of [token, refreshToken ?? '']) expect(phaseline.transcript()).not.toContain(secret)
})

/** The error with which the issuer answers. */
async function refresh(token: string | null): Promise<unknown> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: CLIENT_ID, refresh_token: token ?? '' })
  return ((await (await fetch(`${issuer.url}/token`, { method: 'POST', body })).json()) as { error?: string }).error
}

test('a token that has expired on its way is renewed, not taken for one that the server refuses', async () => {
  issuer.tokenTtlS = 1
  let given = 0
  issuer.beforeTokens = async () => {
    given += 1
    if (given === 1) await delay(2_000)
    issuer.tokenTtlS = 60
  }
  await signIn()
  expect(given).toBe(2)
  expect((await stored()).expiresAt).toBeGreaterThan(Date.now())
})

test('another sign-in takes the place of the first one, which the issuer forgets', async () => {
  await signIn()
  const first = await stored()
  await signIn()
  expect((await stored()).refreshToken).not.toBe(first.refreshToken)
  expect(await refresh(first.refreshToken)).toBe('invalid_grant')
  expect((await phaseline('whoami')).code).toBe(0)
})

test('streams of several commands outlive their tokens, and miss no change', async () => {
  issuer.tokenTtlS = 3
  await signIn()
  const { log: start } = await server.client.query(gql('{ log { head } }'))
  await using first = phaseline.spawn(`log --follow --after ${start.head} --json`)
  await using second = phaseline.spawn(`log --follow --after ${start.head} --json`)
  const seen = (running: Running) =>
    running.out() === '' ? [] : documents(running.out()).map(({ sequence }) => sequence as number)
  const before = renewals()
  for (let n = 0; renewals() - before < 4; n += 1) {
    await create(server.client, `change-${n}`, { deployItems: [] })
    const { log: now } = await server.client.query(gql('{ log { head } }'))
    for (const running of [first, second])
      await until(() => seen(running).at(-1) === now.head, { what: `change ${now.head} is seen: ${running.err()}` })
  }
  expect(seen(first)).toEqual(seen(first).map((_, i) => start.head + 1 + i))
  expect(seen(second)).toEqual(seen(first))
  expect([first.err(), second.err()]).toEqual(['', ''])
})

test('commands that begin at once with an expired token renew it once', async () => {
  issuer.tokenTtlS = 3
  await signIn()
  await until(async () => (await stored()).expiresAt < Date.now(), { what: 'the token expires' })
  issuer.tokenTtlS = 60
  const before = renewals()
  const all = await Promise.all(Array.from({ length: 8 }, () => phaseline('whoami')))
  expect(all.map(({ code }) => code)).toEqual(all.map(() => 0))
  expect(renewals() - before).toBe(1)
})

test('while the issuer is away, a token that should be renewed does until it expires', async () => {
  await signIn()
  const [file = ''] = await files()
  const signedIn = await stored()
  const setLife = (since: number, expiresAt: number) =>
    writeFile(file, JSON.stringify({ ...signedIn, since: Date.now() + since, expiresAt: Date.now() + expiresAt }))
  await issuer.stop()
  try {
    await setLife(-100_000, 20_000)
    expect(await phaseline('whoami')).toMatchObject({ code: 0 })
    await setLife(-100_000, -1)
    expect(await phaseline('whoami')).toMatchObject({
      code: 4,
      err: expect.stringContaining(`${issuer.url} cannot be`),
    })
  } finally {
    await issuer.start()
  }
  expect(await phaseline('whoami')).toMatchObject({ code: 0 })
})

test('a stream whose token expires while the issuer is away goes on when it is back', async () => {
  issuer.tokenTtlS = 3
  await signIn()
  await using running = phaseline.spawn('log --follow --json')
  await create(server.client, 'before', { deployItems: [] })
  await running.shows('"name":"before"')
  await issuer.stop()
  try {
    await until(async () => (await stored()).expiresAt < Date.now(), { what: 'the token expires' })
    await create(server.client, 'meanwhile', { deployItems: [] })
  } finally {
    await issuer.start()
  }
  await running.shows('"name":"meanwhile"')
})

test('a token that the server does not accept any more is renewed, however long it should live', async () => {
  await signIn()
  await issuer.rotateKeys()
  const { token } = await stored()
  await until(async () => (await whoIs(await issuer.token('ada'))).ok, { what: 'the new key counts' })
  await until(async () => (await whoIs(token)).status === 401, { what: 'the old key is forgotten' })
  expect(await phaseline('whoami')).toMatchObject({ code: 0 })
  expect((await stored()).token).not.toBe(token)
})

test('a stream ends with a plain word when the sign-in does', async () => {
  issuer.tokenTtlS = 2
  await signIn()
  await using running = phaseline.spawn('log --follow')
  const { refreshToken } = await stored()
  const body = new URLSearchParams({ client_id: CLIENT_ID, token: refreshToken ?? '' })
  await fetch(`${issuer.url}/token/revocation`, { method: 'POST', body })
  expect(await running.exit).toBe(4)
  expect(running.err().split('\n').slice(-2)).toEqual([
    'Not authorised: Your sign-in has ended. (run `phaseline login`, set PHASELINE_TOKEN or give --token-file)',
    '',
  ])
})

describe('a sign-in', () => {
  test('that is denied signs nobody in', async () => {
    await using running = phaseline.spawn('login --json')
    await decide(await codeOf(running), 'abort')
    expect(await running.exit).toBe(3)
    expect(documents(running.out()).at(-1)).toMatchObject({ error: { code: 'ACCESS_DENIED' } })
    expect(await files()).toEqual([])
  })

  test.each([
    ['by the issuer', 1, { interval: 1, expires_in: 60 }],
    ['by its own clock', 60, { interval: 1, expires_in: 1 }],
  ])('that nobody decides ends, %s', async (_, codeTtlS, codeAnswer) => {
    Object.assign(issuer, { codeTtlS, codeAnswer })
    const { code, err } = await phaseline('login')
    expect(code).toBe(4)
    expect(err).toContain('Nobody has entered the code in time')
  })

  test.each([
    ['an address that is no page', { verification_uri: 'javascript:alert(1)' }, 'no address of a page'],
    ['an address that others can read', { verification_uri_complete: 'http://login.example.org/' }, 'at https'],
    ['a code without end', { user_code: 'x'.repeat(100_000) }, 'a code that nobody can enter'],
    ['more than an answer may have', { user_code: 'x'.repeat(1_000_000) }, 'more than 262144 bytes'],
    ['a time before now between questions', { interval: -5 }, 'does not answer as it should'],
  ])('is not begun where the issuer gives %s', async (_, codeAnswer, problem) => {
    Object.assign(issuer, { codeAnswer })
    const { code, err } = await phaseline('login')
    expect({ code, err }).toEqual({ code: 4, err: expect.stringContaining(problem) })
    expect(err.length).toBeLessThan(500)
  })

  test('shows a code as it is, without what would steer the terminal', async () => {
    Object.assign(issuer, { codeAnswer: { interval: 1e300, expires_in: 1e300, user_code: 'AB\u001b[2J\u202e\rCD' } })
    await using running = phaseline.spawn('login')
    await until(() => running.err().includes('It is valid for 1h'), { what: 'it waits' })
    expect(running.err()).toContain('the code AB\ufffd CD.')
  })

  test('does not ask without a pause, whatever the issuer says', async () => {
    Object.assign(issuer, { codeAnswer: { interval: 0.000_1 } })
    const asked = () => issuer.requests.get('/token') ?? 0
    const before = asked()
    await using running = phaseline.spawn('login')
    await until(() => asked() > before + 1, { what: 'it asks again' })
    const [since, count] = [performance.now(), asked()]
    await until(() => asked() > count + 1, { what: 'and again' })
    expect(performance.now() - since).toBeGreaterThan(900)
    running.kill('SIGINT')
  })

  test('asks less often when the issuer wants that', async () => {
    issuer.slowDowns = 1
    await using running = phaseline.spawn('login --json')
    await decide(await codeOf(running), 'confirm')
    expect(await running.exit).toBe(0)
    expect(performance.now() - (issuer.slowedAt ?? Number.NaN)).toBeGreaterThan(5_500)
  })

  test('goes on when the issuer was away for a moment', async () => {
    await using running = phaseline.spawn('login --json')
    const address = await codeOf(running)
    await decide(address, 'confirm')
    await issuer.stop()
    await issuer.start()
    expect(await running.exit).toBe(0)
  })

  test('can be interrupted', async () => {
    await using running = phaseline.spawn('login')
    await until(() => running.err().includes('open this address'), { what: 'it waits' })
    running.kill('SIGINT')
    expect(await running.exit).toBe(130)
  })

  test('of a client that the issuer does not know is refused, with what the issuer says', async () => {
    await usePolicy(
      policyOf({ login: ', deviceClientId: nobody' }),
      ({ deviceClientId }) => deviceClientId === 'nobody',
    )
    expect(await phaseline('login')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/refuses a sign-in by device of its client nobody: invalid_client/),
    })
    await usePolicy(policyOf(), ({ deviceClientId }) => deviceClientId === CLIENT_ID)
  })

  test('whose tokens the server does not accept is not kept', async () => {
    await usePolicy(policyOf({ audience: 'https://other.example.org', login: ', deviceClientId: phaseline' }))
    await until(async () => (await whoIs(await issuer.token('ada'))).status === 401, { what: 'the policy counts' })
    await using running = phaseline.spawn('login --json')
    await decide(await codeOf(running), 'confirm')
    expect(await running.exit).toBe(4)
    expect(running.out()).toContain('the server does not accept its access tokens')
    expect(await files()).toEqual([])
    await usePolicy(policyOf())
    await until(async () => (await whoIs(await issuer.token('ada'))).status === 200, {
      what: 'the first policy is back',
    })
  })

  test('needs one of several issuers to be named', async () => {
    const other = policyOf().replace('issuers:', '').replace(issuer.url, 'https://other.example.org')
    await usePolicy(policyOf() + other, (_, logins) => logins.length === 2)
    expect(await phaseline('login')).toMatchObject({
      code: 2,
      err: `Say where to sign in, with one of: --issuer ${issuer.url}, --issuer https://other.example.org\n`,
    })
    expect(await phaseline('login --issuer nowhere')).toMatchObject({ code: 2 })
    await using running = phaseline.spawn(`login --json --issuer ${new URL(issuer.url).host}`)
    await decide(await codeOf(running), 'confirm')
    expect(await running.exit).toBe(0)
    await usePolicy(policyOf(), (_, logins) => logins.length === 1)
  })
})

const whoIs = (token: string): Promise<Response> =>
  fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ viewer { id } }"}',
  })

interface Offered {
  readonly deviceClientId: string
}
async function usePolicy(
  text: string,
  isUsed: (login: Offered, logins: readonly Offered[]) => boolean = () => true,
): Promise<void> {
  await writeFile(`${policyFile}.new`, text)
  await rename(`${policyFile}.new`, policyFile)
  await until(
    async () => {
      const { logins } = (await (await fetch(`${server.origin}/.well-known/phaseline`)).json()) as { logins: Offered[] }
      return logins[0] && isUsed(logins[0], logins)
    },
    { what: 'the policy is read' },
  )
}

describe('there is no sign-in', () => {
  test('at a server without issuers, nor where there is no such server', async () => {
    await using bare = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
    expect(await phaseline(`login --url ${bare.url}`)).toMatchObject({
      code: 4,
      err: expect.stringContaining('signs nobody in'),
    })
    expect(await phaseline(`login --url ${issuer.url}/graphql`)).toMatchObject({
      code: 4,
      err: expect.stringContaining('is not that of a Phaseline server'),
    })
    expect(await phaseline('login --url http://127.0.0.1:9/graphql')).toMatchObject({
      code: 4,
      err: expect.stringContaining('Cannot reach the server at 127.0.0.1:9'),
    })
  })

  test('over a network that can read it', async () => {
    expect(await phaseline('login --url http://phaseline.example.org/graphql')).toMatchObject({
      code: 2,
      err: expect.stringContaining('use https'),
    })
  })

  test('while the issuer is away', async () => {
    await issuer.stop()
    try {
      expect(await phaseline('login')).toMatchObject({ code: 4, err: expect.stringContaining('cannot be reached') })
    } finally {
      await issuer.start()
    }
  })
})

test('a sign-in of one server is never sent to another', async () => {
  await signIn()
  const other = server.url.replace('127.0.0.1', 'localhost')
  const env = { XDG_CONFIG_HOME: config, PHASELINE_DATA: '/nowhere' }
  expect(await phaseline(`whoami --url ${other}`, { env })).toMatchObject({
    code: 4,
    err: expect.stringContaining('run `phaseline login`'),
  })
  expect((await phaseline(`whoami --url ${server.url}`, { env })).code).toBe(0)
})
