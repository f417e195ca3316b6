import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, parse, validate } from 'graphql'
import type { FrameLocator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { families } from '../../src/families/index.ts'
import { EVERYTHING, type Example, filledIn } from '../../web-playground/src/model/examples.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { usePlace } from './place.ts'
import { goToFolded, visit, widerBy } from './visit.ts'

const SCHEMA = join(import.meta.dirname, '../../schema.graphql')
const FAMILIES = join(import.meta.dirname, '../../web-playground/src/families')
const OF_FAMILIES = await Promise.all(
  families.map(async ({ name, kinds }) => {
    const { examples }: ExamplesModule = await import(join(FAMILIES, name, 'examples.ts'))
    return { name, examples, hasKinds: Object.keys(kinds).length > 0 }
  }),
)
interface ExamplesModule {
  readonly examples: readonly Example[]
}
const ALL = [...EVERYTHING, ...OF_FAMILIES.flatMap(({ examples }) => examples)]

test('each example is valid, and has an id where it needs one', () => {
  const schema = buildSchema(readFileSync(SCHEMA, 'utf8'))
  for (const example of ALL) {
    const errors = validate(schema, parse(filledIn(example, '0197-an-id')))
    expect([example.title, errors.map(({ message }) => message)]).toEqual([example.title, []])
    expect([example.title, example.operation.includes('"ID"')]).toEqual([example.title, example.needs !== undefined])
  }
  expect(new Set(ALL.map(({ title }) => title)).size).toBe(ALL.length)
})

test('each family has something to look at, create, watch and do', () => {
  for (const { name, examples, hasKinds } of OF_FAMILIES) {
    // Without objects there is nothing to follow, and no verb.
    const wanted = hasKinds ? ['act', 'create', 'look', 'watch'] : ['create', 'look']
    expect([name, new Set(examples.map(({ does }) => does))]).toEqual([name, new Set(wanted)])
  }
})

const here = usePlace()

const inside = (page: Page): FrameLocator => page.frameLocator('iframe[title=GraphiQL]')
const choose = (page: Page, title: string) =>
  page
    .getByRole('navigation', { name: 'Examples' })
    .getByRole('button', { name: new RegExp(`^\\w+ ${title}`) })
    .click()
/** Text of an editor, whose blanks are no-break spaces. */
const textOf = async (page: Page, selector: string): Promise<string> =>
  ((await inside(page).locator(selector).first().textContent()) ?? '').replace(/\s+/g, ' ')
const OPERATION = '.graphiql-query-editor .view-lines'
const shows = (page: Page, selector: string, ...parts: readonly string[]) =>
  until(
    async () => {
      const text = await textOf(page, selector)
      return parts.every((part) => text.includes(part))
    },
    { what: `${selector} shows ${parts.join(', ')}` },
  )
/** Runs the operation of that name. Until GraphiQL has parsed a text, its button runs, or offers, those of the text before. */
async function play(page: Page, operation: string): Promise<void> {
  await inside(page).getByRole('tab', { name: operation }).waitFor()
  await inside(page).locator('.graphiql-execute-button').click()
}

test('an example is opened in GraphiQL within the page, and run there', async () => {
  const id = await create(here.server.client, 'to-look-at', items(1))
  await using visited = await visit(here.browser, here.server, '/explore')
  const { page, complaints, strangers } = visited
  await inside(page).locator('.graphiql-execute-button').waitFor()
  await shows(page, OPERATION, 'query Objects')

  await choose(page, 'What runs, and what it waits for')
  await shows(page, OPERATION, 'query Unfinished')
  await play(page, 'Unfinished')
  await shows(page, '.result-window', '"totalCount": 0')

  await choose(page, 'Reconcile once more')
  await shows(page, OPERATION, `id: "${id}"`)
  await play(page, 'Reconcile')
  await shows(page, '.result-window', '"__typename": "Installation"')
  // Earlier texts keep their own tabs.
  expect(await inside(page).locator('.graphiql-tab').count()).toBe(3)
  await inside(page).getByRole('tab', { name: 'Unfinished' }).click()
  await shows(page, OPERATION, 'query Unfinished')
  // The example is unchanged, letter by letter.
  const { operation } = ALL.find(({ title }) => title.startsWith('What runs')) ?? { operation: '' }
  expect(await textOf(page, OPERATION)).toBe(operation.replace(/\n/g, '').replace(/\s+/g, ' '))
  expect([complaints, strangers]).toEqual([[], []])
})

test('a subscription in it shows what happens afterwards, over a WebSocket', async () => {
  await using visited = await visit(here.browser, here.server, '/explore')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const sent: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await inside(page).locator('.graphiql-execute-button').waitFor()
  await choose(page, 'Every phase change from now on')
  await shows(page, OPERATION, 'subscription PhaseChanges')
  await play(page, 'PhaseChanges')
  await until(() => sent.some((frame) => frame.includes('"subscribe"')), { what: 'it subscribes over a socket' })
  expect(sent[0]).toContain('"connection_init"')
  expect(sent.find((frame) => frame.includes('"subscribe"'))).toContain('PhaseChanges')

  const id = await create(here.server.client, 'seen-live', items(1))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await shows(page, '.result-window', '"name": "seen-live"', '"to": "SUCCEEDED"')
  // The token is in no address, and in nothing that outlives the tab.
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(here.server.token)
  expect(complaints).toEqual([])
})

test('what was typed is kept when an example is opened, also before GraphiQL is there', async () => {
  await using visited = await visit(here.browser, here.server, '/explore')
  const { page } = visited
  await choose(page, 'A cloudlet')
  await shows(page, OPERATION, 'mutation CreateCloudlet')
  await inside(page).locator(OPERATION).first().click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText('query Mine { viewer { name } }')
  await shows(page, OPERATION, 'query Mine')
  // GraphiQL takes typed text into its tab once it has rested for a moment.
  await inside(page).getByRole('tab', { name: 'Mine' }).waitFor()
  await choose(page, 'Who holds what')
  await shows(page, OPERATION, 'query Locks')
  await inside(page).getByRole('tab', { name: 'Mine' }).click()
  await shows(page, OPERATION, 'query Mine { viewer { name } }')
  // It keeps what is typed once that has rested for a moment.
  const kept = (): Promise<boolean> =>
    page.evaluate<boolean>(`(() => {
      const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}')
      const both = [localStorage.getItem('graphiql:query'), tabs[activeTabIndex]?.query]
      return both.every((query) => query?.includes('query Mine { viewer'))
    })()`)
  await until(kept, { what: 'it is kept, and that it is what is shown' })
  // By itself it has the same tabs, and needs no token again.
  await page.getByRole('link', { name: 'Open it alone' }).click()
  await page.waitForURL(/\/graphiql/)
  await page.locator('.graphiql-tab', { hasText: 'Mine' }).waitFor()
  expect(await page.isVisible('dialog')).toBe(false)
})

/** Holds back what React schedules in frames, as a busy machine does: they are drawn a second after their `load`. */
const DRAWN_LATE = `if (window !== top) {
  const post = MessagePort.prototype.postMessage
  const loaded = new Promise((resolve) => addEventListener('load', () => setTimeout(resolve, 1000)))
  let isLoaded = false
  void loaded.then(() => (isLoaded = true))
  MessagePort.prototype.postMessage = function (...sent) {
    if (isLoaded) post.apply(this, sent)
    else void loaded.then(() => post.apply(this, sent))
  }
}`

test('an example that is chosen before GraphiQL is drawn is opened once it is', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.addInitScript(DRAWN_LATE)
  await page.getByRole('button', { name: 'Help' }).click()
  await page.getByRole('link', { name: 'Explore the API' }).click()
  await choose(page, 'A cloudlet')
  await shows(page, OPERATION, 'mutation CreateCloudlet')
})

test('it is as dark as the dashboard', async () => {
  await using visited = await visit(here.browser, here.server, '/explore')
  const { page } = visited
  await inside(page).locator('.graphiql-execute-button').waitFor()
  await page.getByLabel('Colours').selectOption('dark')
  await inside(page).locator('body.graphiql-dark .graphiql-execute-button').waitFor()
  await page.getByLabel('Colours').selectOption('light')
  await inside(page).locator('body.graphiql-light .graphiql-execute-button').waitFor()
})

const READ = `performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter(({ name }) => !/graphql$/.test(name)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

// Without the files of GraphiQL, which are those of another frame.
test.each([
  ['/', 120_000],
  ['/objects', 120_000],
  ['/explore', 120_000],
])('%s is at most %d bytes, as a browser loads it', async (path, most) => {
  await using visited = await visit(here.browser, here.server, path)
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  const read = await page.evaluate<number>(READ)
  expect(read).toBeGreaterThan(60_000)
  expect(read).toBeLessThan(most)
})

test('GraphiQL is loaded when it is wanted, and a narrow screen has room for it', async () => {
  await using visited = await visit(here.browser, here.server, '/', { width: 390 })
  const { page, complaints } = visited
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.locator('[data-connection=live]').waitFor()
  await goToFolded(page, 'Objects')
  await page.getByRole('heading', { name: 'Objects' }).waitFor()
  expect(asked).not.toContain('/graphiql')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('button', { name: 'Help' }).click()
  await page.getByRole('link', { name: 'Explore the API' }).click()
  await inside(page).locator('.graphiql-execute-button').waitFor()
  await page.getByRole('button', { name: 'Examples' }).click()
  await choose(page, 'A cloudlet')
  await shows(page, OPERATION, 'mutation CreateCloudlet')
  await play(page, 'CreateCloudlet')
  await shows(page, '.result-window', '"__typename": "Cloudlet"')
  // The answer is below what was asked, as wide as the screen has room.
  const box = await inside(page).locator('.result-window').boundingBox()
  expect(box?.width).toBeGreaterThan(250)
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  expect(complaints).toEqual([])
})
