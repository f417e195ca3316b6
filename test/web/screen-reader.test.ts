import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { usePlace } from './place.ts'
import { goTo, visit } from './visit.ts'

/** Keyboard and ears alone, and a network that keeps one waiting. */

const here = usePlace()

/** Notes what live regions say from now on. */
const LISTEN = `
  window.said_ = []
  window.heard_?.disconnect()
  const regionOf = (node) => {
    const region = (node instanceof Element ? node : node.parentElement)?.closest('[aria-live], [role=status], [role=alert]')
    return region?.getAttribute('aria-live') === 'off' ? null : region
  }
  window.heard_ = new MutationObserver((list) => {
    const regions = new Set(list.flatMap(({ target, addedNodes }) => [target, ...addedNodes].map(regionOf)))
    for (const region of regions) if (region?.isConnected && region.innerText.trim() !== '') window.said_.push(region.innerText)
  })
  window.heard_.observe(document.body, { subtree: true, childList: true, characterData: true })`

const said = (page: Page): Promise<readonly string[]> => page.evaluate('window.said_')
const heard = (page: Page, what: RegExp) =>
  expect.poll(async () => (await said(page)).some((text) => what.test(text)), { message: String(what) }).toBe(true)
/** The part of the page that has the focus, by its label. */
const focused = (page: Page): Promise<string | null> =>
  page.evaluate(
    `document.activeElement.closest('aside, main, dialog')?.getAttribute('aria-label') ?? document.activeElement.localName`,
  )
/** Waits for two ticks of a clock of the page. */
async function untilTicked(page: Page, clock: string): Promise<void> {
  const shown = () => page.locator(clock).first().textContent()
  for (let tick = 0; tick < 2; tick += 1) {
    const before = await shown()
    await expect.poll(shown).not.toBe(before)
  }
}

test('a screen reader hears which page is shown and that a retry runs, and nothing while nothing happens', async () => {
  const id = await create(here.server.client, 'heard', items(2, { fail: true, delayMs: 300 }))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'the tree has failed' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page } = visited
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel.getByText('CHILDREN_FAILED').first().waitFor()
  await page.locator('[data-connection=live]').waitFor()
  await page.evaluate(LISTEN)
  await untilTicked(page, '.panel-phase time')
  expect(await said(page)).toEqual([])

  await panel.getByRole('button', { name: 'Retry what failed' }).press('Enter')
  await heard(page, /asked for/)
  await heard(page, /PROGRESSING/)
  await heard(page, /FAILED for/)
  await expect.poll(() => focused(page)).toBe('The selected object')
  await panel.getByRole('link', { name: 'item-0' }).first().press('Enter')
  await panel.getByRole('heading', { name: 'item-0' }).waitFor()
  await expect.poll(() => focused(page)).toBe('The selected object')
  await goTo(page, 'Activity', 'Log')
  await heard(page, /^Log · /)
})

test('a page without a network says so once, and what has become of a request is not known', async () => {
  const id = await create(here.server.client, 'away', items(1))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'the tree has ended' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page } = visited
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel.getByRole('button', { name: 'Reconcile' }).waitFor()
  await page.locator('[data-connection=live]').waitFor()
  await page.context().setOffline(true)
  await page.locator('[data-connection=lost]').waitFor()
  await page.evaluate(LISTEN)
  await untilTicked(page, '[data-connection=lost]')
  expect((await said(page)).filter((text) => text.includes('Disconnected'))).toEqual([])
  await panel.getByRole('button', { name: 'Reconcile' }).click()
  await panel.getByText(/No answer came .*: look before you ask again/).waitFor()
  await page.context().setOffline(false)
  await page.locator('[data-connection=live]').waitFor()
})

test('on a slow network a page says what it waits for, and an action is not possible again before its effect is shown', async () => {
  const id = await create(here.server.client, 'slow', items(1))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'the tree has ended' })
  await using visited = await visit(here.browser, here.server, '/machines')
  const { page } = visited
  const arrives = Promise.withResolvers<void>()
  await page.route('**/*.js', async (route) => {
    await arrives.promise
    await route.continue()
  })
  await page.goto(`${here.server.origin}/tree/${id}`, { waitUntil: 'commit' })
  await page.getByText('Loading the dashboard…').waitFor()
  arrives.resolve()
  const reconcile = page.getByRole('button', { name: 'Reconcile' })
  await reconcile.waitFor()
  const answers = Promise.withResolvers<void>()
  await page.route('**/graphql', async (route) => {
    if ((route.request().postData() ?? '').includes('query Details')) await answers.promise
    await route.continue()
  })
  await reconcile.click()
  await page.getByText('Reconcile: asked for.').waitFor()
  expect(await reconcile.isDisabled()).toBe(true)
  answers.resolve()
  await expect.poll(() => reconcile.isEnabled()).toBe(true)
})
