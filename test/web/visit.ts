import type { Browser, Page } from 'playwright-core'
import { onTestFailed } from 'vitest'
import type { ReachableServer } from '../testkit/server.ts'
import { PATIENCE_MS } from '../testkit/wait.ts'

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** What the browser complained about: errors, and what the page's policy has refused. */
  readonly complaints: readonly string[]
  /** What it asked other hosts for. */
  readonly strangers: readonly string[]
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
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(`${server.origin}${path}#token=${server.token}`)
  let shown = ''
  try {
    onTestFailed(() => console.error(`At its end ${path} showed:\n${shown}\n${complaints.join('\n')}`))
  } catch {
    // A hook looks at it, for several tests.
  }
  return {
    ...{ page, complaints, strangers },
    async [Symbol.asyncDispose]() {
      shown = await page.textContent('body', { timeout: SHOWN_MS }).then(String, String)
      await context.close()
    },
  }
}
/** A page that has hung shows nothing more. */
const SHOWN_MS = 2_000

/** The object's box in the graph, once it is in this phase. */
export const inPhase = (page: Page, name: string, phase: string) =>
  page.locator(`.node[data-phase=${phase}]`, { has: page.locator(`.node-name:text-is("${name}")`) })
