import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()
const LIMIT = gql(`mutation { createLimit(input: {
  name: "db", max: 3, maxPerKey: 1, rate: { count: 5, perMs: 60000 }, weights: [{ key: "eu", weight: 2 }]
}) { ... on Limit { id } ... on Error { message } } }`)
const item = (name: string, key: string) => ({
  ...{ name, type: 'mock', config: { hang: true } },
  limits: [{ limit: 'db', key, priority: name === 'b' ? 0 : 7 }],
})

test('a limit is shown with its keys, holders and queue, is paused, and a key of it overridden', async () => {
  await here.server.client.query(LIMIT, {})
  await create(here.server.client, 'shop', { deployItems: [item('a', 'eu'), item('b', 'eu'), item('c', 'us')] })

  await using visited = await visit(here.browser, here.server, '/limits')
  const { page, complaints } = visited
  const row = page.locator('[data-name=db]')
  await row.getByText('5 in 1m').waitFor()
  await expect.poll(() => row.textContent()).toMatch(/default3 ?15 in 1m21/)
  await page.getByRole('link', { name: 'Open db of default' }).click()
  const [holders, queue] = ['Holds it', 'Waits'].map((name) => page.getByRole('region', { name }))
  await holders?.getByRole('link', { name: 'shop/deploy-items/c' }).waitFor()
  await queue?.getByText(/number 1 of eu for/).waitFor()
  expect(await seriousFindings(page)).toEqual([])

  const form = page.getByRole('form', { name: 'Override' })
  await form.getByLabel('Key').fill('eu')
  await form.getByLabel('At once').fill('2')
  await form.getByRole('button', { name: 'Override' }).click()
  await page.locator('[data-name=eu]').getByText('2 at once by admin').waitFor()
  // The item that has waited starts, and the page says so by itself.
  await queue?.getByText('Nothing waits.').waitFor()

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('new disks')
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText(/Paused by admin for .*: new disks/).waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText(/Paused by/).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])

  const reader = await ask(here.server.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  await using other = await visit(
    here.browser,
    { origin: here.server.origin, token: reader.secret },
    new URL(page.url()).pathname + new URL(page.url()).search,
  )
  await other.page.getByRole('heading', { level: 1, name: 'db' }).waitFor()
  expect(await other.page.getByRole('button', { name: /^(Pause|Override)$/ }).count()).toBe(0)
})
