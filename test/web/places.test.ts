import { expect, test } from 'vitest'
import { inOrder, type Place, runningOf, whyOf } from '../../web-playground/src/families/pipelines/model/places.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { seriousFindings } from './axe.ts'
import { addPlace, runtimeClient } from './pictured-world.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()

test('places are listed with what runs there; an administrator drains one and lets it work again', async () => {
  await using runtime = await runtimeClient(here.server)
  for (const name of ['host-a', 'host-b']) await addPlace(runtime, name, 'eu')

  await using visited = await visit(here.browser, here.server, '/agents')
  const { page, complaints } = visited
  await page.getByRole('link', { name: 'Places' }).click()
  const row = (name: string) => page.locator(`[data-name=${name}]`)
  await row('host-a').getByText('ACTIVE').waitFor()
  expect(await row('host-a').textContent()).toMatch(/processACTIVE0 of 40 of 4zone=eu/)
  await page.getByRole('button', { name: 'Drain host-a' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
  await row('host-a').getByText('DRAINED').waitFor()
  await row('host-a')
    .getByText(/^by admin .* ago$/)
    .waitFor()
  expect(await row('host-b').textContent()).toContain('ACTIVE')
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Let host-a take work again' }).click()
  await row('host-a').getByText('ACTIVE').waitFor()
  expect(complaints).toEqual([])
})

test('who does not administer the server sees places, and no button', async () => {
  const reader = await ask(here.server.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  await using visited = await visit(here.browser, { origin: here.server.origin, token: reader.secret }, '/places')
  await visited.page.getByRole('heading', { level: 1, name: 'Places' }).waitFor()
  await visited.page.getByRole('status').getByText(/place/).waitFor()
  expect(await visited.page.getByRole('button', { name: /^Drain/ }).count()).toBe(0)
})

test('why a place takes nothing, in words, and in which order they come', () => {
  const now = Date.UTC(2026, 0, 1, 0, 1)
  const at = '2026-01-01T00:00:00.000Z'
  const place = (state: Place['state'], more: Partial<Place> = {}): Place => ({
    ...{
      id: state,
      name: state,
      type: 'process',
      labels: [],
      capacity: null,
      runningWorkers: 0,
      runningJobs: 0,
      state,
    },
    ...{ seenAt: null, startingSince: null, waitingSince: null, drain: null, ...more },
  })
  const all = [
    place('ACTIVE'),
    place('DRAINED', { drain: { at, by: 'ann', reason: 'new disks' } }),
    place('FULL'),
    place('SLOW', { waitingSince: at }),
    place('LOST', { seenAt: at }),
  ]
  expect(inOrder(all).map(({ state }) => state)).toEqual(['LOST', 'SLOW', 'FULL', 'DRAINED', 'ACTIVE'])
  expect(all.map((one) => whyOf(one, now))).toEqual([
    '',
    'by ann 1m ago: new disks',
    'it runs as much as it may',
    'work waits for 1m',
    'seen 1m ago',
  ])
  expect(whyOf(place('SLOW', { startingSince: at }), now)).toBe('starting for 1m')
  expect([runningOf(3, place('FULL', { capacity: 8 })), runningOf(3, place('ACTIVE'))]).toEqual(['3 of 8', '3'])
})
