import type { Browser } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { copyDatabase, createTestDatabase, replaceDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { inPhase, visit } from './visit.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})

test('open pages go on by themselves when the database is failed over to a copy that has lost its tail', async () => {
  await using database = await createTestDatabase(2)
  const env = { DATABASE_URL: database.url, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_LOG_LEVEL: 'fatal' }
  await using server = await startServer({ env })
  const work = async (name: string): Promise<string> => {
    // Connections that were cut make an error of whatever was asked over them.
    const id = await until(() => create(server.client, name, items(2)).catch(() => null), {
      what: `${name} is created`,
    })
    await until(async () => (await show(server.client, id).catch(() => null))?.finished, { what: `${name} is done` })
    return id
  }
  const kept = await work('kept')
  await using copy = await copyDatabase(database, 2)
  await work('lost')
  await using log = await visit(browser, server, '/log')
  await using tree = await visit(browser, server, `/tree/${kept}`)
  await log.page.locator('[data-sequence]', { hasText: 'lost' }).first().waitFor()
  await inPhase(tree.page, 'kept', 'SUCCEEDED').waitFor()
  await Promise.all([tree, log].map(({ page }) => page.evaluate('window.sameDocument = true')))

  await replaceDatabase(database, copy)
  for (const name of ['new-1', 'new-2', 'new-3']) await work(name)
  const { rows } = await database.pool.query<{ n: number }>('select sum(n)::int as n from log_batch')
  const head = rows[0]?.n ?? 0
  await log.page.getByText(`${head} changes shown`).waitFor()
  await log.page.locator(`[data-sequence="${head}"]`).waitFor()
  expect(await log.page.locator('[data-sequence]', { hasText: 'lost' }).count()).toBe(0)
  await inPhase(tree.page, 'kept', 'SUCCEEDED').waitFor()
  // And it is live again.
  await ask(server.client, MUTATIONS.reconcileInstallation, { id: kept })
  await log.page.locator('[data-sequence]', { hasText: 'kept' }).first().waitFor()
  for (const { page } of [tree, log]) expect(await page.evaluate('window.sameDocument')).toBe(true)
})
