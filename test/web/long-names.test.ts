import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { addPlace, runtimeClient } from './pictured-world.ts'
import { usePlace } from './place.ts'
import { tellOnFailure, type Visit, visit, widerBy } from './visit.ts'

/** Names as long as the server allows, in projects, paths, labels and messages: nothing is pushed out of sight. */

const here = usePlace()
const long = (what: string): string =>
  `${what}_with_a_name_that_is_as_long_as_the_server_lets_anybody_choose_it`.slice(0, 63)
const PROJECT = long('project')

const CREATE_HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { ... on Hook { id } ... on Error { message } }
}`)
const HOLD = gql(`mutation ($input: HoldAutomationInput!) {
  answer: holdAutomation(input: $input) { ... on AutomationHold { reason } ... on Error { message } }
}`)
const ITEM = gql('query ($filter: ObjectFilter) { objects(first: 1, filter: $filter) { edges { node { id } } } }')
const LEVELS = 8
function nested(spec: object, level = LEVELS): object {
  return level === 0 ? spec : nested({ installations: [{ name: long(`level-${level}`), spec }] }, level - 1)
}

let narrow: Visit
let wide: Visit
let deep: string
let item: string
beforeAll(async () => {
  const { client } = here.server
  await ask(client, MUTATIONS.createProject, { name: PROJECT, workerTemplate: { command: ['true'] } })
  await ask(client, MUTATIONS.setSecret, { project: PROJECT, name: long('SECRET'), value: 'not shown' })
  const secrets = [{ name: 'first', value: 'as-long-as-it-must-be' }]
  await ask(client, CREATE_HOOK, { project: PROJECT, name: long('hook'), format: 'GENERIC', secrets })
  const types = Array.from({ length: 8 }, (_, i) => long(`type-${i}`))
  await ask(client, MUTATIONS.createToken, { name: long('token'), role: 'AGENT', actor: 'DEPLOYER', types })
  await using runtime = await runtimeClient(here.server)
  await addPlace(runtime, long('place'), long('zone'))
  // Its message has a line for each key.
  const config = Object.fromEntries(['delayMs', 'steps', 'logLines', 'flaky', 'failTimes'].map((key) => [key, 'wrong']))
  const failing = { deployItems: [{ name: long('item'), type: 'mock', config }] }
  const labels = ['one', 'two', 'three'].map((key) => ({ key, value: long(key) }))
  const spec = nested(failing) as never
  const created = await ask(client, MUTATIONS.createInstallation, {
    project: PROJECT,
    name: long('deep'),
    labels,
    spec,
  })
  deep = present('id' in created ? created.id : null)
  const author = { name: `${long('author')}_${long('of')}`.slice(0, 100), role: 'USER' } as const
  const { secret } = await ask(client, MUTATIONS.createToken, author)
  await using writer = createClient({ url: here.server.url, token: secret })
  const { id: talking } = await ask(writer, MUTATIONS.createInstallation, {
    ...{ project: PROJECT, name: long('talking'), labels },
    spec: { deployItems: [{ name: long('item'), type: 'mock', config: { logLines: 3 } }] },
  })
  const unserved = { name: long('unserved'), type: long('type'), config: {} }
  await ask(client, MUTATIONS.createInstallation, { name: long('waiting'), spec: { deployItems: [unserved] } })
  const hold = { project: PROJECT, reason: 'Nobody may start anything before the network is there again. '.repeat(9) }
  await ask(client, HOLD, hold)
  for (const id of [deep, talking])
    await until(async () => (await show(client, id))?.finished, { what: 'both have ended' })
  const { objects } = await client.query(ITEM, { filter: { kinds: ['DEPLOY_ITEM'], failed: true } })
  item = present(objects?.edges[0]?.node.id)
  const open = (width: number) => visit(here.browser, here.server, '/', { width })
  ;[narrow, wide] = await Promise.all([open(390), open(1280)])
  for (const { page } of [narrow, wide]) await page.locator('[data-connection=live]').waitFor({ state: 'attached' })
})

async function go({ page, describe }: Visit, path: string, text: string): Promise<Page> {
  tellOnFailure(describe)
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
  await page.getByText(text).first().waitFor()
  return page
}

const tree = (query = ''): string => `/tree/${deep}${query}`
const PAGES = [
  ['the overview', () => '/', 'Needs you'],
  ['the list', () => '/objects?roots=no', long('talking')],
  ['a graph', () => tree(), long('deep')],
  ['a timeline', () => tree('?view=timeline'), long('item')],
  ['changes', () => tree('?view=changes'), long('item')],
  ['an object', () => tree(`?object=${item}`), long('item')],
  ['agents', () => '/agents', long('type')],
  ['schedules', () => '/schedules', 'is held'],
  ['the log', () => '/log', 'changes shown'],
  ['the output', () => '/log/output', 'line 3'],
  ['the audit', () => '/audit', 'Chained up to event'],
  ['places', () => '/places', long('place')],
  ['hooks', () => '/hooks', long('hook')],
  ['tokens', () => '/tokens', long('token')],
  ['a project', () => `/projects?name=${PROJECT}`, long('SECRET')],
] as const

/** Parts of a page that have to be scrolled sideways: no text makes them wider. */
const SIDEWAYS = `[...document.querySelectorAll('.wrapping-table, .panel, .changes, .card')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel ?? one.className)`

test.for(PAGES)('%s leaves nothing out of sight, wide and narrow', async ([, path, text]) => {
  for (const visited of [narrow, wide]) {
    const page = await go(visited, path(), text)
    expect(await widerBy(page)).toBeLessThanOrEqual(0)
    expect(await page.evaluate(SIDEWAYS)).toEqual([])
    expect(await seriousFindings(page)).toEqual([])
    expect(visited.complaints).toEqual([])
  }
})

const widthOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).last().boundingBox())?.width ?? 0
const heightOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).first().boundingBox())?.height ?? 0

test('a narrow screen has room for the state of the connection, the deepest name, and the text of a line', async () => {
  const page = await go(narrow, tree('?view=timeline'), long('item'))
  expect(await widthOf(page, '[data-connection=live]')).toBeGreaterThan(30)
  expect(await widthOf(page, '.lane-text')).toBeGreaterThan(30)
  await go(narrow, '/log/output', 'line 3')
  expect(await widthOf(page, '.output-text')).toBeGreaterThan(300)
})

test('a message of many lines has two of them where it is listed, and all of them in its object', async () => {
  const page = await go(wide, '/', 'Needs you')
  const message = '[data-failure] .thing-why'
  expect(await page.locator(message).getAttribute('title')).toContain('\n')
  expect(await heightOf(page, message)).toBeLessThan(40)
  await page.locator('[data-failure] a').click()
  await page.getByRole('region', { name: 'Error' }).getByText('MOCK_CONFIG').waitFor()
  expect(await heightOf(page, '.failure > p')).toBeGreaterThan(60)
})

test('a name that has no room in its box ends in it', async () => {
  const page = await go(narrow, tree(), long('deep'))
  await page.locator('.node-name').first().waitFor()
  const beyond = await page.evaluate(
    `[...document.querySelectorAll('.node')].filter((node) =>
      node.querySelector('.node-name').getBoundingClientRect().right > node.getBoundingClientRect().right).length`,
  )
  expect(beyond).toBe(0)
})

test('a long name of a project, a label or an author makes no row of a list higher', async () => {
  const page = await go(wide, '/objects?name=talking', long('talking'))
  expect(await heightOf(page, '[data-object] .cell-project')).toBeLessThan(30)
  await go(wide, '/', 'Needs you')
  expect(await heightOf(page, `[data-tree=${long('talking')}]`)).toBeLessThan(70)
})

test('a long reason of a hold has four lines, and leaves its button in one line', async () => {
  for (const visited of [narrow, wide]) {
    const page = await go(visited, '/schedules', 'is held')
    expect(await heightOf(page, '.hold > button')).toBeLessThan(40)
    expect(await heightOf(page, '.hold')).toBeLessThan(100)
  }
})
