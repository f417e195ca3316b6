import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { AUDIENCE, CLIENT_ID, type Issuer, startIssuer } from '../testkit/issuer.ts'
import { create } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { usePlaceOf } from './place.ts'
import { visit } from './visit.ts'

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
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  await page.getByRole('heading', { name: 'Log', level: 1 }).waitFor()
  expect(page.url()).toBe(`${here.server.origin}/log?kind=TASK`)
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
  await page.getByRole('button', { name: `Sign in with ${host()}` }).click()
  await page.locator('[data-connection=live]').waitFor()
  await page.evaluate(`
    window.states = new Set()
    const badge = document.querySelector('[data-connection]')
    new MutationObserver(() => states.add(badge.dataset.connection)).observe(badge, { attributes: true })
  `)
  const renewals = () => (issuer.requests.get('/token') ?? 0) - before
  const before = issuer.requests.get('/token') ?? 0
  await until(() => renewals() >= 4, { what: 'its token is renewed', timeoutMs: 20_000 })
  await page.getByRole('link', { name: 'Objects', exact: true }).click()
  await create(here.server.client, 'late', { deployItems: [] })
  await page.getByRole('link', { name: 'late', exact: true }).waitFor()
  expect(await page.evaluate('[...states]')).toEqual([])
  expect(complaints).toEqual([])
})

test('an answer that this tab has not asked for signs nobody in', async () => {
  await using visited = await visitor()
  const { page } = visited
  await page.goto(`${here.server.origin}/login?code=stolen&state=guessed&iss=${encodeURIComponent(issuer.url)}`)
  await page.getByText('You are not signed in.').waitFor()
  expect(page.url()).toBe(`${here.server.origin}/`)
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
