import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { inPhase, visit } from './visit.ts'

/** The graph of a tree at the sizes of everyday work. */

const here = usePlace()
let trees: Readonly<Record<'sixty' | 'many', string>>

const NAMES = ['api', 'assets', 'cache', 'database', 'gateway', 'metrics', 'migrations', 'queue', 'search', 'worker']
/** Four installations with ten items each, of which some wait for others, and fifteen items of the root. */
const sixty = {
  installations: ['checkout', 'catalogue', 'identity', 'observability'].map((name) => ({
    name,
    spec: {
      deployItems: NAMES.map((item, i) => ({
        ...{ name: item, type: 'mock', config: {} },
        dependsOn: i > 6 ? [NAMES[0], NAMES[i - 3]].filter((one) => one !== undefined) : [],
      })),
    },
  })),
  deployItems: Array.from({ length: 15 }, (_, i) => ({ name: `namespace-${i + 1}`, type: 'mock', config: {} })),
}
const many = {
  deployItems: [
    ...items(200).deployItems.map((item) => ({ ...item, name: `shop-${item.name}` })),
    ...Array.from({ length: 30 }, (_, i) => ({ name: `db-${i}`, type: 'mock', config: { fail: i === 7 } })),
  ],
}
beforeAll(async () => {
  const { client } = here.server
  trees = { sixty: await create(client, 'sixty', sixty), many: await create(client, 'many', many) }
  for (const id of Object.values(trees))
    await until(async () => (await show(client, id))?.finished, { what: 'the trees have ended' })
})

const fitWhole = (page: Page) => page.getByRole('button', { name: 'Fit', exact: true }).click()
const find = (page: Page) => page.getByRole('searchbox', { name: 'Find in this tree' })
const group = (page: Page, name: string) => page.locator('.node.group', { hasText: name })
const nodes = (page: Page) =>
  page.locator('.react-flow__node').evaluateAll((all) => all.map((one) => one.getAttribute('data-id')))
/** Places of all nodes in the drawing. */
const places = (page: Page) =>
  page
    .locator('.react-flow__node')
    .evaluateAll((all) => all.map((one) => `${one.getAttribute('data-id')} ${(one as HTMLElement).style.transform}`))

test('sixty objects are open, whole, in the order of the spec, and readable at Fit, light and dark', async () => {
  for (const dark of [false, true]) {
    await using visited = await visit(here.browser, here.server, `/tree/${trees.sixty}`, { dark })
    const { page, complaints } = visited
    await inPhase(page, 'namespace-15', 'SUCCEEDED').waitFor()
    await fitWhole(page)
    expect(await page.locator('.node').count()).toBe(60)
    expect(await page.locator('.node.around .node-name').allTextContents()).toEqual([
      'sixty',
      ...sixty.installations.map(({ name }) => name),
    ])
    const names = await page.locator('.node-name').allTextContents()
    expect(names.filter((name) => name.startsWith('namespace'))).toEqual(sixty.deployItems.map(({ name }) => name))
    const texts = await page.locator('.node').evaluateAll((all) =>
      all.flatMap((node) => {
        const zoom = node.getBoundingClientRect().width / (node as HTMLElement).offsetWidth
        return [...node.querySelectorAll<HTMLElement>('.node-name, .node-state, .node-kind')]
          .filter((text) => text.offsetHeight > 0 && text.innerText !== '')
          .map((text) => ({
            text: text.innerText,
            px: Number.parseFloat(getComputedStyle(text).fontSize) * zoom,
            isCut:
              text.scrollWidth > text.clientWidth + 1 ||
              text.getBoundingClientRect().bottom > node.getBoundingClientRect().bottom + 1,
          }))
      }),
    )
    expect(texts.filter(({ px }) => px < 10.99)).toEqual([])
    expect(texts.filter(({ isCut }) => isCut)).toEqual([])
    const canvas = await page.locator('.canvas').boundingBox()
    const root = await page.locator('.node.around').first().boundingBox()
    expect(root?.height).toBeLessThanOrEqual(canvas?.height ?? 0)
    expect(root?.width).toBeLessThanOrEqual(canvas?.width ?? 0)
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
  }
})

test('changes of phases move nothing', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${trees.sixty}`)
  const { page } = visited
  await inPhase(page, 'namespace-15', 'SUCCEEDED').waitFor()
  const before = await places(page)
  await page.evaluate(`{
    window.phases_ = new Set()
    new MutationObserver(() => {
      for (const node of document.querySelectorAll('.node[data-phase]')) window.phases_.add(node.dataset.phase)
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-phase'] })
  }`)
  await page.getByRole('button', { name: 'Reconcile', exact: true }).click()
  await expect.poll(() => page.evaluate<number>('window.phases_.size')).toBeGreaterThan(1)
  await page.locator('.tree-head .phase', { hasText: 'SUCCEEDED' }).waitFor()
  expect(await places(page)).toEqual(before)
})

test('many objects are groups; the address has what is open, searched, filtered and selected, so a reload and Back show it', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${trees.many}`)
  const { page, complaints } = visited
  await group(page, 'db…').getByText('1 ✗').waitFor()
  expect(await nodes(page)).toHaveLength(3)
  await group(page, 'db…').locator('.node-main').click()
  await inPhase(page, 'db-7', 'FAILED').locator('.node-main').click()
  await page.waitForURL(/object=.*&open=.*db/)
  const opened = await nodes(page)
  expect(opened).toHaveLength(33)
  const other = await group(page, 'shop…').locator('.node-name').textContent()
  expect(other).toBe('shop…')

  await page.getByRole('checkbox', { name: 'Failed only' }).check()
  await page.getByText('3 of 232 objects').waitFor()
  await page.locator('.react-flow__node').nth(2).waitFor({ state: 'detached' })
  expect(await page.locator('.node-name').allTextContents()).toEqual(['many', 'db-7'])
  await page.reload()
  await page.getByText('3 of 232 objects').waitFor()
  await page.locator('.node.selected').getByText('db-7').waitFor()
  expect(await page.locator('.node-name').allTextContents()).toEqual(['many', 'db-7'])

  await find(page).fill('nothing like it')
  await page.getByText('Nothing in this tree matches.').waitFor()
  expect(new URL(page.url()).searchParams.get('name')).toBe('nothing like it')
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.locator('.node.group').first().waitFor()
  await page.getByRole('combobox', { name: 'Phase' }).selectOption('FAILED')
  await page.getByText('3 of 232 objects').waitFor()

  // Back, step by step: all of it, what was searched, and the open group.
  await page.goBack()
  await page.goBack()
  await page.getByText('Nothing in this tree matches.').waitFor()
  await page.goBack()
  await until(async () => (await nodes(page)).length === 33, { what: 'the group is open again' })
  expect(await nodes(page)).toEqual(opened)
  await page.goBack()
  await page.goBack()
  await until(async () => (await nodes(page)).length === 3, { what: 'all groups are closed again' })
  expect(complaints).toEqual([])
})

test('the graph is walked through by the keyboard, and says where one is', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${trees.many}`)
  const { page } = visited
  await group(page, 'db…').waitFor()
  const focused = () =>
    page.evaluate<string>('document.activeElement.closest(".node")?.querySelector(".node-name").textContent ?? ""')
  await page.locator('.node-main[tabindex="0"]').focus()
  expect(await focused()).toBe('many')
  await page.keyboard.press('ArrowRight')
  expect(await focused()).toBe('shop…')
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('db…')
  await page.getByRole('button', { name: 'db… 30 objects 1 failed 29 done', exact: true }).waitFor()
  await page.keyboard.press('+')
  await inPhase(page, 'db-0', 'SUCCEEDED').waitFor()
  expect(await focused()).toBe('db…')
  await page.keyboard.press('ArrowRight')
  expect(await focused()).toBe('db-0')
  await page.getByRole('button', { name: /^db-0 Deploy item in many\/deploy-items SUCCEEDED/ }).waitFor()
  await page.keyboard.press('End')
  expect(await focused()).toBe('db-29')
  await page.keyboard.press('Enter')
  await page
    .getByRole('complementary', { name: 'The selected object' })
    .getByRole('heading', { name: 'db-29' })
    .waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('-')
  await page.locator('.node.group.around').waitFor({ state: 'detached' })
  expect(await seriousFindings(page)).toEqual([])
})

test('where the layout cannot be loaded the page says so, and tries again', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.route(/\/assets\/layout-worker-[^/]*\.js$/, (route) => route.abort())
  await page.evaluate(`history.pushState(null, '', '/tree/${trees.many}')`)
  await page.getByText('The graph cannot be laid out.').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await group(page, 'db…').waitFor()
})

test('a closed group has a cell for each of its objects: a failed one is seen, said, and opened by its cell', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${trees.many}`)
  const { page, complaints } = visited
  const cells = page.getByRole('slider', { name: 'Objects in db…: 1 failed, 29 done', exact: true })
  await cells.focus()
  await page.keyboard.press('Home')
  expect(await cells.getAttribute('aria-valuemax')).toBe('30')
  expect(await cells.getAttribute('aria-valuetext')).toBe('many/deploy-items/db-0, SUCCEEDED')
  for (let i = 0; i < 7; i += 1) await page.keyboard.press('ArrowRight')
  expect(await cells.getAttribute('aria-valuetext')).toBe('many/deploy-items/db-7, FAILED')
  await page.locator('.heat-tip', { hasText: 'db-7' }).getByText('FAILED').waitFor()
  const colours = (token: string) =>
    cells.locator('canvas').evaluate((canvas: HTMLCanvasElement, name) => {
      canvas.style.color = `var(${name})`
      const wanted = getComputedStyle(canvas).color.match(/\d+/g)?.map(Number) ?? []
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
      let found = 0
      for (let i = 0; i < data.length; i += 4) if (wanted.every((part, at) => data[i + at] === part)) found += 1
      return found
    }, token)
  expect(await colours('--failed')).toBeGreaterThanOrEqual(4)
  expect(await colours('--stopped')).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page
    .getByRole('complementary', { name: 'The selected object' })
    .getByRole('heading', { name: 'db-7' })
    .waitFor()
  await page.locator('.node.selected .node-main:focus').waitFor()
  await page.goBack()
  const mark = page.locator('.heat-mark')
  await cells.hover({ position: { x: 3, y: 3 } })
  await page.locator('.heat-tip', { hasText: 'db-0' }).waitFor()
  await mark.waitFor()
  await page.mouse.move(2, 2)
  await mark.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})
