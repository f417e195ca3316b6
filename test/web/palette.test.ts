import { expect, test } from 'vitest'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()

test('objects, pages and forms are found by keyboard alone, from any page', async () => {
  const id = await create(here.server.client, 'needle', items(2))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/log')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const options = page.getByRole('dialog').getByRole('option')

  await page.keyboard.press('Control+k')
  await options.first().waitFor()
  await page.keyboard.type('need')
  await page.getByRole('option', { name: /needle.*SUCCEEDED/ }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/tree/${id}`)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('create')
  await page.getByRole('option', { name: /Create task/ }).waitFor()
  await expect.poll(() => options.count()).toBeGreaterThan(3)
  // The last one, around the beginning.
  await page.keyboard.press('ArrowUp')
  expect(await options.last().getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Find' }).click()
  await page.keyboard.type('no such thing')
  await page.getByText('Nothing has this name.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('on a narrow screen it is used by pointer', async () => {
  await using visited = await visit(here.browser, here.server, '/', { width: 390, dark: true })
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('dialog').getByRole('combobox').fill('documentation')
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('option', { name: /Documentation/ }).click()
  await page.waitForURL(`${here.server.origin}/docs/`)
  expect(complaints).toEqual([])
})
