import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type CloudletDetails,
  findSites,
  type Opening,
  openings,
  type Site,
  sitesOf,
} from '../../web-playground/src/families/edge/model/edge-map.ts'
import type { Row } from '../../web-playground/src/model/object.ts'
import { type CrmSite, type PlayedCrm, playCrms } from '../cli/played-crm.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { show } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { row } from './samples.ts'
import { goTo, visit, widerBy } from './visit.ts'

const cloudlet = (id: string, more: Partial<Row> = {}) =>
  row(id, { kind: 'CLOUDLET', name: id, phase: 'READY', root: { id, name: id }, ...more })
const below = (kind: string, id: string, parent: string, root: string, more: Partial<Row> = {}) =>
  row(id, { kind, name: id, phase: 'READY', parent: { id: parent }, root: { id: root, name: root }, ...more })
const details = (id: string, more: Partial<CloudletDetails> = {}): readonly [string, CloudletDetails] => [
  id,
  {
    id,
    version: '1',
    wantedVersion: null,
    upgradePhase: 'READY',
    epoch: 1,
    resyncedAt: null,
    drifted: false,
    driftedInstances: [],
    orphans: [],
    agents: [],
    ...more,
  },
]
/** So many cloudlets with so many clusters with so many apps. */
function places(sites: number, clusters: number, apps: number) {
  const cloudlets = Array.from({ length: sites }, (_, i) => cloudlet(`c${i}`))
  const instances = cloudlets.flatMap(({ id }) =>
    Array.from({ length: clusters }, (_, j) => `${id}-k${j}`).flatMap((cluster) => [
      below('CLUSTER_INST', cluster, id, id),
      ...Array.from({ length: apps }, (_, n) => below('APP_INST', `${cluster}-a${n}`, cluster, id)),
    ]),
  )
  return { cloudlets, instances }
}
const names = (sites: readonly Site[]) =>
  sites.map((site) => [
    site.row.id,
    ...site.clusters.map(({ row: { id }, apps }) => [id, ...apps.map((app) => app.row.id)].join(' ')),
  ])

test('sites hold their clusters, which hold their apps; what is wrong comes first', () => {
  const { cloudlets, instances } = places(4, 1, 2)
  const failed = instances.map((one) => (one.id === 'c2-k0-a1' ? { ...one, phase: 'CREATE_ERROR' } : one))
  const sites = sitesOf(
    cloudlets.map((one) => (one.id === 'c3' ? { ...one, phase: 'OFFLINE' } : one)),
    failed,
    new Map([
      details('c1', {
        drifted: true,
        driftedInstances: [{ id: 'c1-k0' }, null],
        upgradePhase: 'UPDATE_ERROR',
        orphans: [{ kind: 'APP_INST', path: ['x'], phase: 'READY' }],
      }),
    ]),
  )
  expect(sites.map(({ row: { id }, problems }) => [id, ...problems])).toEqual([
    ['c1', 'upgrade failed', '1 not as recorded', '1 orphan'],
    ['c2', '1 failed'],
    ['c3', 'not connected'],
    ['c0'],
  ])
  expect(names(sites)[3]).toEqual(['c0', 'c0-k0 c0-k0-a0 c0-k0-a1'])
})

test('what is looked for is shown with what it is in', () => {
  const { cloudlets, instances } = places(12, 2, 2)
  const wrong = instances.map((one) => (one.id === 'c7-k1-a0' ? { ...one, phase: 'UPDATE_ERROR' } : one))
  const sites = sitesOf(cloudlets, wrong, new Map())
  const find = (name: string, wrongOnly = false) => names(findSites(sites, { name, wrongOnly }))
  expect(find('c3-k1-a1')).toEqual([['c3', 'c3-k1 c3-k1-a1']])
  expect(find('C3-K1')).toEqual([['c3', 'c3-k1 c3-k1-a0 c3-k1-a1']])
  expect(find('c11')).toEqual([['c11', 'c11-k0 c11-k0-a0 c11-k0-a1', 'c11-k1 c11-k1-a0 c11-k1-a1']])
  expect(find('', true)).toEqual([['c7', 'c7-k1 c7-k1-a0']])
  expect(find('c7-k0', true)).toEqual([])
  expect(find('nothing')).toEqual([])
})

test('a few sites are open; of many only what is wrong, while there is room', () => {
  const said = new Map<string, Opening>()
  const few = places(2, 2, 2)
  expect([...openings(sitesOf(few.cloudlets, few.instances, new Map()), said, false).values()]).toEqual(['all', 'all'])

  const { cloudlets, instances } = places(100, 20, 10)
  const broken = instances.map((one) => (one.root.id === 'c5' ? { ...one, phase: 'UPDATE_ERROR' } : one))
  const sites = sitesOf(cloudlets, broken, new Map())
  const open = openings(sites, said, false)
  expect([...open].filter(([, opening]) => opening !== 'closed')).toEqual([['c5', 'wrong']])
  expect(openings(sites, new Map([['c9', 'all']]), false).get('c9')).toBe('all')
  const found = openings(findSites(sites, { name: 'k1', wrongOnly: false }), said, true)
  expect([...found.values()].filter((opening) => opening === 'all').length).toBeLessThan(10)
})

let stack: AsyncDisposableStack
let server: ReachableServer
let browser: Browser
let crms: CrmSite
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const env = { PHASELINE_ROLES: 'gateway,engine' }
  ;[browser, server] = await Promise.all([openBrowser(), startTestApp({ env })])
  stack.use(server)
  crms = await playCrms(server)
})
afterAll(() => stack.disposeAsync())

const isReady = (id: string) =>
  until(async () => (await show(server.client, id))?.phase === 'READY', { what: 'it is ready' })
async function served(name: string): Promise<{ readonly id: string; readonly crm: PlayedCrm }> {
  const { id } = await ask(server.client, MUTATIONS.createCloudlet, { name })
  const crm = stack.use(await crms.connect(id, { instance: `${name}-crm`, version: '1.4' }))
  await isReady(id)
  return { id, crm }
}

test('sites are seen to come, fail, drift and be upgraded', async () => {
  await using visited = await visit(browser, server, '/edge')
  const { page, complaints } = visited
  await page.getByText('There are no cloudlets yet.').waitFor()
  const { id, crm } = await served('north')
  const north = page.getByRole('region', { name: 'north' })
  await north.getByText('Version 1.4').waitFor()
  await north.getByText('CRM north-crm').waitFor()
  await north.getByText('READY').waitFor()
  await page.getByText('nothing wrong').waitFor()

  const { id: clusterId } = await ask(server.client, MUTATIONS.createClusterInst, {
    cloudletId: id,
    name: 'k1',
    spec: { size: 1 },
  })
  await north.locator('.cluster', { hasText: 'k1' }).getByText('CREATE_REQUESTED').waitFor()
  await crm.report(await crm.take('north/k1', 'CREATE'), { phase: 'READY' })
  await isReady(clusterId)
  await ask(server.client, MUTATIONS.createAppInst, { clusterInstId: clusterId, name: 'good', spec: {} })
  await crm.report(await crm.take('north/k1/good', 'CREATE'), { phase: 'READY' })
  const { id: badId } = await ask(server.client, MUTATIONS.createAppInst, {
    clusterInstId: clusterId,
    name: 'bad',
    spec: {},
  })
  await crm.report(await crm.take('north/k1/bad', 'CREATE'), { phase: 'READY' })
  await isReady(badId)
  await ask(server.client, MUTATIONS.updateAppInst, { id: badId, spec: { size: 9 } })
  await crm.report(await crm.take('north/k1/bad', 'UPDATE'), {
    phase: 'UPDATE_ERROR',
    error: { code: 'NO_ROOM', message: 'the disk is full' },
  })
  const apps = north.getByRole('list', { name: 'Apps of k1' }).getByRole('listitem')
  await expect
    .poll(() => apps.allTextContents())
    .toEqual([expect.stringContaining('the disk is full'), expect.stringMatching(/^✓goodREADY$/)])
  await north.getByText('1 failed').first().waitFor()
  expect(await seriousFindings(page)).toEqual([])

  await ask(server.client, MUTATIONS.upgradeCloudlet, { id, version: '2.0' })
  await north.getByText('→ 2.0').waitFor()
  await north.getByText('UPDATE_REQUESTED').waitFor()

  await page.getByLabel('Name of a cloudlet, cluster or app').fill('good')
  await page.waitForURL(/\/edge\?name=good$/)
  await page.getByLabel('Only what is wrong').check()
  await page.getByText('Nothing matches.').waitFor()
  await page.getByRole('button', { name: 'Show all cloudlets' }).click()
  await north.getByRole('button', { name: 'What is on north' }).click()
  await apps.first().waitFor({ state: 'detached' })
  await north.getByRole('button', { name: 'What is on north' }).press('Enter')
  await north.getByRole('link', { name: 'good' }).click()
  await page.waitForURL(new RegExp(`/tree/${id}\\?object=`))
  expect(complaints).toEqual([])
})

test('drift and orphans are told, and that nobody is connected', async () => {
  const { id, crm } = await served('south')
  const { id: clusterId } = await ask(server.client, MUTATIONS.createClusterInst, {
    cloudletId: id,
    name: 'k2',
    spec: {},
  })
  await crm.report(await crm.take('south/k2', 'CREATE'), { phase: 'READY' })
  await isReady(clusterId)
  await ask(server.client, MUTATIONS.createCloudlet, { name: 'south-2' })
  await using visited = await visit(browser, server, '/edge?name=south')
  const { page, complaints } = visited
  await page.getByRole('region', { name: 'south-2' }).getByText('! not connected').waitFor()
  await page.getByRole('region', { name: 'south-2' }).getByText('Never resynced').waitFor()
  const south = page.getByRole('region', { name: 'south', exact: true })
  await south.getByText('Epoch 1').waitFor()
  await using _again = await crms.connect(id, {
    instance: 'south-2',
    objects: [
      { kind: 'CLUSTER_INST', path: ['south', 'stray'], phase: 'READY' },
      { kind: 'CLUSTER_INST', path: ['south', 'k2'], phase: 'CREATE_ERROR' },
    ],
  })
  await south.getByText('Epoch 2').waitFor()
  await south.getByText('1 orphan that nobody has asked for').click()
  await south.getByText('south/stray').waitFor()
  await south.getByText('! 1 not as recorded').waitFor()
  await south.getByText('≠ drifted').waitFor()
  expect(complaints).toEqual([])
  for (const look of [{}, { dark: true, width: 390 }]) {
    await using other = await visit(browser, server, '/edge', look)
    await other.page.getByText('≠ drifted').waitFor()
    expect(await seriousFindings(other.page)).toEqual([])
    expect(await widerBy(other.page)).toBeLessThanOrEqual(0)
  }
})

test('22,000 instances on 100 cloudlets can be looked at', async () => {
  const { cloudlets, instances } = places(100, 20, 10)
  const broken = instances.map((one) => (one.id === 'c42-k7-a3' ? { ...one, phase: 'UPDATE_ERROR' } : one))
  await using visited = await visit(browser, server, '/log')
  const { page, complaints } = visited
  await page.route('**/graphql', async (route) => {
    const body = route.request().postDataJSON() as { query: string; variables: Record<string, never> }
    const {
      filter,
      first = 0,
      after,
    } = body.variables as { filter?: { kinds?: string[] }; first?: number; after?: string }
    const all = filter?.kinds?.includes('CLOUDLET') ? cloudlets : filter?.kinds?.includes('APP_INST') ? broken : null
    if (body.query.startsWith('query CloudletDetails')) {
      const edges = cloudlets.map(({ id }) => ({ node: details(id)[1] }))
      return route.fulfill({ json: { data: { objects: { pageInfo: { hasNextPage: false }, edges } } } })
    }
    if (!all) return route.continue()
    if (body.query.startsWith('query RowCount')) {
      return route.fulfill({ json: { data: { objects: { totalCount: all.length } } } })
    }
    const start = Number(after ?? 0)
    const edges = all.slice(start, start + first).map((node) => ({ node }))
    const pageInfo = { hasNextPage: start + first < all.length, endCursor: String(start + first) }
    return route.fulfill({ json: { data: { objects: { pageInfo, edges } } } })
  })
  await goTo(page, 'Fleet', 'Edge')
  await page.getByText('22,000 clusters and apps').waitFor()
  await page.getByText('1 with something wrong').waitFor()
  // Only the app with a problem is open.
  expect(await page.locator('.site').count()).toBe(100)
  expect(await page.locator('.app').allTextContents()).toEqual([expect.stringContaining('c42-k7-a3')])
  const site = page.getByRole('region', { name: 'c42' })
  await site.getByRole('button', { name: 'Show all 220 clusters and apps' }).click()
  await until(async () => (await site.locator('.app').count()) === 200, { what: 'all of it is there' })

  await page.getByLabel('Name of a cloudlet, cluster or app').fill('c77-k3-a')
  await page.getByRole('region', { name: 'c77' }).locator('.app').nth(9).waitFor()
  expect(await page.locator('.site').count()).toBe(1)
  expect(complaints).toEqual([])
})
