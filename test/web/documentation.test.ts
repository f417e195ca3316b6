import { expect, test } from 'vitest'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit, widerBy } from './visit.ts'

/** The site of the documentation, as the server brings it. */

const here = usePlace()

const LOOKS = [
  ['wide and light', { width: 1280, dark: false }],
  ['narrow and dark', { width: 390, dark: true }],
] as const

test.for(LOOKS)('pages of it can be read by everyone, %s, and break no rule of theirs', async ([, look]) => {
  await using visited = await visit(here.browser, here.server, '/docs/', look)
  const { page, complaints, strangers } = visited
  for (const [path, heading] of [
    ['', 'Phaseline'],
    ['first-agent', 'Your first agent in five minutes'],
    ['reference/mutations', 'Mutations'],
    ['how-to/gitops', 'Deploy what is in Git'],
  ] as const) {
    await page.goto(`${here.server.origin}/docs/${path}`)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    expect(await page.evaluate(`document.documentElement.classList.contains('dark')`)).toBe(look.dark)
    expect(await seriousFindings(page)).toEqual([])
    expect(await widerBy(page)).toBeLessThanOrEqual(0)
  }
  expect([complaints, strangers]).toEqual([[], []])
})

test('what is searched for is found, and leads from page to page without another one being loaded', async () => {
  await using visited = await visit(here.browser, here.server, '/docs/')
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Search' }).click()
  await page.locator('#localsearch-input').fill('undo resolve')
  await page.evaluate('window.sameDocument = true')
  await page.locator('#localsearch-list a').first().click()
  await page.getByText('could not be undone').first().waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
  expect(complaints).toEqual([])
  await page.locator('.VPNavBar').getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL(`${here.server.origin}/`)
  await page.getByText('token').first().waitFor()
})

test.for<readonly [word: string, page: string]>([
  ['schedule', 'schedules'],
  ['cron', 'schedules'],
  ['webhook', 'hooks'],
  ['notification', 'notifications'],
  ['alert', 'notifications'],
  ['retry', 'retries'],
  ['backfill', 'schedules'],
  ['bulk', 'bulk'],
])('"%s" is answered with the page on it first', async ([word, page]) => {
  await using visited = await visit(here.browser, here.server, '/docs/')
  await visited.page.getByRole('button', { name: 'Search' }).click()
  await visited.page.locator('#localsearch-input').fill(word)
  const first = visited.page.locator('#localsearch-list a').first()
  await first.waitFor()
  await expect.poll(() => first.getAttribute('href')).toMatch(new RegExp(`^/docs/${page}(#|$)`))
})
