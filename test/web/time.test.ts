import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { NodeOf, ResultOf } from '../../src/documents/typed-document.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, remove, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { inPhase, visit } from './visit.ts'

/** The tree as it was, along its time, and the way of one object through its machine. */

const here = usePlace()
/** Ended: `first`, then `second`, then a request that was refused. */
let done: string
/** Nothing of it is left. */
let gone: string
beforeAll(async () => {
  const { client } = here.server
  const chain = (config: object) => ({
    deployItems: [
      { name: 'first', type: 'mock', config },
      { name: 'second', type: 'mock', dependsOn: ['first'], config },
    ],
  })
  ;[done, gone] = await Promise.all([
    create(client, 'done', chain({ delayMs: 300 })),
    create(client, 'gone', chain({})),
  ])
  for (const id of [done, gone]) await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await cancel(done)
  await remove(client, gone)
  await until(async () => (await show(client, gone)) === null, { what: 'it is gone' })
})

/** Its answer is not looked at: a refusal is in the log. */
async function cancel(id: string): Promise<void> {
  await here.server.client.query(MUTATIONS.cancelInstallation, { input: { id } })
}
const LOG = gql(`query ($rootId: ID!) {
  phaseChanges(last: 500, filter: { rootId: $rootId, includeRejected: true }) {
    edges { node { sequence objectId name from to rejected actor reason message at } }
  }
}`)
type Change = NodeOf<ResultOf<typeof LOG>['phaseChanges']>
async function logOf(rootId: string): Promise<readonly Change[]> {
  const { phaseChanges } = await here.server.client.query(LOG, { rootId })
  return present(phaseChanges).edges.map(({ node }) => node)
}
async function changeOf(rootId: string, name: string, to: string): Promise<Change> {
  const found = (await logOf(rootId)).find((change) => change.name === name && change.to === to)
  if (!found) throw new Error(`${name} never became ${to}`)
  return found
}
const slider = (page: Page) => page.getByRole('slider', { name: 'Moment of the tree' })
const banner = (page: Page) => page.locator('.past-banner')
const panelOf = (page: Page) => page.getByRole('complementary', { name: 'The selected object' })
/** It only wraps the items of an installation, which the graph shows in its place. */
const WRAPPER = 'deploy-items'
/** Names of the objects in the graph with their phases. */
const graphOf = (page: Page) =>
  page
    .locator('.node[data-phase]')
    .evaluateAll((nodes) =>
      nodes.map((node) => `${node.querySelector('.node-name')?.textContent} ${node.getAttribute('data-phase')}`).sort(),
    )
    .then((all) => all.filter((text) => !text.startsWith(`${WRAPPER} `)))
/** As the log has it. */
async function phasesAt(rootId: string, sequence: number): Promise<readonly string[]> {
  const phases = new Map<string, string>()
  for (const { name, to, rejected, sequence: at } of await logOf(rootId)) {
    if (at > sequence || rejected || name === WRAPPER) continue
    if (to === 'GONE') phases.delete(name)
    else phases.set(name, `${name} ${to}`)
  }
  return [...phases.values()].sort()
}

test('a link shows the tree as it was; from there one steps change by change, and back to live', async () => {
  const { sequence } = await changeOf(done, 'first', 'SUCCEEDED')
  await using visited = await visit(here.browser, here.server, `/tree/${done}?at=${sequence}`)
  const { page, complaints } = visited
  await inPhase(page, 'first', 'SUCCEEDED').waitFor()
  expect(await graphOf(page)).toEqual(await phasesAt(done, sequence))
  // It is from the log, which may come after the tree.
  await expect
    .poll(() => banner(page).textContent())
    .toMatch(new RegExp(`change ${sequence}: *first PROGRESSING → SUCCEEDED by DEPLOYER`))
  await page.locator('.tree.past').waitFor()

  // One back: it had not succeeded. By the keyboard, then by the button.
  await slider(page).press('ArrowLeft')
  await inPhase(page, 'first', 'PROGRESSING').waitFor()
  await inPhase(page, 'second', 'PENDING').waitFor()
  const log = await logOf(done)
  const before = log[log.findIndex((change) => change.sequence === sequence) - 1]?.sequence ?? 0
  await page.waitForURL(`**/tree/${done}?at=${before}`)
  await page.getByRole('button', { name: 'Forward one change' }).click()
  await inPhase(page, 'first', 'SUCCEEDED').waitFor()
  await page.getByRole('button', { name: 'Back one change' }).click()
  await inPhase(page, 'first', 'PROGRESSING').waitFor()

  // Its own row, and nothing to be done.
  const panel = panelOf(page)
  await inPhase(page, 'first', 'PROGRESSING').getByRole('button').click()
  await page.waitForURL(/\?object=.*&at=\d+$/)
  const picked = await changeOf(done, 'first', 'PROGRESSING')
  await panel.getByRole('region', { name: 'Phase history' }).getByText(`Change ${picked.sequence}: INIT`).waitFor()
  expect(await panel.getByRole('button').allTextContents()).toEqual(['See it as it is now'])

  // At the very beginning there is the root alone.
  await slider(page).press('Home')
  await page.locator('.node').nth(1).waitFor({ state: 'detached' })
  expect(await graphOf(page)).toEqual(['done PENDING'])
  await panel.getByText('It was not there yet.').waitFor()
  await slider(page).press('End')
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
  await page.waitForURL((url) => !url.search.includes('at='))
  await banner(page).waitFor({ state: 'detached' })
  // A refused request is a moment of its own, in which nothing changed.
  await slider(page).press('ArrowLeft')
  await banner(page).getByText('refused').waitFor()
  expect(complaints).toEqual([])
})

test('what happens while one looks back is there when one comes back', async () => {
  const id = await create(here.server.client, 'meanwhile', items(1))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  const { sequence } = await changeOf(id, 'item-0', 'PROGRESSING')
  await using visited = await visit(here.browser, here.server, `/tree/${id}?at=${sequence}`)
  const { page } = visited
  await inPhase(page, 'item-0', 'PROGRESSING').waitFor()
  await page.evaluate('window.sameDocument = true')
  const length = Number(await slider(page).getAttribute('max'))
  const shown = await graphOf(page)
  await remove(here.server.client, id)
  await until(async () => (await show(here.server.client, id)) === null, { what: 'it is gone' })
  await page.getByText(/GONE/).first().waitFor({ state: 'detached' })
  await until(async () => Number(await slider(page).getAttribute('max')) > length, { what: 'the slider is longer' })
  expect(await graphOf(page)).toEqual(shown)
  await page.getByRole('button', { name: /^Live/ }).click()
  await page.getByText('This tree is gone').waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
})

test('a tree that is gone is shown as it was, with its dependencies left out', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${gone}`)
  const { page, complaints } = visited
  await page.getByRole('link', { name: 'Look at it as it was' }).click()
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
  expect(await graphOf(page)).toEqual(['first SUCCEEDED', 'gone SUCCEEDED', 'second SUCCEEDED'])
  // Each in what contained it.
  expect(await page.locator('.node.around .node-name').allTextContents()).toEqual(['gone'])
  expect(await page.locator('.react-flow__edge').count()).toBe(0)
  const { sequence } = await changeOf(gone, 'second', 'GONE')
  await page.goto(`${here.server.origin}/tree/${gone}?at=${sequence}`)
  await page.locator('.node').nth(1).waitFor()
  expect(await graphOf(page)).toEqual(await phasesAt(gone, sequence))
  expect(complaints).toEqual([])
})

test('play goes through all of it, to what is now', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${done}`)
  const { page } = visited
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
  // The slider is there when someone asks for it.
  expect(await slider(page).count()).toBe(0)
  await page.getByRole('button', { name: 'History' }).click()
  // Play, and at once Pause: the whole of it takes but a few seconds.
  await page.getByRole('button', { name: 'Play' }).dblclick()
  await page.locator('.tree.past').waitFor()
  const paused = await slider(page).inputValue()
  await page.getByRole('button', { name: 'Play' }).click()
  await until(async () => Number(await slider(page).inputValue()) > Number(paused), { what: 'it goes on' })
  await banner(page).waitFor({ state: 'detached' })
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
})

test('where not all of the log is here, the server is asked how it was', async () => {
  const id = await create(here.server.client, 'long', items(150))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  let asked = 0
  // The older part never comes.
  await page.route('**/graphql', async (route) => {
    const { query = '', variables } = (route.request().postDataJSON() ?? {}) as {
      query?: string
      variables?: { before?: string | null }
    }
    if (query.includes('query TreeAt')) asked += 1
    if (query.includes('query Changes') && variables?.before) return
    await route.continue()
  })
  const { sequence } = await changeOf(id, 'item-149', 'SUCCEEDED')
  await page.goto(`${here.server.origin}/tree/${id}?at=${sequence}`)
  const count = (await phasesAt(id, sequence)).filter((text) => text.endsWith('SUCCEEDED')).length
  const childCounts = page.locator('.tree-counts .is-done')
  await until(async () => (await childCounts.textContent())?.startsWith(`${count} `), { what: 'so many are done' })
  const first = asked
  expect(first).toBeGreaterThan(0)
  await slider(page).press('ArrowLeft')
  await until(() => asked > first, { what: 'it is asked again' })
  await until(async () => (await childCounts.textContent())?.startsWith(`${count - 1} `), { what: 'one less is done' })
})

test('the timeline has a row for each object, and in it the phases that the log has', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${done}`)
  const { page, complaints } = visited
  await page.getByRole('link', { name: 'Timeline' }).click()
  await page.waitForURL(/view=timeline/)
  const lanes = page.locator('[data-lane]')
  await until(async () => (await lanes.count()) === 4, { what: 'there are four rows' })
  expect(await lanes.locator('.lane-text').allTextContents()).toEqual(['done', 'deploy-items', 'first', 'second'])
  expect(await lanes.evaluateAll((all) => all.map((lane) => lane.getAttribute('aria-level')))).toEqual([
    '1',
    '2',
    '3',
    '3',
  ])
  const log = await logOf(done)
  for (const name of ['done', 'deploy-items', 'first', 'second']) {
    const phases = lanes.filter({ has: page.locator(`.lane-text:text-is("${name}")`) }).locator('[data-phases]')
    // Rows are those of the tree; the log may come after it.
    await expect
      .poll(() =>
        phases.evaluateAll((pieces) => pieces.flatMap((piece) => piece.getAttribute('data-phases')?.split(' ') ?? [])),
      )
      .toEqual(log.filter((change) => change.name === name && !change.rejected).map(({ to }) => to))
  }
  const refused = log.find(({ rejected }) => rejected)
  await lanes.first().locator(`[data-refused="${refused?.sequence}"]`).hover()
  await page.getByRole('tooltip').getByText(`Refused: ${refused?.from} → ${refused?.to}`).waitFor()

  // The tooltip of a bar; a click selects its object.
  const bar = page.getByRole('button', { name: /^second: PROGRESSING/ })
  await bar.hover()
  const tip = page.getByRole('tooltip')
  for (const said of ['since', 'for', 'moved by DEPLOYER']) await tip.getByText(said).first().waitFor()
  await page
    .getByRole('rowheader', { name: /^first/ })
    .getByRole('button')
    .click()
  await panelOf(page).getByRole('heading', { name: 'first' }).waitFor()
  expect(page.url()).toContain('view=timeline')
  expect(complaints).toEqual([])
})

test('the critical path is marked in the timeline and in the graph', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${done}?view=timeline`)
  const { page, complaints } = visited
  await page.locator('[data-lane]').nth(3).waitFor()
  await page.getByRole('button', { name: 'Critical path', exact: true }).click()
  await page.waitForURL(/critical=yes/)
  await page.locator('.lane.critical').nth(3).waitFor()
  const summary = page.getByRole('region', { name: 'Critical path' })
  await summary.getByText(/^Critical path of .+, 4 objects/).waitFor()
  await page.getByRole('rowheader', { name: /^first, .* on the critical path for \d/ }).waitFor()
  // Each end is a mark, and no bar.
  expect(await page.locator('.piece.end').count()).toBe(4)
  expect(await seriousFindings(page)).toEqual([])
  await summary.getByRole('link', { name: 'first' }).click()
  await panelOf(page).getByRole('heading', { name: 'first' }).waitFor()
  await page.getByRole('link', { name: 'Graph', exact: true }).click()
  await page.locator('.node.critical').nth(2).waitFor()
  expect((await page.locator('.node.critical .node-name').allTextContents()).sort()).toEqual([
    'done',
    'first',
    'second',
  ])
  // A straight line has no height, so it is never visible to the driver.
  await page.locator('.react-flow__edge path.critical').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Critical path', exact: true }).click()
  await page.locator('.node.critical').first().waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('each attempt is a piece of its own, with its result', async () => {
  const { client } = here.server
  const id = await create(client, 'retried', {
    deployItems: [
      {
        ...{ name: 'flaky', type: 'mock', config: { flaky: 1, delayMs: 200 } },
        retry: { attempts: 2, backoff: { initialMs: 300 } },
      },
    ],
  })
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}?view=timeline`)
  const { page } = visited
  const pieces = page.locator('[data-lane]', { hasText: 'flaky' })
  await pieces.getByRole('button', { name: /PROGRESSING, attempt 1 failed/ }).waitFor()
  await pieces.getByRole('button', { name: /PROGRESSING, attempt 2,/ }).waitFor()
  expect(await pieces.locator('.piece.is-failed').count()).toBe(1)
})

test('gone objects keep their row in the timeline, where they were', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${gone}?view=timeline`)
  const { page } = visited
  const lanes = page.locator('[data-lane]')
  await page.locator('.gone-mark').nth(3).waitFor()
  await until(
    async () =>
      (await lanes.evaluateAll((all) => all.map((lane) => lane.getAttribute('aria-level')).join())) === '1,2,3,3',
    { what: 'each is below what contained it' },
  )
  // At a moment of its life it is there.
  const { sequence } = await changeOf(gone, 'first', 'SUCCEEDED')
  await page.goto(`${here.server.origin}/tree/${gone}?view=timeline&at=${sequence}`)
  await page.locator('.moment').waitFor()
  await page.getByRole('rowheader', { name: /^first, Deploy item, SUCCEEDED/ }).waitFor()
  await page.getByRole('rowheader', { name: /^second, Deploy item, PENDING/ }).waitFor()
})

test('what was taken out of a tree keeps its row, and is there again when one looks back', async () => {
  const { client } = here.server
  const id = await create(client, 'shrinks', items(3))
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}?view=timeline`)
  const { page } = visited
  const lanes = page.locator('[data-lane]')
  await lanes.nth(4).waitFor()
  await ask(client, MUTATIONS.updateInstallation, { id, spec: items(2) })
  await page.locator('[data-lane].gone', { hasText: 'item-2' }).waitFor()
  expect(await lanes.evaluateAll((all) => all.map((lane) => lane.getAttribute('aria-level')).join())).toBe('1,2,3,3,3')
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended again' })
  // The same for somebody who was not there when it went; then the graph, before and after.
  await page.reload()
  await page.locator('[data-lane].gone[aria-level="3"]', { hasText: 'item-2' }).waitFor()
  await page.locator('[data-lane]', { hasText: 'item-2' }).getByRole('rowheader').getByRole('button').click()
  const panel = panelOf(page)
  await panel.getByText('This object was deleted.').waitFor()
  await panel
    .getByRole('region', { name: 'Its changes' })
    .getByRole('listitem')
    .filter({ hasText: 'SUCCEEDED' })
    .getByRole('link')
    .click()
  await page.locator('.moment').waitFor()
  await page.getByRole('link', { name: 'Graph', exact: true }).click()
  await inPhase(page, 'item-2', 'SUCCEEDED').waitFor()
  const at = Number(new URL(page.url()).searchParams.get('at'))
  expect(await graphOf(page)).toEqual(await phasesAt(id, at))
  await page.getByRole('button', { name: 'See it as it is now' }).click()
  await inPhase(page, 'item-2', 'SUCCEEDED').waitFor({ state: 'detached' })
  expect(await graphOf(page)).toEqual(await phasesAt(id, Number.MAX_SAFE_INTEGER))
})

test('where the log does not reach, the page says so', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.route('**/graphql', async (route) => {
    const { query = '' } = (route.request().postDataJSON() ?? {}) as { query?: string }
    // As if it had been pruned: its beginning is not there any more.
    if (query.includes('query TreeAt')) {
      const errors = [
        { message: 'The log goes from 3 to 9.', extensions: { code: 'CURSOR_EXPIRED', oldest: 3, head: 9 } },
      ]
      return route.fulfill({ json: { errors, data: { treeAt: null } } })
    }
    if (!query.includes('query Changes')) return route.continue()
    const response = await route.fetch()
    const json = (await response.json()) as { data: { phaseChanges: { edges: unknown[] } } }
    json.data.phaseChanges.edges = json.data.phaseChanges.edges.slice(3)
    await route.fulfill({ response, json })
  })
  await page.goto(`${here.server.origin}/tree/${done}?at=1`)
  await page.getByText('The log does not reach back to that time.').waitFor()
  await page.getByText('The log goes from 3 to 9.').waitFor()
  await page.getByText(/The log goes back to/).waitFor()
  await page.getByRole('button', { name: /^Live/ }).click()
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the timeline is read and zoomed by the keyboard alone, and by wheel, drag and buttons', async () => {
  await using visited = await visit(here.browser, here.server, `/tree/${done}?view=timeline`)
  const { page } = visited
  const grid = page.getByRole('treegrid')
  const bar = grid.getByRole('button', { name: /^second: PROGRESSING/ })
  await bar.waitFor()
  const axis = page.locator('.lane-axis')
  const seen = async () => {
    const [from, to] = [Number(await axis.getAttribute('data-from')), Number(await axis.getAttribute('data-to'))]
    return { from, span: to - from }
  }
  const whole = await seen()
  const isNearer = async () => (await seen()).span < whole.span * 0.8
  const isWhole = async () => {
    const { from, span } = await seen()
    return Math.abs(from - whole.from) < 1 && Math.abs(span - whole.span) < 1
  }
  const showAll = async () => {
    await page.getByRole('button', { name: 'Fit', exact: true }).click()
    await until(isWhole, { what: 'the button fits' })
  }
  await grid.locator('[data-cell="-1"][tabindex="0"]').focus()
  await page.keyboard.press('+')
  await until(isNearer, { what: 'it is nearer' })
  await page.keyboard.press('-')
  await until(isWhole, { what: 'it is as it was' })
  await page.keyboard.press('Shift+ArrowRight')
  await until(async () => (await seen()).from > whole.from + whole.span / 10, { what: 'it has moved' })
  await page.keyboard.press('0')
  await until(isWhole, { what: 'it is where it was' })

  const focused = () => page.evaluate<string>('document.activeElement.closest("[data-lane]")?.textContent ?? ""')
  await page.keyboard.press('ArrowDown')
  await until(async () => (await focused()).startsWith('▶deploy') || (await focused()).includes('deploy-items'), {
    what: 'the next row has the focus',
  })
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tooltip').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  await page.keyboard.press('End')
  await until(async () => (await focused()).includes('second'), { what: 'the last row has the focus' })
  await page.keyboard.press('Enter')
  await panelOf(page).getByRole('heading', { name: 'second' }).waitFor()

  const { width = 0 } = (await bar.boundingBox()) ?? {}
  await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
  await until(isNearer, { what: 'the button zooms' })
  await showAll()
  await bar.hover()
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -300)
  await page.keyboard.up('Control')
  await until(isNearer, { what: 'the wheel zooms' })
  // The bar under the pointer is drawn larger.
  expect((await bar.boundingBox())?.width).toBeGreaterThan(width)
  await showAll()
  const { x = 0, y = 0 } = (await bar.boundingBox()) ?? {}
  await page.mouse.move(x + 2, y + 5)
  await page.mouse.down()
  await page.mouse.move(x + 62, y + 5, { steps: 5 })
  await page.mouse.up()
  await until(async () => (await seen()).from < whole.from - whole.span / 50, { what: 'dragging moves it' })
  // Dragging is no click.
  await panelOf(page).getByRole('heading', { name: 'second' }).waitFor()
})

test('what runs grows while one looks', async () => {
  const id = await create(here.server.client, 'grows', items(1, { hang: true }))
  await using visited = await visit(here.browser, here.server, `/tree/${id}?view=timeline`)
  const { page } = visited
  const bar = page.getByRole('button', { name: /^item-0: PROGRESSING/ })
  await bar.waitFor()
  const lasts = async () => Number(/for ([\d.]+) s so far/.exec((await bar.getAttribute('aria-label')) ?? '')?.[1] ?? 0)
  await until(async () => (await lasts()) > 1, { what: 'it has lasted a second' })
  const before = await lasts()
  await until(async () => (await lasts()) > before, { what: 'it grows' })
  await cancel(id)
  await page.locator('[data-lane] [data-phases~=ABORTED]').first().waitFor()
})

test('the way of an object through its machine is numbered, live, and says what comes next', async () => {
  const id = await create(here.server.client, 'walks', {
    deployItems: [{ name: 'x', type: 'mock', config: { hang: true } }],
  })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page, complaints } = visited
  await inPhase(page, 'x', 'PROGRESSING').getByRole('button').click()
  await panelOf(page).getByRole('heading', { name: 'x' }).waitFor()
  await panelOf(page).getByRole('link', { name: 'State machine' }).click()
  await page.locator('[data-state=PROGRESSING].now').waitFor()
  const numbers = () =>
    page.locator('[data-numbers]').evaluateAll((all) => all.map((label) => label.getAttribute('data-numbers')))
  await expect.poll(async () => (await numbers()).sort()).toEqual(['1', '2', '3'])
  await page.locator('[data-way="INIT PROGRESSING"].taken').waitFor({ state: 'attached' })
  await page.getByRole('region', { name: 'Next phases' }).waitFor()
  const steps = page.getByRole('region', { name: 'Phase history' }).getByRole('listitem')
  await expect.poll(() => steps.count()).toBe(3)

  await cancel(id)
  await page.locator('[data-state=ABORTED].now').waitFor()
  await steps.nth(3).getByText('PROGRESSING → ').waitFor()
  // From a step to that moment of the tree.
  await steps.nth(2).getByRole('link').click()
  await inPhase(page, 'x', 'PROGRESSING').waitFor()
  await page.locator('.tree.past').waitFor()
  expect(complaints).toEqual([])
})

test('the next phases are those that the viewer may take', async () => {
  const { client } = here.server
  const workerTemplate = { runtime: 'nobody', command: ['work'] }
  await ask(client, MUTATIONS.createProject, { name: 'ci', workerTemplate })
  const { events } = await ask(client, MUTATIONS.createEvent, { project: 'ci', source: 'here', type: 'push' })
  const { id } = present(events[0])
  await using visited = await visit(here.browser, here.server, `/machines?object=${id}`)
  const { page } = visited
  const next = page.getByRole('region', { name: 'Next phases' })
  await next.getByText('ABORTED').waitFor()
  await page.locator('[data-state=ABORTED].next').waitFor()
  // A cloudlet has two machines, each with a tab of its own.
  const site = await ask(client, MUTATIONS.createCloudlet, { name: 'site' })
  await page.goto(`${here.server.origin}/machines?object=${site.id}`)
  await page.locator('[data-state=INIT].now').waitFor()
  await page.getByRole('button', { name: 'cloudletUpgrade' }).click()
  await page.getByText('It has not moved in the machine cloudletUpgrade yet.').waitFor()
  await page.goto(`${here.server.origin}/machines?object=none`)
  await page.getByText('There is no object none.').waitFor()
})

test('progress is in the panel as it is made, without being looked for', async () => {
  const id = await create(here.server.client, 'steps', items(1, { delayMs: 600_000, steps: 600 }))
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  // Nothing looks again by itself: what is new can only have been told.
  await page.addInitScript(`{
    const every = window.setInterval
    window.setInterval = (run, ms, ...more) => (ms >= 5000 ? 0 : every(run, ms, ...more))
  }`)
  await page.goto(`${here.server.origin}/tree/${id}`)
  await inPhase(page, 'item-0', 'PROGRESSING').getByRole('button').click()
  const progress = panelOf(page).getByRole('region', { name: 'Progress' })
  const step = async (): Promise<number> => Number(/step (\d+) of 600/.exec((await progress.textContent()) ?? '')?.[1])
  for (let seen = await step(), times = 0; times < 2; times += 1) {
    await until(async () => (await step()) > seen, { what: 'there is another step' })
    seen = await step()
  }
  await inPhase(page, 'item-0', 'PROGRESSING').waitFor()
  await cancel(id)
})

test('on a narrow screen a large tree opens at its root, readable; nothing lies on the graph', async () => {
  const id = await create(here.server.client, 'wide', items(16))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`, { width: 390 })
  const { page } = visited
  const canvas = page.locator('.canvas')
  for (const name of ['wide', 'item-0', 'item-15']) {
    const node = inPhase(page, name, 'SUCCEEDED')
    await node.waitFor()
    await until(
      async () => {
        const [inner, outer] = [await node.boundingBox(), await canvas.boundingBox()]
        return (
          inner &&
          outer &&
          inner.x >= outer.x &&
          inner.y >= outer.y &&
          inner.y + inner.height <= outer.y + outer.height &&
          inner.x + inner.width <= outer.x + outer.width &&
          inner.height > 60 * 0.5
        )
      },
      { what: `${name} is in sight, and large enough` },
    )
  }
  const [foot, graph] = [await page.locator('.zoom').boundingBox(), await canvas.boundingBox()]
  expect(foot?.y).toBeGreaterThanOrEqual((graph?.y ?? 0) + (graph?.height ?? 0))
  const node = inPhase(page, 'wide', 'SUCCEEDED')
  const { width = 0 } = (await node.boundingBox()) ?? {}
  await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
  await until(async () => ((await node.boundingBox())?.width ?? 0) > 1.1 * width, { what: 'it is larger' })
  await page.getByRole('button', { name: 'Fit', exact: true }).click()
  await until(async () => ((await node.boundingBox())?.width ?? 0) <= 390, { what: 'all of it is in sight' })
})

test('a person goes to a time; at one before its creation a tree says when it was created', async () => {
  const { at } = await changeOf(done, 'first', 'SUCCEEDED')
  await using visited = await visit(here.browser, here.server, `/tree/${done}`)
  const { page, complaints } = visited
  await inPhase(page, 'second', 'SUCCEEDED').waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  const field = page.getByRole('textbox', { name: 'Time' })
  const go = async (text: string): Promise<void> => {
    await field.fill(text)
    await field.press('Enter')
  }
  await go(at)
  await inPhase(page, 'first', 'SUCCEEDED').waitFor()
  await page.waitForURL(/at=\d+/)
  await go('in a while')
  await page.getByText('This is no time.').waitFor()
  await go('2999-01-01')
  await page.getByText('This time is yet to come.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await go('-300d')
  await page.getByText('This tree did not exist then.').waitFor()
  await page
    .getByText(/It was created \d.* ago by \S/)
    .first()
    .waitFor()
  expect(complaints).toEqual([])
})
