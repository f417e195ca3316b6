import { expect, test } from 'vitest'
import { describeDifference, differences } from '../../web-playground/src/model/spec-diff.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { visit } from './visit.ts'

const SHOW = gql('query ($id: ID!) { object(id: $id) { finished observedGeneration } }')

test('specs differ by the names of their parts, not by their places', () => {
  const from = { exports: [], deployItems: [{ name: 'db', config: { image: 'a', ports: [1, 2] } }, { name: 'old' }] }
  const to = { exports: [], deployItems: [{ name: 'new' }, { name: 'db', config: { image: 'b', ports: [1, 3] } }] }
  expect(differences(from, to).map((difference) => describeDifference(difference))).toEqual([
    'deployItems.db.config.image: "a" → "b"',
    'deployItems.db.config.ports.1: 2 → 3',
    'deployItems.old: goes',
    'deployItems.new: comes back, {"name":"new"}',
  ])
  expect(differences(from, structuredClone(from))).toEqual([])
  expect(differences({ a: null, b: [] }, { a: {}, b: {} }).map(({ path }) => path)).toEqual(['a', 'b'])
})

test('the panel of a root lists its runs, and two clicks bring an earlier spec back', async () => {
  await using server = await startTestApp()
  const { client } = server
  const spec = (image: string) => ({ deployItems: [{ name: 'db', type: 'mock', config: { exports: { image } } }] })
  const id = await create(client, 'shop', spec('one'))
  const isDone = (generation: number) => async () => {
    const { object } = await client.query(SHOW, { id })
    return object?.finished && object.observedGeneration === generation
  }
  await until(isDone(1), { what: 'the first run ends' })
  await ask(client, MUTATIONS.updateInstallation, { id, spec: spec('two') })
  await until(isDone(2), { what: 'the second run ends' })

  const browser = await openBrowser()
  await using visited = await visit(browser, server, `/tree/${id}?object=${id}`)
  const { page, complaints } = visited
  const runs = page.getByRole('region', { name: 'Runs' })
  await runs.locator('[data-run="2"]', { hasText: 'changed by' }).waitFor()
  await runs.locator('[data-run="1"]', { hasText: 'SUCCEEDED' }).waitFor()
  await runs.getByRole('button', { name: 'Roll back to spec 1' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('deployItems.db.config.exports.image: "two" → "one"').waitFor()
  let details = 0
  page.on('response', (response) => {
    if (response.request().postData()?.includes('query Details(')) details += 1
  })
  const held: (() => void)[] = []
  let isHolding = true
  await page.route('**/graphql', async (route) => {
    if (isHolding && route.request().postData()?.includes('query InstallationRuns'))
      await new Promise<void>((resolve) => held.push(resolve))
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Roll back', exact: true }).click()
  await runs.getByText('The spec 1 is back.').waitFor()
  // The next action is possible once the effect of this one is shown.
  const again = runs.getByRole('button', { name: 'Roll back to spec 1' }).last()
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await expect.poll(() => details).toBeGreaterThan(1)
  expect(await again.isDisabled()).toBe(true)
  isHolding = false
  for (const release of held) release()
  await runs.locator('[data-run="3"]', { hasText: 'rolled back by' }).waitFor()
  await expect.poll(() => again.isDisabled()).toBe(false)
  expect(complaints).toEqual([])
})
