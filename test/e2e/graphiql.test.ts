import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { create, items } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { openWhole } from '../web/visit.ts'

/** The pages that the server serves, as a person with a browser and no other network meets them. */

let server: ReachableServer
let browser: Browser
// Time enough to install a browser.
beforeAll(async () => {
  ;[browser, server] = await Promise.all([openBrowser(), startTestApp()])
})
afterAll(() => server?.[Symbol.asyncDispose]())

interface Visit extends AsyncDisposable {
  readonly page: Page
  /** URLs that the page requested, except those in its own memory. */
  readonly requests: readonly string[]
  /** Complaints of the browser: errors, and requests that the page's policy has refused. */
  readonly complaints: readonly string[]
}

/** With a profile of its own. Any host but the server cannot be reached. */
async function visit(path: string): Promise<Visit> {
  const context = await browser.newContext()
  const requests: string[] = []
  const complaints: string[] = []
  await context.route('**/*', async (route) => {
    const { origin, href } = new URL(route.request().url())
    if (!/^(blob|data):/.test(href)) requests.push(href)
    await (origin === server.origin || origin === 'null' ? route.continue() : route.abort())
  })
  // Less than the test has, so that it can say what was missing.
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  await openWhole(page, `${server.origin}${path}`, (complaint) => complaints.push(complaint))
  return { page, requests, complaints, [Symbol.asyncDispose]: () => context.close() }
}

const BUTTON = '.graphiql-execute-button'
async function run(page: Page, operation: string): Promise<void> {
  // The button has a menu once GraphiQL has found several operations.
  await page.click(`${BUTTON}[aria-haspopup=menu]`)
  await page.getByRole('menuitem', { name: operation }).click()
}

/** The answer on the right, once it holds all of these. */
const answer = (page: Page, ...parts: readonly string[]): Promise<string> =>
  until(
    async () => {
      // The editor's blanks are no-break spaces.
      const text = ((await page.textContent('.result-window')) ?? '').replace(/\s+/g, ' ')
      return parts.every((part) => text.includes(part)) ? text : null
    },
    { what: `the answer holds ${parts.join(', ')}` },
  )

const sequenceIn = (text: string): number => Number(/"sequence": (\d+)/.exec(text)?.[1])

test('in GraphiQL the example can be looked at, created and watched', async () => {
  await using visited = await visit(`/graphiql#token=${server.token}`)
  const { page, requests, complaints } = visited
  expect(page.url()).toBe(`${server.origin}/graphiql`)
  await page.waitForSelector(BUTTON)

  await run(page, 'Objects')
  await answer(page, '"role": "ADMIN"', '"edges": []')
  await run(page, 'CreateInstallation')
  await answer(page, '"__typename": "Installation"')
  await run(page, 'PhaseChanges')
  // The newest come first, with their number.
  const early = await answer(page, '"received": ', '"newest": [', '"name": "hello"', '"to": "SUCCEEDED"')
  // Later changes arrive live.
  await create(server.client, 'afterwards', items(1))
  const late = await answer(page, '"name": "afterwards"', '"to": "SUCCEEDED"')
  expect(sequenceIn(late)).toBeGreaterThan(sequenceIn(early))

  expect(requests.filter((request) => !request.startsWith(`${server.origin}/`))).toEqual([])
  expect(requests.filter((request) => request.includes(server.token))).toEqual([])
  expect(complaints).toEqual([])
  // Storage that outlives the tab does not contain the token.
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(server.token)
})

test('GraphiQL asks for a token, again if it is wrong, and a header in its editor goes first', async () => {
  await using visited = await visit('/graphql')
  const { page } = visited
  const give = async (token: string): Promise<void> => {
    await page.fill('dialog input', token)
    await page.click('dialog button')
  }
  await page.getByText('in the link that the server prints').waitFor()
  await give('wrong')
  await page.getByText('does not accept').waitFor()
  await Promise.all([page.waitForEvent('load'), give(` ${server.token} `)])
  await page.waitForSelector(BUTTON)
  await run(page, 'Objects')
  await answer(page, '"role": "ADMIN"')
  expect(await page.isVisible('dialog')).toBe(false)

  await page.click('text=Headers')
  await page.click('section[aria-label=Headers] .graphiql-editor:not(.hidden)')
  await page.keyboard.insertText('{ "Authorization": "Bearer another" }')
  await run(page, 'Objects')
  await answer(page, 'UNAUTHENTICATED')
  // Also where there are no headers.
  const sent: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await run(page, 'PhaseChanges')
  await until(() => sent.length > 0, { what: 'the socket is opened' })
  expect(JSON.parse(sent[0] ?? '')).toEqual({ type: 'connection_init', payload: { authorization: 'Bearer another' } })
})

test('typed text is kept, under its own name, when an example opens before GraphiQL has taken it in', async () => {
  await using visited = await visit(`/explore#token=${server.token}`)
  const { page, complaints } = visited
  const graphiql = page.frameLocator('iframe[title=GraphiQL]')
  const editor = graphiql.locator('.graphiql-query-editor .view-lines')
  await graphiql.locator(BUTTON).waitFor()
  await editor.click()
  await page.keyboard.press('ControlOrMeta+A')
  // In one step, since GraphiQL takes text in once nothing was typed for a moment.
  await page.evaluate(`(() => {
    const { contentDocument, contentWindow } = document.querySelector('iframe[title=GraphiQL]')
    contentDocument.execCommand('insertText', false, 'query Mine { viewer { role } }')
    contentWindow.postMessage({ operation: 'query Other { viewer { name } }' }, location.origin)
  })()`)
  await graphiql.getByRole('tab', { name: 'Other' }).waitFor()
  await graphiql.getByRole('tab', { name: 'Mine' }).click()
  await until(async () => /query\sMine\s{\sviewer\s{\srole/.test((await editor.textContent()) ?? ''), {
    what: 'the typed text is there again',
  })
  expect(complaints).toEqual([])
})
