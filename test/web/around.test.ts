import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { expr } from '../testkit/deployments.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, visit, widerBy } from './visit.ts'

const here = usePlace()
const scope = (page: Page) => page.getByRole('combobox', { name: 'Scope' })
const section = (page: Page, title: string) => page.getByRole('region', { name: title })

test('one project is shown alone, on each page that can, until another is chosen', async () => {
  const { client } = here.server
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  // A user with one project has nothing to choose.
  expect(await scope(page).count()).toBe(0)
  await ask(client, MUTATIONS.createProject, { name: 'store' })
  const spec = items(1)
  await ask(client, MUTATIONS.createInstallation, { project: 'store', name: 'in-store', spec })
  await create(client, 'in-default', spec)
  await page.reload()
  const trees = section(page, 'Trees')
  await trees.getByRole('link', { name: 'in-default' }).waitFor()
  await trees.getByRole('link', { name: 'in-store' }).waitFor()

  await scope(page).selectOption('store')
  await page.waitForURL(`${here.server.origin}/?project=store`)
  await trees.getByRole('link', { name: 'in-default' }).waitFor({ state: 'detached' })
  await trees.getByRole('link', { name: 'in-store' }).waitFor()
  await trees.getByRole('heading', { name: 'Trees 1' }).waitFor()
  // Changes in another project do not count here.
  const other = await create(client, 'also-in-default', spec)
  await until(async () => (await show(client, other))?.finished, { what: 'it has ended' })
  await ask(client, MUTATIONS.createInstallation, { project: 'store', name: 'also-in-store', spec })
  await trees.getByRole('row', { name: /^also-in-store/ }).waitFor()
  expect(await trees.getByRole('row').count()).toBe(3)
  expect(await seriousFindings(page)).toEqual([])

  await goTo(page, 'Trees', 'Objects')
  await page.waitForURL(`${here.server.origin}/objects?project=store&roots=yes`)
  await page
    .getByRole('row', { name: /also-in-store/ })
    .first()
    .waitFor()
  expect(await page.getByRole('row', { name: /in-default/ }).count()).toBe(0)
  expect(await page.title()).toBe('Objects · store · Phaseline')
  await goTo(page, 'Activity', 'Log')
  await page.waitForURL(`${here.server.origin}/log?project=store`)
  await page.getByText('store/in-store').first().waitFor()
  expect(await page.getByText('default/in-default').count()).toBe(0)
  // A page of its own does not forget it.
  await goTo(page, 'Fleet', 'Agents')
  await page.waitForURL(`${here.server.origin}/agents?project=store`)
  expect(await scope(page).inputValue()).toBe('store')
  await scope(page).selectOption('')
  await page.waitForURL(`${here.server.origin}/`)
  await trees.getByRole('link', { name: 'also-in-default' }).waitFor()
  expect(complaints).toEqual([])
})

test('a view is saved, found by keyboard, renamed and removed, in all tabs', async () => {
  await using visited = await visit(here.browser, here.server, '/objects?kind=DEPLOY_ITEM&finished=no')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const dialog = page.getByRole('dialog', { name: 'Saved views' })
  const open = () => page.getByRole('button', { name: 'Views', exact: true }).click()
  await open()
  await dialog.getByText('Nothing is saved yet.').waitFor()
  await dialog.getByRole('textbox').fill('Busy items')
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })

  await goTo(page, 'Fleet', 'Agents')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Find' }).waitFor()
  await page.keyboard.type('busy')
  await page.getByRole('option', { name: /Busy items.*Saved view/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/objects?kind=DEPLOY_ITEM&finished=no`)

  const other = await page.context().newPage()
  await other.goto(`${here.server.origin}/agents#token=${here.server.token}`)
  await other.getByRole('button', { name: 'Views', exact: true }).click()
  await other.getByRole('dialog').getByRole('link', { name: 'Busy items' }).waitFor()
  await open()
  await dialog.getByText('This view is saved as').waitFor()
  await dialog.getByRole('textbox').fill('Unfinished items')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  // Storage tells the other tab.
  await other.getByRole('dialog').getByRole('link', { name: 'Unfinished items' }).waitFor()
  await other.getByRole('dialog').getByRole('button', { name: 'Remove Unfinished items' }).click()
  await other.getByRole('dialog').getByText('Nothing is saved yet.').waitFor()
  await open()
  await dialog.getByText('Save this view as').waitFor()
  expect(complaints).toEqual([])
})

test('what a tree exports is a link on the first page', async () => {
  const { client } = here.server
  const url = 'https://shop.example/orders'
  const id = await create(client, 'exporting', {
    deployItems: [{ name: 'make', type: 'mock', config: { exports: { url } } }],
    exports: [{ name: 'url', value: expr('deployItems.make.exports.url') }],
  })
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/', { width: 390 })
  const { page, complaints } = visited
  const link = section(page, 'Trees').getByRole('link', { name: 'url' })
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe(url)
  expect(await link.getAttribute('rel')).toBe('noreferrer')
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  expect(complaints).toEqual([])
})

test('a date and time is chosen, kept in the address, and given up', async () => {
  await using visited = await visit(here.browser, here.server, '/log')
  const { page, complaints } = visited
  await page.getByLabel('When').selectOption('chosen')
  await page.getByLabel('From', { exact: true }).fill('2026-01-02T03:04')
  await page.waitForURL(/since=/)
  await page.locator('.log-row').first().waitFor()
  await page.getByLabel('Until', { exact: true }).fill('2026-01-03T03:04')
  await page.getByText('Nothing matches.').waitFor()
  await page.reload()
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-01-02T03:04')
  expect(await seriousFindings(page)).toEqual([])
  // A day that is typed anew is not complete for a moment, and stays in the field.
  await page.getByLabel('From', { exact: true }).focus()
  await page.keyboard.press('Backspace')
  await page.keyboard.type('1')
  await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toMatch(/^2026-/)
  await page.getByLabel('When').selectOption('')
  await page.waitForURL(`${here.server.origin}/log`)
  await page.locator('.log-row').first().waitFor()
  expect(complaints).toEqual([])
})
