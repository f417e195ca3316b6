import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { create, items } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, goToFolded, visit, widerBy } from './visit.ts'

const here = usePlace()

const current = (page: Page) =>
  page
    .locator('header [aria-current]:visible, .section-pages [aria-current]:visible')
    .evaluateAll((marked) =>
      marked.map((link) => `${link.textContent} ${link.getAttribute('aria-current')}`).toSorted(),
    )

test('sections lead to their pages; the section and the page that are shown are marked, and the tab is named after them', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
    ...['Overview', 'Trees', 'Activity', 'Fleet', 'Settings'],
  ])
  await expect.poll(() => current(page)).toEqual(['Overview page'])
  const places = [
    ['Trees', 'Schedules', '/schedules', 'Schedules'],
    ['Trees', 'Bulk operations', '/objects?kind=BULK_OPERATION', 'Objects'],
    ['Activity', 'Audit', '/audit', 'Audit'],
    ['Fleet', 'Locks', '/locks', 'Locks'],
    ['Fleet', 'Places', '/places', 'Places'],
    ['Fleet', 'Limits', '/limits', 'Limits'],
    ['Settings', 'Hooks', '/hooks', 'Hooks'],
    ['Settings', 'Notifications', '/rules', 'Notifications'],
    ['Settings', 'Tokens', '/tokens', 'Tokens'],
  ] as const
  for (const [section, name, path, heading] of places) {
    await goTo(page, section, name)
    await page.waitForURL(`${here.server.origin}${path}`)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await expect.poll(() => current(page)).toEqual([`${name} page`, `${section} true`].toSorted())
    expect(await page.title()).toBe(`${heading} · Phaseline`)
  }
  const id = await create(here.server.client, 'marked', items(1))
  await page.goto(`${here.server.origin}/tree/${id}`)
  await page.getByRole('heading', { level: 1, name: 'marked' }).waitFor()
  expect(await page.title()).toBe('marked · default · Phaseline')
  await expect.poll(() => current(page)).toContain('Trees true')
  expect(complaints).toEqual([])
})

test('help is at hand on each page: its documentation, the keys, the API and the version; Escape closes it', async () => {
  await using visited = await visit(here.browser, here.server, '/schedules')
  const { page, complaints } = visited
  const help = page.getByRole('button', { name: 'Help', exact: true })
  await help.focus()
  await page.keyboard.press('Enter')
  const about = page.getByRole('link', { name: 'About this page' })
  expect(await about.getAttribute('href')).toBe('/docs/schedules')
  await page.getByText(/^Phaseline \d+\.\d+\.\d+/).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await about.waitFor({ state: 'hidden' })
  expect(await help.evaluate((button) => button === document.activeElement)).toBe(true)

  await help.click()
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Ctrl K, Cmd K').waitFor()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await keys.waitFor()
  await page.keyboard.press('Escape')
  await help.click()
  await page.getByRole('link', { name: 'Explore the API' }).click()
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor()
  await about.waitFor({ state: 'hidden' })
  expect(complaints).toEqual([])
})

// 640 pixels are 1280 at 200 %.
test.each([390, 640, 960])('at %d pixels the menu is folded, and the page has the screen', async (width) => {
  await using visited = await visit(here.browser, here.server, '/agents', { width })
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const pages = page.getByRole('navigation', { name: 'Pages' })
  expect(await pages.count()).toBe(0)
  const { y = Infinity } = (await page.getByRole('heading', { level: 1 }).boundingBox()) ?? {}
  expect(y).toBeLessThan(80)
  // By keyboard alone.
  await page.getByRole('button', { name: 'Menu' }).focus()
  await page.keyboard.press('Enter')
  await pages.waitFor()
  await expect.poll(() => current(page)).toEqual(['Agents page', 'Fleet true'])
  expect(await seriousFindings(page)).toEqual([])
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  await page.keyboard.press('Escape')
  await pages.waitFor({ state: 'hidden' })
  await goToFolded(page, 'Tokens')
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  await pages.waitFor({ state: 'hidden' })
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  expect(complaints).toEqual([])
})

test('the name of a section finds its pages', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('fleet')
  await page.getByRole('option', { name: 'Locks Fleet' }).waitFor()
  expect(await page.getByRole('dialog').getByRole('option').count()).toBe(5)
})

test('history is shown when someone asks for it, and left for the present', async () => {
  const id = await create(here.server.client, 'past', items(1))
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page, complaints } = visited
  const slider = page.getByRole('slider', { name: 'Moment of the tree' })
  const history = page.getByRole('button', { name: 'History', exact: true })
  await history.waitFor()
  expect(await slider.count()).toBe(0)
  await history.click()
  await slider.press('Home')
  await page.waitForURL(/at=\d+/)
  await page.reload()
  await slider.waitFor()
  expect(await history.getAttribute('aria-expanded')).toBe('true')
  await history.click()
  await slider.waitFor({ state: 'detached' })
  await page.waitForURL(`${here.server.origin}/tree/${id}`)
  expect(complaints).toEqual([])
})
