import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { create } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { visit } from './visit.ts'

test('a gate is among what needs you, and a click decides it, unless its author asks', async () => {
  await using server = await startTestApp()
  const gate = (name: string, authorMay: boolean) => ({
    ...{ name, type: 'gate', config: { message: 'Ship 1.4 to production?', approval: { authorMay } } },
  })
  const root = await create(server.client, 'shop', { deployItems: [gate('review', false), gate('go', true)] })
  const browser = await openBrowser()
  await using visited = await visit(browser, server, '/')
  const { page, complaints } = visited
  await page.getByText('Waits for an approval. Ship 1.4 to production?').first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page
    .getByRole('link', { name: /review/ })
    .first()
    .click()
  const panel = page.getByRole('complementary')
  await panel.getByText('somebody else has to approve it').waitFor()
  expect(await panel.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
  // It is shown already, so nothing leads to it.
  const reasons = panel.getByRole('region', { name: 'What it waits for' })
  expect([await reasons.count(), await reasons.getByRole('link').count()]).toEqual([1, 0])
  expect(await seriousFindings(page)).toEqual([])
  await page.goto(`${server.origin}/tree/${root}?object=${root}`)
  await reasons.getByRole('link', { name: /go/ }).waitFor()
  expect(await reasons.getByRole('link').count()).toBe(2)
  await reasons.getByRole('link', { name: /go/ }).click()
  await panel.getByRole('button', { name: 'Approve', exact: true }).click()
  await panel
    .getByText(/Approved by/)
    .first()
    .waitFor()
  expect(complaints).toEqual([])
})
