import { setTimeout as delay } from 'node:timers/promises'
import type { Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { create, items } from '../testkit/mutations.ts'
import { type ReachableServer, startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { usePlaceOf } from './place.ts'
import { inPhase, visit } from './visit.ts'

/** The server is killed, and comes back, under open pages. */

const here = usePlaceOf(() => startSharedServer())

test('open pages resume after a restart, miss no change, and say how many they caught up', async () => {
  const id = await create(here.server.client, 'tree', items(5, { delayMs: 3_000 }))
  await using tree = await visit(here.browser, here.server, `/tree/${id}`)
  await using log = await visit(here.browser, here.server, '/log')
  // However late the pages are there, and however far it has come by then.
  await tree.page.locator('.node-name:text-is("item-0")').waitFor()
  await log.page.locator('[data-sequence]').first().waitFor()
  await Promise.all([tree, log].map(({ page }) => page.evaluate('window.sameDocument = true')))

  await here.server.kill()
  for (const { page } of [tree, log]) await page.locator('[data-connection=lost]').waitFor()
  // Each says it for a moment only.
  await Promise.all([
    ...[tree, log].map(({ page }) => page.getByText(/caught up [\d,]+ changes? after .*, none missed/).waitFor()),
    here.server.start().then(() => create(here.server.client, 'meanwhile', items(20))),
  ])
  for (let i = 0; i < 5; i++) await inPhase(tree.page, `item-${i}`, 'SUCCEEDED').waitFor()
  await inPhase(tree.page, 'tree', 'SUCCEEDED').waitFor()

  // Nothing is left out: the list is as long as the log is.
  const head = await until(async () => (await quiet(here.server)) ?? null, {
    what: 'the log is quiet',
  })
  await log.page.locator(`[data-sequence="${head}"]`).waitFor()
  await log.page.getByText(`${head} changes shown`).waitFor()
  for (const { page } of [tree, log]) expect(await page.evaluate('window.sameDocument')).toBe(true)
})

test('where the log ends is known before a page reads anything, so that nothing falls between', async () => {
  await using visited = await visit(here.browser, here.server, '/machines')
  const { page } = visited
  await page.getByRole('heading', { level: 1 }).waitFor()
  const seen: string[] = []
  const bodyOf = (request: Request): string => (request.url().endsWith('/graphql') ? (request.postData() ?? '') : '')
  page.on('request', (request) => void (bodyOf(request).includes('query Rows(') && seen.push('rows are asked for')))
  page.on('response', (response) => {
    if (bodyOf(response.request()).includes('log { head endCursor }')) seen.push('the end is known')
  })
  // The answer that must come first is the slowest.
  await page.route('**/graphql', async (route) => {
    if (bodyOf(route.request()).includes('log { head endCursor }')) await delay(1_000)
    await route.continue()
  })
  await page.goto(`${here.server.origin}/objects#token=${here.server.token}`)
  await expect.poll(() => seen.length).toBeGreaterThanOrEqual(2)
  expect(seen.slice(0, 2)).toEqual(['the end is known', 'rows are asked for'])
})

test('a page that asks for what the server does not know any more loads itself anew', async () => {
  await create(here.server.client, 'replaced', items(1))
  await using visited = await visit(here.browser, here.server, '/machines')
  const { page } = visited
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.evaluate('window.sameDocument = true')
  await page.route('**/graphql', async (route) => {
    const body = route.request().postData() ?? ''
    // A page that is being replaced cannot be asked anything.
    const isSame = page.evaluate('window.sameDocument').catch(() => undefined)
    const isOld = body.includes('pendingRequests') && (await isSame) === true
    await route.continue({ postData: isOld ? body.replace('pendingRequests', 'formerRequests') : body })
  })
  await page.getByRole('link', { name: 'Objects', exact: true }).click()
  await page.getByRole('link', { name: 'replaced', exact: true }).waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(undefined)
})

const QUIET = gql(`{
  objects(filter: { finished: false }, first: 1) { edges { cursor } }
  phaseChanges(last: 1, filter: { includeRejected: true }) { edges { node { sequence } } }
}`)
/** The end of the log once nothing is left to be done. */
async function quiet({ client }: ReachableServer): Promise<number | null> {
  const { phaseChanges, objects } = await client.query(QUIET)
  return objects?.edges.length === 0 ? (phaseChanges?.edges[0]?.node.sequence ?? null) : null
}
