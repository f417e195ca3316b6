import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()
const section = (page: Page, name: string) => page.getByRole('region', { name })
const LOOKS = [{}, { dark: true, width: 390 }] as const

test('where there is nothing yet there are three ways to begin, and the page shows what begins', async () => {
  const visits = await Promise.all(LOOKS.map((look) => visit(here.browser, here.server, '/', look)))
  await using stack = new AsyncDisposableStack()
  for (const visited of visits) {
    stack.use(visited)
    await section(visited.page, 'On the command line').getByText('phaseline apply -f my.yaml').waitFor()
    expect(await section(visited.page, 'From a program').getByRole('link').count()).toBe(2)
    expect(await seriousFindings(visited.page)).toEqual([])
  }
  const [visited] = visits
  await section(visited?.page as Page, 'Here, with an example')
    .getByRole('link', { name: 'Deployments' })
    .click()
  await visited?.page.getByText('12 to create.').waitFor()
  await create(here.server.client, 'first', {})
  await section(visits[1]?.page as Page, 'Trees')
    .getByRole('row', { name: /^first/ })
    .waitFor()
  expect(visits.flatMap(({ complaints }) => complaints)).toEqual([])
})

test('each cause is told once, failures until they are seen, and nothing that is stuck among what runs', async () => {
  const { client } = here.server
  const failing = { name: 'x', type: 'mock', config: { fail: true } }
  const three = await create(client, 'three', {
    installations: ['a', 'b'].map((name) => ({ name, spec: { deployItems: [failing] } })),
    deployItems: [failing],
  })
  await until(async () => (await show(client, three))?.finished, { what: 'three has failed' })
  await create(client, 'unserved', {
    deployItems: [
      { name: 'u1', type: 'nobody' },
      { name: 'u2', type: 'nobody' },
    ],
  })
  await create(client, 'moving', {
    deployItems: [
      { name: 'soon', type: 'mock' },
      { name: 'never', type: 'mock', config: { hang: true } },
    ],
  })
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  const [needs, runs, failed] = [section(page, 'Needs you'), section(page, 'Runs now'), section(page, 'Failed')]
  // Eight objects have failed: three by themselves, all for the same reason.
  await needs.getByRole('heading', { name: 'Needs you 2' }).waitFor()
  await needs.getByText('and 2 more with this error').waitFor()
  expect(await needs.locator('[data-failure]').count()).toBe(1)
  await needs.getByText('in unserved – and 1 more').waitFor()
  await failed.getByText('Nothing else has failed.').waitFor()
  await runs.getByRole('listitem').filter({ hasText: 'moving' }).getByText('1 of 4 done').waitFor()
  expect(await runs.getByRole('listitem').count()).toBe(1)

  await needs.getByRole('button', { name: 'Mark the failures as seen' }).click()
  await failed.getByRole('heading', { name: 'Failed 3' }).waitFor()
  await page.reload()
  await failed.getByRole('heading', { name: 'Failed 3' }).waitFor()
  await needs.getByRole('heading', { name: 'Needs you 1' }).waitFor()
  expect(complaints).toEqual([])
})

test('a tree that ran before says when it is expected to end, and its panel what determines that', async () => {
  const { client } = here.server
  const items = (config: object) => ({ deployItems: [{ name: 'only', type: 'mock', config }] })
  const id = await create(client, 'again', items({}))
  await until(async () => (await show(client, id))?.finished, { what: 'again has succeeded' })
  await ask(client, MUTATIONS.updateInstallation, { id, spec: items({ hang: true }), reconcile: true })
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  const row = section(page, 'Runs now').getByRole('listitem').filter({ hasText: 'again' })
  await row.getByText('longer than its only earlier run').waitFor()
  await row.getByRole('link', { name: 'again' }).click()
  const expected = section(page, 'Expected end')
  await expected.getByText('longer than its only earlier run').waitFor()
  await expected.getByRole('link', { name: 'again/deploy-items/only' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('trees are a table: their labels, their last run, how long it took and who began it', async () => {
  const { client } = here.server
  const labels = [{ key: 'team', value: 'blue' }]
  const { id } = await ask(client, MUTATIONS.createInstallation, { name: 'labelled', labels, spec: {} })
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  const row = section(page, 'Trees').getByRole('row', { name: /^labelled/ })
  await row.getByText('SUCCEEDED').waitFor()
  const texts = await row.getByRole('cell').allTextContents()
  expect(texts).toEqual([
    'team=blue',
    '✓ SUCCEEDED  ',
    expect.stringMatching(/^created \d+s ago$/),
    expect.stringMatching(/^\d+s$/),
    'admin',
  ])

  await ask(client, MUTATIONS.createProject, { name: 'store' })
  await ask(client, MUTATIONS.createInstallation, { project: 'store', name: 'elsewhere', spec: {} })
  await page.reload()
  await section(page, 'Trees')
    .getByRole('row', { name: /^store elsewhere/ })
    .waitFor()
})

test('what fails at the first read is read again, more failures than are read are counted, and a tree has few labels', async () => {
  const { client } = here.server
  const labels = Array.from({ length: 64 }, (_, i) => ({ key: `key-${i}`, value: `${i}` }))
  const spec = items(120, { fail: true })
  const { id } = await ask(client, MUTATIONS.createInstallation, { name: 'many', labels, spec })
  await until(async () => (await show(client, id))?.finished, { what: 'all have failed' })
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page } = visited
  let failures = 0
  await page.route('**/graphql', async (route) => {
    const isFirst = failures === 0 && route.request().postData()?.includes('query Unfinished')
    if (!isFirst) return route.continue()
    failures += 1
    const errors = [{ message: 'There is no such object.', extensions: { code: 'NOT_FOUND' } }]
    await route.fulfill({ json: { errors } })
  })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click()
  const [needs, failed] = [section(page, 'Needs you'), section(page, 'Failed')]
  await needs.getByRole('heading', { name: /^Needs you \d+\+$/ }).waitFor()
  expect(failures).toBe(1)
  expect(await page.getByRole('alert').count()).toBe(0)
  await failed.getByRole('link', { name: /^\d+ more failures$/ }).waitFor()
  const row = section(page, 'Trees').getByRole('row', { name: /many/ })
  await row.getByText('+62').waitFor()
  expect(await row.locator('.chips > a').count()).toBe(2)
})

test('where only waiting trees were read, the page does not say that nothing runs', async () => {
  const { client } = here.server
  const project = 'crowd'
  await ask(client, MUTATIONS.createProject, { name: project })
  const add = (name: string, deployItem: object) =>
    ask(client, MUTATIONS.createInstallation, {
      project,
      name,
      spec: { deployItems: [{ name: 'x', ...deployItem }] } as never,
    })
  await add('runs', { type: 'mock', config: { hang: true } })
  await Promise.all(Array.from({ length: 31 }, (_, i) => add(`waits-${i}`, { type: 'nobody' })))
  await using visited = await visit(here.browser, here.server, `/?project=${project}`)
  const runs = section(visited.page, 'Runs now')
  await runs.getByText('The unfinished trees that have changed last all wait.').waitFor()
  await runs.getByRole('link', { name: 'All unfinished trees' }).click()
  await visited.page.getByText('32 objects').waitFor()
})

const REFUSED = gql(`mutation { createSchedule(input: {
  project: "default", name: "nightly", when: { cron: ["0 0 1 1 *"] }, run: { reconcileInstallation: { name: "none" } }
}) { __typename ... on Schedule { id } } }`)
const HEALTH = gql('{ health { causes { cause } } }')
const FIRE = gql('mutation ($id: ID!) { fireSchedule(input: { id: $id }) { __typename } }')

test('the verdict stands beside what needs you, and causes that are no objects say what to do next', async () => {
  const { client } = here.server
  const { createSchedule } = await client.query(REFUSED)
  const id = present(createSchedule && 'id' in createSchedule ? createSchedule.id : null)
  await client.query(FIRE, { id })
  const judged = async () => (await client.query(HEALTH)).health?.causes.map(({ cause }) => cause)
  await until(async () => (await judged())?.includes('SCHEDULE_REFUSED'), { what: 'the firing is refused' })
  await using visited = await visit(here.browser, here.server, '/')
  const needs = section(visited.page, 'Needs you')
  await needs.getByText(/^(DEGRADED|UNHEALTHY)$/).waitFor()
  const cause = needs.locator('[data-cause=SCHEDULE_REFUSED]')
  await cause.getByText('phaseline schedule get nightly --project default').waitFor()
  await cause.getByRole('link', { name: 'nightly' }).click()
  await visited.page.getByRole('heading', { name: 'nightly', level: 1 }).waitFor()
  expect(visited.complaints).toEqual([])
})
