import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

/** Questions that people come with: each takes two clicks at most from the first page. Seconds are printed. */

const here = usePlace()

/** Clicks, as a person makes them. */
function person(page: Page) {
  let clicks = 0
  const since = performance.now()
  return {
    async click(name: RegExp | string, role: 'link' | 'button' = 'link') {
      clicks += 1
      await page
        .getByRole(role, { name, exact: typeof name === 'string' })
        .first()
        .click()
    },
    answered(question: string) {
      console.log(`${question}: ${clicks} clicks, ${((performance.now() - since) / 1_000).toFixed(1)} s`)
      expect(clicks).toBeLessThanOrEqual(2)
    },
  }
}

const RUNS = gql('query ($id: ID!) { object(id: $id) { ... on Installation { runs(first: 1) { totalCount } } } }')

const ends = (id: string, phase: string) =>
  until(async () => (await show(here.server.client, id))?.phase === phase, { what: `it is ${phase}` })

async function onOverview() {
  const visited = await visit(here.browser, here.server, '/')
  await visited.page.locator('[data-connection=live]').waitFor()
  return visited
}

test('why is it stuck?', async () => {
  const { client } = here.server
  await create(client, 'stuck', { deployItems: [{ name: 'waits', type: 'nobody', config: {} }] })
  await using visited = await onOverview()
  const someone = person(visited.page)
  await visited.page.getByText('Waits for an agent of the type nobody').first().waitFor()
  await someone.click(/^waits/)
  await visited.page.getByRole('complementary').getByText('Waits for an agent of the type nobody').first().waitFor()
  someone.answered('why is it stuck')
})

test('what has failed, and what did it print?', async () => {
  const id = await create(here.server.client, 'broken', items(1, { fail: true, logLines: 3 }))
  await ends(id, 'FAILED')
  await using visited = await onOverview()
  const someone = person(visited.page)
  await visited.page.getByText('failed as configured').first().waitFor()
  await someone.click(/^item-0/)
  const panel = visited.page.getByRole('complementary')
  await panel.getByText('failed as configured').first().waitFor()
  await panel.getByRole('log').getByText(/\S/).first().waitFor()
  someone.answered('what has failed and printed')
})

test('retry just that', async () => {
  const { client } = here.server
  const id = await create(client, 'again', { deployItems: [{ name: 'flaky', type: 'mock', config: { fail: true } }] })
  await ends(id, 'FAILED')
  await using visited = await onOverview()
  const someone = person(visited.page)
  await someone.click(/^flaky/)
  await someone.click('Retry what failed', 'button')
  const runs = async () => (await client.query(RUNS, { id })).object?.runs?.totalCount
  await until(async () => (await runs()) === 2, { what: 'it runs again' })
  someone.answered('retry just that')
})

test('what has changed since yesterday? and back to how it was', async () => {
  const { client } = here.server
  const spec = (image: string) => ({ deployItems: [{ name: 'db', type: 'mock', config: { exports: { image } } }] })
  const id = await create(client, 'moved', spec('one'))
  await ends(id, 'SUCCEEDED')
  const between = new Date().toISOString()
  await ask(client, MUTATIONS.updateInstallation, { id, spec: spec('two') })
  await until(async () => (await show(client, id))?.finished, { what: 'the second run ends' })
  {
    await using visited = await visit(here.browser, here.server, `/tree/${id}`)
    const someone = person(visited.page)
    await someone.click('Changes')
    const changes = visited.page.getByRole('region', { name: 'What has changed' })
    await changes.getByText('moved/deploy-items/db').waitFor()
    someone.answered('what has changed since yesterday')
    await someone.click('Last hour')
    // It is younger than an hour: nothing in it is marked as new.
    await changes.getByText(/This tree did not exist on .+ It was created \d.* ago by \S/).waitFor()
    expect(await changes.locator('[data-change]').count()).toBe(0)
    // Between its two runs, and then since a time between them.
    await changes.getByRole('link', { name: 'Compare' }).click()
    await changes.getByText('deployItems.db.config.exports.image: "one" → "two"').waitFor()
    expect(new URL(visited.page.url()).searchParams.get('runs')).toBe('1,2')
    await changes.getByRole('combobox', { name: 'with run' }).selectOption('1')
    await changes.getByRole('link', { name: 'Compare' }).click()
    await changes.getByText('Each object ended as before').waitFor()
    // The fields say what is compared, also on the way back.
    await visited.page.goBack()
    await changes.getByText('deployItems.db.config.exports.image: "one" → "two"').waitFor()
    expect(await changes.getByRole('combobox', { name: 'with run' }).inputValue()).toBe('2')
    expect(await seriousFindings(visited.page)).toEqual([])
    await changes.getByRole('textbox', { name: 'Since' }).fill(between)
    await changes.getByRole('button', { name: 'Show' }).click()
    await changes.locator('[data-change=CHANGED]', { hasText: 'moved/deploy-items/db' }).waitFor()
    expect(visited.complaints).toEqual([])
  }
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const someone = person(visited.page)
  await someone.click('Roll back to spec 1', 'button')
  await someone.click('Roll back', 'button')
  await visited.page.getByText('The spec 1 is back.').waitFor()
  someone.answered('roll back')
})

test('what has changed in the whole project?', async () => {
  const id = await create(here.server.client, 'newest', items(1))
  await ends(id, 'SUCCEEDED')
  // Part of a date is what a browser takes it for.
  await using visited = await visit(here.browser, here.server, '/projects?name=default&since=2026')
  const { page, complaints } = visited
  const changes = page.getByRole('region', { name: 'What has changed' })
  const row = changes.locator('[data-tree=newest]')
  await row.getByText(/created \d.* ago by \S.*: 3 objects/).waitFor()
  await changes.getByRole('textbox', { name: 'Since' }).fill('soon')
  await changes.getByRole('button', { name: 'Show' }).click()
  await changes.getByText('This is no time. Give one such as').waitFor()
  await changes.getByRole('textbox', { name: 'Since' }).fill('1h')
  await changes.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/since=/)
  expect(await seriousFindings(page)).toEqual([])
  await row.getByRole('link', { name: 'newest' }).click()
  await page.getByText(/This tree did not exist on/).waitFor()
  expect(complaints).toEqual([])
})
