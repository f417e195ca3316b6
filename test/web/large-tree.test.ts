import { expect, test } from 'vitest'
import { LAYOUT_MEASURE } from '../../web-playground/src/ui/layout.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

/** Its figures are printed: how fast a machine is depends on what else it has to do. */

const NODES = soak(2_000, 5_000)

const here = usePlace()

/** Notes each frame, and when the tree's data had come and its first node was drawn. */
const WATCH = `
  window.frames_ = []
  let last = performance.now()
  const tick = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(tick) }
  requestAnimationFrame(tick)
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.react-flow__node .node')) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const drawn = performance.now()
      const ends = performance.getEntriesByType('resource')
        .filter((entry) => entry.name.endsWith('/graphql') && entry.decodedBodySize > 100000)
        .map((entry) => entry.responseEnd)
      window.drawn_ = { drawn, data: Math.max(...ends) }
    })
  }).observe(document, { childList: true, subtree: true })`

test(`a tree of ${NODES.toLocaleString('en')} objects is drawn soon, and stays smooth while it changes`, async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.evaluate(WATCH)
  const id = await create(here.server.client, 'large', items(NODES - 2, { delayMs: 3_000 }))
  await until(async () => (await show(here.server.client, id))?.phase !== 'INIT', { what: 'it has begun' })
  // As a link of the page would: on a slow machine it may have ended before one can be clicked.
  await page.evaluate(`history.pushState(null, '', '/tree/${id}')`)
  await page.locator('.node.group').first().waitFor()
  await expect.poll(() => page.evaluate('window.drawn_ !== undefined')).toBe(true)
  const { drawn, data } = await page.evaluate<{ drawn: number; data: number }>('window.drawn_')
  const start = performance.now()
  await page.evaluate('window.frames_.length = 0')
  const before = await headOf(here.server)
  await page.locator('.tree-head .phase', { hasText: 'SUCCEEDED' }).waitFor()
  const seconds = (performance.now() - start) / 1_000
  const changes = (await headOf(here.server)) - before
  const frames = await page.evaluate<number[]>('window.frames_')
  const sorted = frames.toSorted((a, b) => a - b)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
  console.log(
    `${NODES} objects: first picture ${(drawn - data).toFixed(0)} ms after the data; ` +
      `${(changes / seconds).toFixed(0)} changes/s for ${seconds.toFixed(1)} s, ` +
      `frames: median ${sorted[sorted.length >> 1]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, worst ${sorted.at(-1)?.toFixed(0)} ms`,
  )
  // How fast is for the reader to judge: here, that all of it was drawn, by one picture after the other.
  expect(drawn).toBeGreaterThan(data)
  if (changes > 0) expect(frames.length).toBeGreaterThan(0)
})

test(`${NODES.toLocaleString('en')} objects are drawn one by one once all groups are open, and answer a click`, async () => {
  const id = await create(here.server.client, 'opened', items(NODES - 2))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page } = visited
  const groups = page.locator('.node.group')
  await groups.first().waitFor()
  const open = await groups.evaluateAll((all) => all.map((one) => one.getAttribute('data-group')))
  await page.evaluate(`{
    window.clicks_ = []
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (name === 'click') window.clicks_.push(duration)
    }).observe({ type: 'event', durationThreshold: 16 })
    performance.clearMeasures()
    history.pushState(null, '', ${JSON.stringify(`/tree/${id}?${new URLSearchParams({ open: open.join(',') })}`)})
  }`)
  await page.locator('.node[data-object] .node-main').nth(20).waitFor()
  const layoutMs = await page.evaluate<number>(`performance.getEntriesByName('${LAYOUT_MEASURE}').at(-1).duration`)
  const drawn = await page.evaluate<number>(`document.querySelectorAll('.node').length`)
  for (const at of [5, 9, 13]) await page.locator('.node[data-object] .node-main').nth(at).click()
  const name = await page.locator('.node.selected .node-name').textContent()
  await page
    .getByRole('complementary', { name: 'The selected object' })
    .getByRole('heading', { name: name ?? '' })
    .waitFor()
  const clicks = await page.evaluate<number[]>('window.clicks_')
  console.log(
    `${NODES} objects, all open: layout ${layoutMs.toFixed(0)} ms, ${drawn} nodes in sight, clicks painted after ${clicks.join(', ')} ms`,
  )
  await page.getByRole('searchbox', { name: 'Find in this tree' }).fill(`item-${NODES - 3}`)
  await page.locator('.node-name').nth(1).waitFor()
  await expect.poll(() => page.locator('.node').count()).toBe(2)
})

const COUNT = gql('query ($id: ID!) { tree(rootId: $id) { objects(first: 0) { totalCount } } }')
test('the first objects of a large tree are drawn before the others are there', async () => {
  // No agent takes them, so nothing moves.
  const deployItems = Array.from({ length: 7_000 }, (_, i) => ({ name: `item-${i}`, type: 'nobody' }))
  const { client } = here.server
  const id = await create(client, 'paged', { deployItems })
  const count = async () => (await client.query(COUNT, { id })).tree?.objects.totalCount
  await until(async () => (await count()) === 7_002, { what: 'all objects are there' })
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/graphql', async (route) => {
    const { query = '', variables } = route.request().postDataJSON() as {
      query?: string
      variables?: { after?: string }
    }
    if (query.includes('query TreePage(') && variables?.after) await released
    await route.continue()
  })
  await page.evaluate(`history.pushState(null, '', '/tree/${id}')`)
  const counts = page.locator('.tree-counts')
  await counts.getByText('Reading… 1,000 of 7,002 objects').waitFor()
  await page.locator('.node.group').first().waitFor()
  await page
    .getByRole('complementary', { name: 'The selected object' })
    .getByRole('heading', { name: 'paged' })
    .waitFor()
  release()
  await counts.getByText('7,002 objects').waitFor()
  await counts.getByText('Reading').waitFor({ state: 'detached' })
  await page.locator('.node.group').first().waitFor()
})

async function headOf({ client }: ReachableServer): Promise<number> {
  const { phaseChanges } = await client.query(gql('{ phaseChanges(last: 1) { edges { node { sequence } } } }'))
  return phaseChanges?.edges[0]?.node.sequence ?? 0
}
