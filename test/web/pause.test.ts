import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { create } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { visit } from './visit.ts'

test('a tree is paused and goes on with a click, and its head and its objects say so', async () => {
  await using server = await startTestApp()
  // Without an end of its own, so that there is something to pause.
  const deployItems = [
    { name: 'db', type: 'mock', config: { hang: true } },
    { name: 'web', type: 'none', config: {} },
  ]
  const root = await create(server.client, 'shop', { deployItems })
  const browser = await openBrowser()
  await using visited = await visit(browser, server, `/tree/${root}?object=${root}`)
  const { page, complaints } = visited
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Pause', exact: true }).click()
  const head = page.locator('.tree-head')
  await head.getByText('‖ paused').waitFor()
  await panel.getByText(/Its tree is paused by/).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.goto(`${server.origin}/objects?roots=true`)
  await page.getByText('‖ paused').waitFor()
  await page.goto(`${server.origin}/tree/${root}?object=${root}`)
  await panel.getByRole('button', { name: 'Resume' }).click()
  await head.getByText('‖ paused').waitFor({ state: 'detached' })
  await panel.getByText(/Its tree is paused by/).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})
