import type { Browser, Page, Request } from 'playwright-core'
import { onTestFailed } from 'vitest'
import type { ReachableServer } from '../testkit/server.ts'
import { PATIENCE_MS } from '../testkit/wait.ts'

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** Complaints of the browser: errors, and requests that the page's policy has refused. */
  readonly complaints: readonly string[]
  /** Requests to other hosts. */
  readonly strangers: readonly string[]
  /** The page's text, and its requests without an answer. */
  describe(): Promise<string>
}
export interface VisitOptions {
  readonly width?: number
  readonly dark?: boolean
}

/** A person with the printed link, a profile of their own, and no other network. */
export async function visit(
  browser: Browser,
  server: Pick<ReachableServer, 'origin' | 'token'>,
  path: string,
  { width = 1280, dark = false }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  })
  const complaints: string[] = []
  const strangers: string[] = []
  context.on('request', (request) => {
    const { href, origin } = new URL(request.url())
    if (origin !== server.origin && !/^(blob|data):/.test(href)) strangers.push(href)
  })
  // Less than a test has, so that it can say what was missing.
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  // A link with a token that is not an administrator's asks. Other questions are dismissed, as they are without a listener.
  page.on('dialog', (dialog) => void (/^Sign in as/.test(dialog.message()) ? dialog.accept() : dialog.dismiss()))
  await openWhole(page, `${server.origin}${path}#token=${server.token}`, (complaint) => complaints.push(complaint))
  const unanswered = new Set<Request>()
  context.on('request', (request) => unanswered.add(request))
  context.on('requestfinished', (request) => unanswered.delete(request))
  context.on('requestfailed', (request) => unanswered.delete(request))
  const describe = async (): Promise<string> =>
    [
      `${page.url()} showed: ${(await page.innerText('body', { timeout: SHOWN_MS }).catch(String)).replace(/\s+/g, ' ')}`,
      `it waited for: ${[...unanswered].map((request) => `${request.method()} ${request.url()}`).join(', ') || 'nothing'}`,
      ...complaints,
    ].join('\n')
  let end = ''
  try {
    tellOnFailure(() => end)
  } catch {
    // A hook opens it, for several tests.
  }
  return {
    ...{ page, complaints, strangers, describe },
    async [Symbol.asyncDispose]() {
      end = await describe()
      await context.close()
    },
  }
}

/** Opens a page with all that it loads, and tells of its errors from then on. */
export async function openWhole(page: Page, address: string, complain: (complaint: string) => void): Promise<void> {
  let networkChanges = 0
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    if (message.text().includes(NETWORK_CHANGED)) networkChanges += 1
    else complain(message.text())
  })
  for (let attempt = 1; ; attempt++) {
    const before = networkChanges
    const failed = await page.goto(address).then(() => null, String)
    if (failed === null && networkChanges === before) return
    if (attempt === ATTEMPTS || (failed !== null && !failed.includes(NETWORK_CHANGED)))
      throw new Error(failed ?? NETWORK_CHANGED)
    // The same address with another fragment would not be loaded anew.
    await page.goto('about:blank')
  }
}
/** Chromium ends all requests when an interface comes or goes, as with each container that another test starts. */
const NETWORK_CHANGED = 'ERR_NETWORK_CHANGED'
const ATTEMPTS = 5
/** A page that has hung shows nothing more. */
const SHOWN_MS = 2_000

/** The error of a test that fails says it, too: what was waited for in vain says little alone. */
export const tellOnFailure = (tell: () => Promise<string> | string): void =>
  onTestFailed(async ({ task }) => {
    const [error] = task.result?.errors ?? []
    if (error) error.message += `\n${await tell()}`
  })

/** Goes to a page by the menu, by its section. */
export async function goTo(page: Page, section: string, name: string): Promise<void> {
  const link = (menu: string, to: string) =>
    page.getByRole('navigation', { name: menu, exact: true }).getByRole('link', { name: to, exact: true }).click()
  await link('Pages', section)
  await link(section, name)
}
/** The same on a narrow screen, where the menu is folded. */
export async function goToFolded(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
}

/** Pixels by which the page, or its main part where that scrolls by itself, has to be scrolled sideways. */
export const widerBy = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `Math.max(...[document.documentElement, document.querySelector('main')].map((one) =>
      one === document.documentElement || one && getComputedStyle(one).overflowX !== 'visible' ? one.scrollWidth - one.clientWidth : 0))`,
  )

/** The object's box in the graph, once it is in this phase. */
export const inPhase = (page: Page, name: string, phase: string) =>
  page.locator(`.node[data-phase=${phase}]`, { has: page.locator(`.node-name:text-is("${name}")`) })
