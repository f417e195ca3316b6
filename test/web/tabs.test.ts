import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

/** One sign-in holds for all tabs of a browser. */

const TOKEN = gql(`mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) {
  __typename ... on CreatedToken { secret token { id } } ... on Error { message } } }`)
const REVOKE = gql(`mutation ($input: RevokeTokenInput!) { answer: revokeToken(input: $input) {
  __typename ... on RevokedToken { id } ... on Error { message } } }`)

const here = usePlace()
const isLive = (page: Page): Promise<void> => page.locator('[data-connection=live]').waitFor()
const isAsked = (page: Page): Promise<void> => page.getByLabel('Your token').waitFor()
const signOut = (page: Page): Promise<void> => page.getByRole('button', { name: 'Sign out' }).click()
const visitor = (path: string) => visit(here.browser, { ...here.server, token: '' }, path)
async function give(page: Page, { token }: Pick<ReachableServer, 'token'> = here.server): Promise<void> {
  await page.getByLabel('Your token').fill(token)
  await page.getByRole('button', { name: 'Open' }).click()
}
async function tab(context: BrowserContext, path: string, server: Pick<ReachableServer, 'origin'> = here.server) {
  const page = await context.newPage()
  await page.goto(`${server.origin}${path}`)
  return page
}

test('a new tab, a shared address and a link that is opened in one ask for nothing', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  await isLive(page)
  const context = page.context()
  const shared = await tab(context, '/log?kind=TASK&search=x')
  await isLive(shared)
  await shared.getByRole('heading', { name: 'Log', level: 1 }).waitFor()
  expect(await shared.getByLabel('Search').inputValue()).toBe('x')
  const opened = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Trees', exact: true }).click({ modifiers: ['ControlOrMeta'] })
  await isLive(await opened)
  const graphiql = await tab(context, '/graphiql')
  await graphiql.click('.graphiql-execute-button[aria-haspopup=menu]')
  await graphiql.getByRole('menuitem', { name: 'Objects' }).click()
  await graphiql.getByText('"admin"').first().waitFor()
  // No script of the page can read the token, in whatever tab.
  for (const each of context.pages())
    expect(await each.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).not.toContain(
      here.server.token,
    )
  expect(complaints).toEqual([])
})

test('the page of an address is shown once somebody has signed in, with its filter and its fragment', async () => {
  await using visited = await visitor('/objects?kind=TASK&name=x')
  const { page, complaints } = visited
  await page.evaluate('location.hash = "here"')
  await isAsked(page)
  expect(await seriousFindings(page)).toEqual([])
  await give(page)
  await isLive(page)
  await page.getByRole('heading', { name: 'Objects', level: 1 }).waitFor()
  expect(page.url()).toBe(`${here.server.origin}/objects?kind=TASK&name=x#here`)
  expect(complaints).toEqual([])
})

test('who signs out in one tab is signed out in all, and who signs in wakes those that ask', async () => {
  await using visited = await visit(here.browser, here.server, '/log')
  const { page } = visited
  await isLive(page)
  const other = await tab(page.context(), '/agents')
  await isLive(other)
  await signOut(other)
  await Promise.all([page, other].map(isAsked))
  await until(async () => (await page.context().cookies()).length === 0, { what: 'the cookie has ended' })
  await give(page)
  await Promise.all([page, other].map(isLive))
  await other.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
})

test('a sign-in ends with the browser, or is kept for up to 30 days if that is wanted', async () => {
  await using visited = await visitor('/')
  const { page } = visited
  const expires = async (): Promise<readonly number[]> => {
    const cookies = await page.context().cookies()
    for (const { httpOnly, sameSite, path } of cookies)
      expect([httpOnly, sameSite, path]).toEqual([true, 'Strict', '/'])
    return cookies.map((cookie) => cookie.expires)
  }
  await give(page)
  await isLive(page)
  expect(await expires()).toEqual([-1])
  await signOut(page)
  await isAsked(page)
  await page.getByLabel('Keep me signed in').check()
  await give(page)
  await isLive(page)
  const [end = 0] = await expires()
  const days = (end - Date.now() / 1_000) / 86_400
  expect([days > 29.9, days < 30.1]).toEqual([true, true])
})

test('a tab of before follows another sign-in, and does nothing in its name unseen', async () => {
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, { name: 'eve', role: 'READER' })
  await using visited = await visit(here.browser, here.server, '/tokens')
  const { page } = visited
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor()
  const other = await tab(page.context(), '/')
  await isLive(other)
  await signOut(other)
  await isAsked(other)
  await give(other, { token: secret })
  await isLive(other)
  // The menu of a reader has no such page.
  await isLive(page)
  await page.getByRole('link', { name: 'Tokens', exact: true }).waitFor({ state: 'detached' })
})

test('two servers on one machine have sign-ins of their own', async () => {
  await using second = await startTestApp()
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await isLive(page)
  const other = await tab(page.context(), '/', second)
  await isAsked(other)
  await give(other, second)
  await isLive(other)
  for (const each of [page, other]) {
    await each.reload()
    await isLive(each)
  }
  await signOut(other)
  await isAsked(other)
  await page.reload()
  await isLive(page)
})

test('a tab whose token was revoked asks, and says why', async () => {
  const { secret, token } = await ask(here.server.client, TOKEN, { name: 'leaver', role: 'USER' })
  await using visited = await visitor('/log')
  const { page } = visited
  await give(page, { token: secret })
  await isLive(page)
  await ask(here.server.client, REVOKE, { id: token.id })
  await page.getByText('Your sign-in has ended').waitFor()
  const other = await tab(page.context(), '/')
  await other.getByText('Your sign-in has ended').waitFor()
})
