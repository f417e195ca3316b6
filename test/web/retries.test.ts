import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { gql } from '../testkit/gql.ts'
import { create } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { visit } from './visit.ts'

const ITEM = gql(
  `query RetriedItem { objectByPath(kind: DEPLOY_ITEM, path: ["shop", "deploy-items", "db"]) { id error { code } } }`,
)

test('the panel of an item shows its attempts, and begins the next one at once', async () => {
  await using server = await startTestApp()
  const { client } = server
  const retry = { attempts: 3, backoff: { initialMs: 300_000 } }
  const root = await create(client, 'shop', {
    deployItems: [{ name: 'db', type: 'mock', config: { flaky: 1 }, retry }],
  })
  const item = await until(
    async () => {
      const { objectByPath: found } = await client.query(ITEM, {})
      return found?.error ? found : null
    },
    { what: 'the first attempt has failed' },
  )
  const browser = await openBrowser()
  await using visited = await visit(browser, server, `/tree/${root}?object=${present(item).id}`)
  const { page, complaints } = visited
  const attempts = page.getByRole('region', { name: 'Attempts' })
  const row = (hasText: RegExp) => attempts.getByRole('listitem').filter({ hasText }).waitFor()
  await row(/1 of 3, failed after \d+s by mock.*: MOCK_FAILURE, Attempt 1 failed as configured/)
  await row(/2 of 3, in \d+m/)
  await page.getByText(/Attempt 2 of 3 begins at .+ \(in \d+m/).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Try now' }).click()
  await row(/2 of 3, succeeded after \d+s by mock/)
  expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0)
  expect(complaints).toEqual([])
})
