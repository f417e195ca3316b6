import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, visit, widerBy } from './visit.ts'

/** The list of objects: what a row shows, and who decides about it. */

const here = usePlace()

const rows = (page: Page) => page.locator('[data-object]')
const LONG = 'a-name-that-somebody-has-chosen-with-care-so-that-it-says'
const PATH = `${LONG}/${LONG}-all/deploy-items/item-0`

beforeAll(async () => {
  const { client } = here.server
  const id = await create(client, LONG, { installations: [{ name: `${LONG}-all`, spec: items(1) }] })
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
})

test('a row shows the whole path, at any width', async () => {
  for (const width of [390, 1280]) {
    await using visited = await visit(here.browser, here.server, '/objects?kind=DEPLOY_ITEM&name=item', { width })
    const { page, complaints } = visited
    const link = rows(page).getByRole('link', { name: PATH, exact: true })
    await link.waitFor()
    const isWhole = await link.evaluate(({ parentElement: cell }) => {
      const { scrollWidth = 1, clientWidth = 0, scrollHeight = 1, clientHeight = 0 } = cell ?? {}
      return scrollWidth <= clientWidth && scrollHeight <= clientHeight
    })
    expect([width, isWhole]).toEqual([width, true])
    expect(await widerBy(page)).toBeLessThanOrEqual(0)
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
  }
})

test('a row that needs one line has 32 pixels, and none lies over the next', async () => {
  await create(here.server.client, 'short', items(3))
  await using visited = await visit(here.browser, here.server, '/objects?roots=no&sort=name', { width: 1440 })
  const { page } = visited
  await rows(page).filter({ hasText: 'short/deploy-items/item-2' }).waitFor()
  const edges = await rows(page).evaluateAll((all) =>
    all.map((row) => row.getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })),
  )
  const sorted = edges.toSorted((a, b) => a.top - b.top)
  expect(sorted.map(({ top, bottom }) => Math.round(bottom - top))).toContain(32)
  expect(sorted.filter(({ top }, i) => top < (sorted[i - 1]?.bottom ?? 0) - 1)).toEqual([])
})

test('a click on a label lists what has it, and the field completes the labels that are seen', async () => {
  const { client } = here.server
  for (const [name, tier] of [
    ['labelled-web', 'web'],
    ['labelled-store', 'store'],
  ] as const) {
    const labels = [
      { key: 'app', value: 'shop' },
      { key: 'tier', value: tier },
    ]
    await ask(client, MUTATIONS.createInstallation, { name, labels, spec: items(1) })
  }
  await using visited = await visit(here.browser, here.server, '/objects?name=labelled')
  const { page, complaints } = visited
  const row = (name: string) => rows(page).filter({ hasText: name })
  await row('labelled-web').getByRole('link', { name: 'tier=web' }).click()
  await page.waitForURL(/\?name=labelled&label=tier=web/)
  await row('labelled-store').waitFor({ state: 'detached' })
  await row('labelled-web').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove the label tier=web' }).click()
  await row('labelled-store').waitFor()
  const field = page.getByLabel('Label', { exact: true })
  expect(
    await field.evaluate((input) => Array.from((input as HTMLInputElement).list?.options ?? [], (o) => o.value)),
  ).toEqual([...['app=shop', 'tier=store', 'tier=web']])
  // The beginning of one is enough.
  await field.fill('tie')
  await field.press('Enter')
  await page.waitForURL(/label=tier=store$/)
  await row('labelled-web').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

const RECONCILE = gql('mutation ($id: ID!) { reconcileInstallation(input: { id: $id }) { __typename } }')

test('columns are chosen once, and the address has them for those who get it', async () => {
  const columned = await create(here.server.client, 'columned', items(1))
  await using visited = await visit(here.browser, here.server, '/objects?name=columned')
  const { page, complaints } = visited
  const heads = () => page.getByRole('columnheader').allTextContents()
  const titles = async () => (await heads()).map((text) => text.replace(/[↑↓ ]/g, '')).slice(1)
  await rows(page).first().waitFor()
  expect(await titles()).toEqual(['Path', 'Kind', 'Phase', 'Since', 'Labels', 'Project', 'Created'])
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Id', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Labels', exact: true }).uncheck()
  expect(await seriousFindings(page)).toEqual([])
  await page.waitForURL(/columns=path,kind,phase,since,project,created,id$/)
  expect(await titles()).toEqual(['Path', 'Kind', 'Phase', 'Since', 'Project', 'Created', 'Id'])
  // Their contents are read once one of them is chosen.
  await page.goto(`${here.server.origin}/objects?name=columned&roots=yes&columns=path,run,creator`)
  await rows(page)
    .filter({ hasText: /created.* ago.*admin/ })
    .waitFor()
  expect(await titles()).toEqual(['Path', 'Lastrun', 'Createdby'])
  await here.server.client.query(RECONCILE, { id: columned })
  await rows(page)
    .filter({ hasText: /asked for.* ago.*admin/ })
    .waitFor()
  // Another list of the same person has them, too; a link with others shows those.
  await page.goto(`${here.server.origin}/objects?kind=INSTALLATION`)
  await page.waitForURL(/\?kind=INSTALLATION&columns=path,kind,phase,since,project,created,id$/)
  await page.goto(`${here.server.origin}/objects?kind=INSTALLATION&columns=path,error`)
  await rows(page).first().waitFor()
  expect(await titles()).toEqual(['Path', 'Error'])
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('button', { name: 'As they were at first' }).click()
  await page.waitForURL(/\?kind=INSTALLATION$/)
  expect(complaints).toEqual([])
})

test('the list begins with roots, until somebody wants all: then it is remembered, and the address says it', async () => {
  await create(here.server.client, 'rooted', items(1))
  await using visited = await visit(here.browser, here.server, '/objects')
  const { page, complaints } = visited
  const box = page.getByRole('checkbox', { name: 'Roots only' })
  const item = rows(page).filter({ hasText: 'rooted/' })
  await page.waitForURL(/\/objects\?roots=yes$/)
  await rows(page).filter({ hasText: 'rooted' }).waitFor()
  expect([await box.isChecked(), await item.count()]).toEqual([true, 0])
  // Nobody is left with an empty list: roots are no items.
  await page.getByLabel('Kind').selectOption('DEPLOY_ITEM')
  await page.getByRole('button', { name: 'Search inside trees, too' }).click()
  await item.waitFor()

  await page.goto(`${here.server.origin}/objects`)
  await box.uncheck()
  await page.waitForURL(/\/objects\?roots=no$/)
  await item.first().waitFor()
  await page.goto(`${here.server.origin}/agents`)
  await goTo(page, 'Trees', 'Objects')
  await page.waitForURL(/\/objects\?roots=no$/)
  await item.first().waitFor()
  // A link to roots shows them, and changes nothing that was chosen.
  await page.goto(`${here.server.origin}/objects?roots=yes`)
  await rows(page).filter({ hasText: 'rooted' }).waitFor()
  expect([await box.isChecked(), await item.count()]).toEqual([true, 0])
  await page.goto(`${here.server.origin}/objects`)
  await page.waitForURL(/\/objects\?roots=no$/)
  expect(complaints).toEqual([])
})
