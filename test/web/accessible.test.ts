import { beforeAll, expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { tellOnFailure, type Visit, visit, widerBy } from './visit.ts'

const here = usePlace()
/** Light and wide, dark and narrow: one visit each, which goes from page to page. */
let visits: readonly Visit[]
/** In the middle of the failed tree's life. */
let moment: number
let trees: Readonly<Record<'failed' | 'waiting' | 'many', string>>
beforeAll(async () => {
  const { client } = here.server
  trees = {
    failed: await create(client, 'failed', items(2, { fail: true, logLines: 3 })),
    waiting: await create(client, 'waiting', { deployItems: [{ name: 'x', type: 'nobody', config: {} }] }),
    many: await create(client, 'many', items(70)),
  }
  await until(async () => (await show(client, trees.failed))?.finished, { what: 'the failed tree has ended' })
  const { phaseChanges } = await client.query(
    gql('query ($rootId: ID!) { phaseChanges(first: 8, filter: { rootId: $rootId }) { edges { node { sequence } } } }'),
    { rootId: trees.failed },
  )
  moment = phaseChanges?.edges.at(-1)?.node.sequence ?? 0
  await until(async () => (await show(client, trees.many))?.finished, { what: 'the last tree has ended' })
  visits = await Promise.all([
    visit(here.browser, here.server, '/'),
    visit(here.browser, here.server, '/', { dark: true, width: 390 }),
  ])
  for (const { page } of visits) await page.locator('[data-connection=live]').waitFor()
})

const PAGES = [
  ['the overview', () => '/', 'Runs now'],
  ['the list', () => '/objects?roots=no', 'item-69'],
  ['an empty list', () => '/objects?name=nothing', 'Nothing matches.'],
  ['a failed tree', () => `/tree/${trees.failed}`, 'CHILDREN_FAILED'],
  ['a waiting tree', () => `/tree/${trees.waiting}`, 'Waits for'],
  ['a tree with groups', () => `/tree/${trees.many}`, 'item-0 – item-11'],
  ['a graph without a match', () => `/tree/${trees.many}?name=nothing`, 'Nothing in this tree matches.'],
  ['a timeline', () => `/tree/${trees.failed}?view=timeline`, 'CHILDREN_FAILED'],
  ['a tree as it was', () => `/tree/${trees.failed}?at=${moment}`, 'See it as it is now'],
  ['a timeline as it was', () => `/tree/${trees.failed}?view=timeline&at=${moment}`, 'See it as it is now'],
  ['the way of an object', () => `/machines?object=${trees.failed}`, 'Phase history'],
  ['no tree', () => '/tree/none', 'There is no tree none.'],
  ['the log', () => '/log', 'changes shown'],
  ['the machines', () => '/machines?machine=task', 'What happens'],
  ['the projects', () => '/projects', 'Events and worker'],
  ['no locks', () => '/locks', 'No resource is locked.'],
  ['no limits', () => '/limits', 'No limit that you may see.'],
  ['no places', () => '/places', 'No place that you may see.'],
  ['no hooks', () => '/hooks', 'No hook that you may see.'],
  ['no rules', () => '/rules', 'No rule that you may see.'],
  ['the audit', () => '/audit', 'Chained up to event'],
  ['the agents', () => '/agents', 'No agent for this work'],
  ['the tokens', () => '/tokens', 'All tokens'],
  ['no edge', () => '/edge', 'There are no cloudlets yet.'],
  ['the page to explore the API', () => '/explore', 'Examples'],
  ['what can be created', () => '/create', 'Something has happened'],
  ['an installation and its plan', () => '/create/installation?example=nested', '12 to create.'],
  ['an installation that is there', () => `/create/installation?from=${trees.many}`, 'to run again'],
  ['a wrong installation', () => '/create/installation?from=none', 'There is no installation none.'],
  ['an event', () => '/create/event?example=push', 'No project has subscribed'],
  ['a task', () => '/create/task?example=assets', 'build-assets'],
  ['a project', () => '/create/project?example=hello', 'A new project, hello.'],
  ['a cloudlet', () => '/create/cloudlet?example=north', 'How its CRM connects'],
  ['an app', () => '/create/app?example=web', 'No cluster is READY'],
  ['no page', () => '/machines/none', 'There is no page /machines/none.'],
] as const

test.for(PAGES)('%s can be used by everyone, light and dark, wide and narrow', async ([, path, text]) => {
  for (const { page, complaints, describe } of visits) {
    tellOnFailure(describe)
    const before = complaints.length
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path())})`)
    await page.getByText(text).first().waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.locator('main h1').count()).toBe(1)
    // Nothing has to be scrolled sideways to.
    expect(await widerBy(page)).toBeLessThanOrEqual(0)
    expect(complaints.slice(before)).toEqual([])
  }
})
