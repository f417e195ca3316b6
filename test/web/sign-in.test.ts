import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { commandLine, documents } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import { AUDIENCE, CLIENT_ID, type Issuer, startIssuer } from '../testkit/issuer.ts'
import { create } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { usePlaceOf } from './place.ts'
import { goTo, visit } from './visit.ts'

/** The dashboard signs people in at a real issuer. */

let issuer: Issuer
const shared = new AsyncDisposableStack()
afterAll(() => shared.disposeAsync())
const here = usePlaceOf(async () => {
  issuer = shared.use(await startIssuer())
  issuer.groups.set('ada', ['operators'])
  const file = join(shared.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-oidc-'))).path, 'access.yaml')
  await writeFile(file, policy())
  return await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', PHASELINE_ACCESS_POLICY: file } })
})
beforeAll(() => issuer.allowRedirect(`${here.server.origin}/login`))

const policy = (): string => `
issuers:
  - url: ${issuer.url}
    audience: ${AUDIENCE}
    clockSkewS: 0
    login: { clientId: ${CLIENT_ID}, scope: openid profile offline_access, resource: "${AUDIENCE}" }
    rules:
      - { claim: groups, value: operators, administrator: true }
`
const host = (): string => new URL(issuer.url).host
const visitor = () => visit(here.browser, { ...here.server, token: '' }, '/log?kind=TASK')

test('somebody signs in at the issuer, comes back to the page, and signs out', async () => {
  await using visited = await visitor()
  const { page, complaints, strangers } = visited
  await page.evaluate('location.hash = "here"')
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  await page.getByRole('heading', { name: 'Log', level: 1 }).waitFor()
  expect(page.url()).toBe(`${here.server.origin}/log?kind=TASK#here`)
  const stored = 'JSON.parse(sessionStorage.getItem("phaseline-sign-in"))'
  const { token, refreshToken } = (await page.evaluate(stored)) as { token: string; refreshToken: string }
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(token)
  expect(refreshToken).toMatch(/./)
  expect([...new Set(strangers.map((url) => new URL(url).origin))]).toEqual([issuer.url])
  await page.reload()
  await page.locator('[data-connection=live]').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Your token').waitFor()
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('oken')
  await page.reload()
  await page.getByRole('button', { name: `Sign in with ${host()}` }).waitFor()
  expect(complaints).toEqual([])
})

test('a page stays live over several lives of its token, and misses no change', async () => {
  issuer.tokenTtlS = 3
  onTestFinished(() => {
    issuer.tokenTtlS = 60
  })
  await using visited = await visitor()
  const { page, complaints } = visited
  const { sockets, renewals, sequences } = received(page)
  const { log: start } = await here.server.client.query(gql('{ log { head } }'))
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  // Fresh tokens keep sockets open. A machine that stands still for as long as one lives has to connect anew.
  for (let n = 0; renewals.length < 4 || sockets.length >= renewals.length; n += 1) {
    await create(here.server.client, `change-${n}`, { deployItems: [] })
    const { log: now } = await here.server.client.query(gql('{ log { head } }'))
    await until(() => (sequences.at(-1) ?? 0) >= now.head, { what: `the page receives change ${now.head}` })
  }
  await goTo(page, 'Trees', 'Objects')
  await create(here.server.client, 'late', { deployItems: [] })
  await page.getByRole('link', { name: 'late', exact: true }).waitFor()
  const { log: end } = await here.server.client.query(gql('{ log { head } }'))
  await until(() => sequences.at(-1) === end.head, { what: `the page receives change ${end.head}` })
  expect(sequences).toEqual(Array.from({ length: end.head - start.head }, (_, i) => start.head + 1 + i))
  await page.locator('[data-connection=live]').waitFor()
  expect(besidesExpired(complaints)).toEqual([])
})

/**
 * A token that lives for seconds expires under way where the machine stands still. The server refuses it then, and the request is
 * sent again with a fresh one.
 */
const besidesExpired = (complaints: readonly string[]) => complaints.filter((text) => !text.includes('401'))

/** Messages over the sockets of a page, in the order in which Chromium receives them. */
interface Received {
  readonly sockets: readonly string[]
  /** Milliseconds that each fresh token lives, which an open socket was given. */
  readonly renewals: readonly number[]
  /** Sequences of the log's changes; a socket that connects anew may repeat some. */
  readonly sequences: readonly number[]
}
interface Frame {
  readonly payload?: {
    readonly expiresInMs?: number
    readonly data?: { readonly phaseLog?: { readonly changes: readonly { readonly sequence: number }[] } }
  }
  readonly type: string
}
function received(page: Page): Received {
  const sockets: string[] = []
  const renewals: number[] = []
  const sequences: number[] = []
  page.on('websocket', (socket) => {
    sockets.push(socket.url())
    socket.on('framereceived', ({ payload: text }) => {
      const { type, payload } = JSON.parse(String(text)) as Frame
      if (type === 'pong' && payload?.expiresInMs) renewals.push(payload.expiresInMs)
      for (const { sequence } of payload?.data?.phaseLog?.changes ?? [])
        if (sequence > (sequences.at(-1) ?? 0)) sequences.push(sequence)
    })
  })
  return { sockets, renewals, sequences }
}

test('the other tabs stay signed in over several lives of the token, which the first one renews, and end with it', async () => {
  issuer.tokenTtlS = 3
  onTestFinished(() => {
    issuer.tokenTtlS = 60
  })
  await using visited = await visitor()
  const { page } = visited
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  const other = await page.context().newPage()
  const { sockets, sequences } = received(other)
  const { log: start } = await here.server.client.query(gql('{ log { head } }'))
  await other.goto(`${here.server.origin}/agents`)
  await other.locator('[data-connection=live]').waitFor()
  expect(await other.evaluate('JSON.stringify(sessionStorage)')).not.toContain('oken')
  // Its socket ends with each token, and the next one has the fresh cookie.
  for (let n = 0; sockets.length < 3; n += 1) {
    await create(here.server.client, `elsewhere-${n}`, { deployItems: [] })
    const { log: now } = await here.server.client.query(gql('{ log { head } }'))
    await until(() => (sequences.at(-1) ?? 0) >= now.head, { what: `the other tab receives change ${now.head}` })
  }
  const { log: end } = await here.server.client.query(gql('{ log { head } }'))
  await until(() => sequences.at(-1) === end.head, { what: `the other tab receives change ${end.head}` })
  expect(sequences).toEqual(Array.from({ length: end.head - start.head }, (_, i) => start.head + 1 + i))
  const revoked = issuer.requests.get('/token/revocation') ?? 0
  await other.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Your token').waitFor()
  await until(() => (issuer.requests.get('/token/revocation') ?? 0) > revoked, { what: 'the issuer ends it, too' })
})

test('an answer that this tab has not asked for signs nobody in', async () => {
  await using visited = await visitor()
  const { page } = visited
  await page.goto(`${here.server.origin}/login?code=stolen&state=guessed&iss=${encodeURIComponent(issuer.url)}`)
  await page.getByText('You are not signed in.').waitFor()
  expect(page.url()).toBe(`${here.server.origin}/`)
})

test('GraphiQL on a page of its own goes on over several lives of the token', async () => {
  issuer.tokenTtlS = 5
  onTestFinished(() => {
    issuer.tokenTtlS = 60
  })
  await using visited = await visitor()
  const { page, complaints } = visited
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  // Nothing but GraphiQL renews from here on.
  await page.goto(`${here.server.origin}/graphiql`)
  const button = page.locator('.graphiql-execute-button[aria-haspopup=menu]')
  const run = async (operation: string): Promise<void> => {
    await button.click()
    await page.getByRole('menuitem', { name: operation }).click()
  }
  const { renewals } = received(page)
  await run('PhaseChanges')
  await until(() => renewals.length >= 3, { what: 'the token of its socket is renewed' })
  await create(here.server.client, 'under-graphiql', { deployItems: [] })
  await page.getByText('"under-graphiql"').first().waitFor()
  await page.locator('.graphiql-execute-button').click()
  await run('Objects')
  await page.getByText('"ada"').first().waitFor()
  expect(await page.isVisible('dialog')).toBe(false)
  expect(besidesExpired(complaints)).toEqual([])
})

test('the command line signs in with the help of a browser, and its stream outlives its tokens', async () => {
  issuer.tokenTtlS = 3
  onTestFinished(() => {
    issuer.tokenTtlS = 60
  })
  await using config = await mkdtempDisposable(join(tmpdir(), 'phaseline-config-'))
  const phaseline = commandLine({ PHASELINE_URL: here.server.url, XDG_CONFIG_HOME: config.path })
  await using signingIn = phaseline.spawn('login --json')
  await signingIn.shows('verificationUri')
  const [code] = documents(signingIn.out())
  await using visited = await visitor()
  const { page } = visited
  await page.goto(String(code?.verificationUri))
  await page.getByPlaceholder('Enter code').fill(String(code?.userCode))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(String(code?.userCode)).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  expect(await signingIn.exit).toBe(0)
  expect(documents(signingIn.out()).at(-1)).toMatchObject({ viewer: { name: 'ada', administrator: true } })

  const { log: start } = await here.server.client.query(gql('{ log { head } }'))
  await using following = phaseline.spawn(`log --follow --after ${start.head} --json`)
  const seen = () =>
    following.out() === '' ? [] : documents(following.out()).map(({ sequence }) => sequence as number)
  const before = issuer.requests.get('/token') ?? 0
  for (let n = 0; (issuer.requests.get('/token') ?? 0) - before < 3; n += 1) {
    await create(here.server.client, `followed-${n}`, { deployItems: [] })
    const { log: now } = await here.server.client.query(gql('{ log { head } }'))
    await until(() => seen().at(-1) === now.head, { what: `change ${now.head} is printed: ${following.err()}` })
  }
  expect(seen()).toEqual(seen().map((_, i) => start.head + 1 + i))
})

test('the token form is there as before', async () => {
  await using visited = await visitor()
  const { page } = visited
  await page.getByLabel('Your token').fill(here.server.token)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.locator('[data-connection=live]').waitFor()
})

test.each([
  [1440, false],
  [1024, true],
  [390, false],
  [390, true],
] as const)('the page to sign in fits into %d pixels, dark %s', async (width, dark) => {
  await using visited = await visit(here.browser, { ...here.server, token: '' }, '/', { width, dark })
  const { page } = visited
  await page.getByRole('button', { name: `Sign in with ${host()}` }).waitFor()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/sign-in-${width}-${dark}.png` })
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})
