import { expect, test } from 'vitest'
import { create, items, show } from '../testkit/mutations.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

/** Its figures are printed: how fast a machine is depends on what else it has to do. */

const NODES = soak(2_000, 5_000)

const here = usePlace()

test(`the timeline of ${NODES.toLocaleString('en')} objects draws what is in sight, and is travelled at once`, async () => {
  const id = await create(here.server.client, 'large', items(NODES - 2))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const start = performance.now()
  await page.goto(`${here.server.origin}/tree/${id}?view=timeline`)
  const lanes = page.locator('[data-lane]')
  await lanes.nth(10).waitFor()
  const drawn = performance.now() - start
  await page.getByRole('button', { name: 'History' }).click()
  const slider = page.getByRole('slider', { name: 'Moment of the tree' })
  // All of its life: each item has four changes.
  await until(async () => Number(await slider.getAttribute('max')) > (NODES - 2) * 4, { what: 'all changes are read' })
  await page.getByText('reading older changes…').waitFor({ state: 'detached' })
  const read = performance.now() - start
  const grid = page.getByRole('treegrid')
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(NODES + 1))
  expect(await lanes.count()).toBeLessThan(60)

  // The end, by one key; each row has its bars.
  await grid.locator('[data-cell="-1"][tabindex="0"]').focus()
  await page.keyboard.press('End')
  await page
    .locator('[data-lane]', { hasText: `item-${NODES - 3}` })
    .locator('[data-phases~=SUCCEEDED]')
    .waitFor()
  expect(await lanes.count()).toBeLessThan(60)

  const back = performance.now()
  await slider.press('Home')
  await page.locator('.tree-counts', { hasText: '1 object' }).waitFor()
  const travelled = performance.now() - back
  // From one end to the other by changes, as fast as a key repeats.
  const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
    const slider = document.querySelector('.time-bar input')
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const times = []
    let step = 0
    let last = performance.now()
    const next = (now) => {
      times.push(now - last)
      last = now
      if (step === 60) return resolve(times)
      step += 1
      set.call(slider, String(Math.floor((Number(slider.max) - 1) * step / 60)))
      slider.dispatchEvent(new Event('input', { bubbles: true }))
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`)
  const sorted = frames.toSorted((a, b) => a - b)
  await page.locator('.tree-counts', { hasText: `${NODES.toLocaleString('en')} objects` }).waitFor()
  console.log(
    `${NODES} objects: rows after ${drawn.toFixed(0)} ms, all changes read after ${read.toFixed(0)} ms, ` +
      `to the beginning in ${travelled.toFixed(0)} ms; ` +
      `60 moments: median ${sorted[sorted.length >> 1]?.toFixed(0)} ms, worst ${sorted.at(-1)?.toFixed(0)} ms a frame`,
  )
  expect(await lanes.count()).toBeLessThan(60)
  expect(complaints).toEqual([])
})
