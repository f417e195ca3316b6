import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { countedKinds, firstNames, planBulk, requestsOf, type Target } from '../../web-playground/src/model/bulk.ts'
import { NONE, selectAll, ticked, toggle } from '../../web-playground/src/model/selection.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { actable } from './samples.ts'
import { visit, widerBy } from './visit.ts'

function target(id: string, more: Partial<Target> = {}): Target {
  const object = {
    id,
    kind: 'TASK',
    phase: 'RUNNING',
    finished: false,
    parent: null,
    deletionRequestedAt: null,
    ...more,
  }
  return { name: id, root: { id }, project: { name: 'ci' }, ...actable(object), ...more }
}

test('rows are ticked one by one and in ranges, both ways', () => {
  const rows = ['a', 'b', 'c', 'd', 'e']
  const one = toggle(NONE, 'b', rows, false)
  const range = toggle(one, 'd', rows, true)
  expect([...range.ids]).toEqual(['b', 'c', 'd'])
  expect([...toggle(range, 'c', rows, true).ids]).toEqual(['b'])
  expect([...toggle({ ids: new Set(), anchor: 'e' }, 'd', rows, true).ids]).toEqual(['d', 'e'])
  // The start of the range has left the list.
  expect([...toggle({ ids: new Set(), anchor: 'gone' }, 'd', rows, true).ids]).toEqual(['d'])
  expect(ticked(range, [{ id: 'b' }, { id: 'c' }])).toBe('all')
  expect(ticked(selectAll(['z']), [{ id: 'b' }])).toBe('some')
})

test('a plan says what will be done, and why the rest is left out', () => {
  const cancel = planBulk(
    'cancel',
    [
      target('t'),
      target('ended', { finished: true }),
      target('i', { kind: 'INSTALLATION', phase: 'PROGRESSING', project: { name: 'web' } }),
      target('nested', { kind: 'INSTALLATION', parent: { id: 'x' }, root: { id: 'x' } }),
      target('item', { kind: 'DEPLOY_ITEM', parent: { id: 'i' }, root: { id: 'i' } }),
      target('cloudlet', { kind: 'CLOUDLET', phase: 'READY' }),
      target('bulk', { kind: 'BULK_OPERATION' }),
    ],
    2,
  )
  expect(requestsOf(cancel)).toEqual([
    { project: 'ci', ids: ['t'], flags: [] },
    { project: 'web', ids: ['i'], flags: [] },
  ])
  expect(cancel.gone).toBe(2)
  expect(cancel.leftOut.map(({ reason, names }) => [reason.split(/[:,]/)[0], ...names])).toEqual([
    ['finished already', 'ended'],
    ['not a root', 'nested'],
    ['in something that is selected too', 'item'],
    ['cannot be cancelled as they stand', 'cloudlet'],
    ['a bulk operation', 'bulk'],
  ])
})

test('what a deletion takes along is not deleted twice', () => {
  const cluster = target('k', {
    kind: 'CLUSTER_INST',
    phase: 'READY',
    parent: { id: 'c' },
    root: { id: 'c' },
  })
  const app = target('a', { kind: 'APP_INST', phase: 'READY', parent: { id: 'k' }, root: { id: 'c' } })
  const plan = planBulk('delete', [app, cluster, target('t', { phase: 'PENDING' })], 0)
  expect(requestsOf(plan)).toEqual([{ project: 'ci', ids: ['k'], flags: ['cascade'] }])
  expect(plan.leftOut.map(({ names }) => names)).toEqual([['a'], ['t']])
  expect(planBulk('delete', [app], 0).targets).toHaveLength(1)
})

test('counts and names are short', () => {
  expect(countedKinds([{ kind: 'TASK' }, { kind: 'APP_INST' }, { kind: 'APP_INST' }])).toBe('2 apps, 1 task')
  expect(firstNames(['a', 'b', 'c'], 2)).toBe('a, b and 1 more')
  expect(firstNames(['a', 'b'], 2)).toBe('a, b')
})

const here = usePlace()

const hanging = { deployItems: [{ name: 'wait', type: 'mock', config: { hang: true } }] }
const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
const bar = (page: Page) => page.getByRole('region', { name: 'What is selected' })
const TASKS = 300

/** Nobody runs their gadget: they wait until they are cancelled. */
async function createTasks(): Promise<void> {
  for (let done = 0; done < TASKS; done += 50) {
    const inputs = Array.from({ length: 50 }, (_, i) => ({
      name: `crowd-${done + i}`,
      jobs: [{ name: 'only', gadget: 'nobodys' }],
    }))
    await Promise.all(inputs.map((input) => ask(here.server.client, MUTATIONS.createTask, input)))
  }
}
const COUNT = gql('query ($filter: ObjectFilter!) { objects(filter: $filter, first: 1) { totalCount } }')
const ITEM = gql('query ($rootId: ID!) { tree(rootId: $rootId) { objects(first: 9) { edges { node { id kind } } } } }')
const PAUSED = gql('query ($id: ID!) { object(id: $id) { pause { at } } }')
const countOf = async (filter: VariablesOf<typeof COUNT>['filter']): Promise<number> =>
  present((await here.server.client.query(COUNT, { filter })).objects?.totalCount)

test('some of a list are cancelled with the keyboard, and what is left out is said', async () => {
  const [first, second] = [
    await create(here.server.client, 'slow-a', hanging),
    await create(here.server.client, 'slow-b', hanging),
  ]
  const ended = await create(here.server.client, 'slow-c', items(1))
  await until(async () => (await show(here.server.client, ended))?.finished, { what: 'slow-c has ended' })
  await using visited = await visit(here.browser, here.server, '/objects?name=slow&roots=yes&sort=name')
  const { page, complaints } = visited
  await box(page, 'slow-a').focus()
  await page.keyboard.press('Space')
  await box(page, 'slow-c').focus()
  await page.keyboard.press('Shift+Space')
  await bar(page).getByText('3 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Cancel…' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Cancel 2 objects?' })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  // One is where one was.
  await until(async () => (await page.evaluate('document.activeElement.textContent')) === 'Cancel…', {
    what: 'the focus is back on the button',
  })
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await dialog.getByText('2 installations will be cancelled: slow-a, slow-b.').waitFor()
  await dialog.getByText('1 finished already (slow-c)').waitFor()
  await dialog.getByRole('button', { name: 'Cancel 2 objects' }).press('Enter')
  const progress = page.getByRole('region', { name: 'Progress of the bulk operation' })
  await progress.getByText('2 of 2 objects asked for.').waitFor()
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
    'Progress of the bulk operation',
  )
  for (const id of [first, second]) {
    await until(async () => (await show(here.server.client, id))?.phase === 'ABORTED', { what: 'it is cancelled' })
  }
  await page.locator('[data-object]', { hasText: 'slow-b' }).getByText('ABORTED').waitFor()
  expect(complaints).toEqual([])
})

const progressOf = (page: Page) => page.getByRole('region', { name: 'Progress of the bulk operation' })

test('what is refused is listed with its reason, here and on the page of the operation, and can be selected again', async () => {
  const { client } = here.server
  const [first, other] = [await create(client, 'stay-a', hanging), await create(client, 'stay-b', hanging)]
  const itemOf = async () => {
    const { tree } = await client.query(ITEM, { rootId: first })
    return tree?.objects?.edges.find(({ node }) => node.kind === 'DEPLOY_ITEM')?.node.id
  }
  const item = await until(itemOf, { what: 'it has an item' })
  await using visited = await visit(here.browser, here.server, '/objects?name=stay&roots=yes')
  const { page } = visited
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await bar(page).getByRole('button', { name: 'Pause…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('2 installations will be paused').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  // The server refuses one of them, since an item stands in its place; and the network loses the first answer.
  let times = 0
  await page.route('**/graphql', async (route) => {
    const sent = route.request().postData() ?? ''
    if (!sent.includes('createBulkOperation')) return route.continue()
    const postData = sent.replace(first, item)
    if (++times > 1) return route.continue({ postData })
    await route.fetch({ postData })
    await route.abort('connectionreset')
  })
  await dialog.getByRole('button', { name: 'Pause 2 objects' }).click()
  await progressOf(page).getByText('1 of 2 objects asked for, 1 refused.').waitFor()
  expect(times).toBe(2)
  expect(await seriousFindings(page)).toEqual([])
  const refused = page.getByRole('list', { name: 'Refused' }).getByRole('listitem')
  expect(await refused.allTextContents()).toEqual([
    'wait Deploy item INVALID_INPUT: It is a deploy item, which has no verb pause.',
  ])
  expect((await client.query(PAUSED, { id: other })).object?.pause).not.toBeNull()

  await progressOf(page).getByRole('button', { name: 'Select the refused' }).click()
  await bar(page).getByText('1 selected').waitFor()
  await progressOf(page).getByRole('link', { name: 'Its page' }).click()
  await page.waitForURL(/\/tree\//)
  await progressOf(page).getByText('1 of 2 objects asked for, 1 refused.').waitFor()
  await refused.getByRole('link', { name: 'wait' }).click()
  await page.waitForURL(new RegExp(`/tree/${first}`))
})

test('hundreds that match are cancelled, stopped midway and gone on with, on a narrow screen', async () => {
  await createTasks()
  await using visited = await visit(here.browser, here.server, '/objects?kind=TASK&name=crowd', { width: 390 })
  const { page, complaints } = visited
  await page.getByText('Select the 100 read').click()
  await bar(page).getByText('100 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Select all 300 objects that match' }).click()
  await bar(page).getByText('300 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Cancel…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('300 tasks will be cancelled').waitFor()
  // However slow the test is, they are not all cancelled before it stops them.
  let isSlow = true
  await page.route('**/graphql', async (route) => {
    const sent = route.request().postDataJSON()
    if (!isSlow || !sent?.query?.includes('createBulkOperation')) return route.continue()
    sent.variables.input.ratePerSecond = 2
    await route.continue({ postData: JSON.stringify(sent) })
  })
  await dialog.getByRole('button', { name: 'Cancel 300 objects' }).click()
  const run = progressOf(page)
  await run.getByText(/^[1-9]\d* of 300 decided\.$/).waitFor()
  await run.getByRole('button', { name: 'Stop' }).click()
  isSlow = false
  const said = await run.getByText(/left as they are/).textContent()
  const asked = Number(/^(\d+) of 300 objects asked for/.exec(said ?? '')?.[1])
  expect(asked).toBeGreaterThan(0)
  expect(said).toContain(`${(TASKS - asked).toLocaleString('en')} left as they are`)
  await until(async () => (await countOf({ kinds: ['TASK'], nameContains: 'crowd', finished: true })) === asked, {
    what: 'those that were asked for are cancelled, and no others',
  })
  expect(await widerBy(page)).toBeLessThanOrEqual(0)

  await run.getByRole('button', { name: 'Select the rest' }).click()
  await bar(page).getByRole('button', { name: 'Cancel…' }).click()
  await dialog.getByRole('button', { name: /^Cancel \d+ objects$/ }).click()
  await run.getByText(`${TASKS - asked} of ${TASKS - asked} objects asked for.`).waitFor()
  await until(async () => (await countOf({ kinds: ['TASK'], nameContains: 'crowd', finished: true })) === TASKS, {
    what: 'all are cancelled',
  })
  expect(complaints).toEqual([])
})
