import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { useShopPlace, WEBSHOP } from './place.ts'
import { goTo, inPhase, visit } from './visit.ts'

/** The dashboard as it was built (`npm run build:web`), in a real browser, served by the real server. */

const FIRST_LOAD_BYTES = 400 * 1024

const here = useShopPlace()

test('the first load is small, from nowhere else, and breaks no rule of the page', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints, strangers } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.getByText('Three ways to begin').waitFor()
  const bytes = Number(
    await page.evaluate(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter((entry) => !entry.name.includes('/graphql'))
        .reduce((sum, entry) => sum + entry.transferSize, 0)`,
    ),
  )
  console.log(`first load: ${(bytes / 1024).toFixed(1)} KB`)
  expect(bytes).toBeGreaterThan(20 * 1024)
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
  // The token is neither in the address nor where a script could read it.
  expect(page.url()).toBe(`${here.server.origin}/`)
  const readable = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
  expect(readable).not.toContain(here.server.token)
  const pages = [
    ['Trees', 'Objects'],
    ['Activity', 'Log'],
    ['Trees', 'State machines'],
  ] as const
  for (const [section, name] of pages) {
    await goTo(page, section, name)
    await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
  }
  expect([complaints, strangers]).toEqual([[], []])
})

test('without a token it asks for one, again when it is wrong', async () => {
  await using visited = await visit(here.browser, { ...here.server, token: 'wrong' }, '/log')
  const { page } = visited
  await page.getByText('does not accept').waitFor()
  await page.getByLabel('Your token').fill(` ${here.server.token} `)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.locator('[data-connection=live]').waitFor()
  await page.getByRole('heading', { name: 'Log' }).waitFor()
})

/** The name of the principal that the browser is signed in as; null: none. */
const WHO = `(async () => {
  const authorization = 'Bearer ' + localStorage.getItem('phaseline-page-key')
  const headers = { 'content-type': 'application/json', authorization }
  const response = await fetch('/graphql', { method: 'POST', headers, body: '{"query":"{ viewer { name } }"}' })
  return (await response.json()).data?.viewer.name ?? null
})()`

test('a link with another token asks before the browser is somebody else’s', async () => {
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, { name: 'eve', role: 'READER' })
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  const questions: string[] = []
  let agrees = false
  page.removeAllListeners('dialog').on('dialog', (dialog) => {
    questions.push(dialog.message())
    void (agrees ? dialog.accept() : dialog.dismiss())
  })
  const follow = async (path: string, token: string) =>
    void (await page.goto(`${here.server.origin}${path}#token=${token}`))
  const signedInAs = () => page.evaluate<string | null>(WHO)
  // In the page that is open, in another one, and in GraphiQL.
  for (const [i, path] of ['/agents', '/log', '/graphiql'].entries()) {
    await follow(path, secret)
    await until(() => questions.length === i + 1, { what: `it asks at ${path}` })
    expect(await signedInAs()).toBe('admin')
    expect(page.url()).toBe(`${here.server.origin}${path}`)
  }
  expect(new Set(questions).size).toBe(1)
  expect(questions[0]).toMatch(/signed in as “admin” \(ADMIN\)\. Sign in as “eve” \(READER\) instead/)
  agrees = true
  await follow('/agents', secret)
  await until(async () => (await signedInAs()) === 'eve', { what: 'it is signed in anew' })
  await page.locator('[data-connection=live]').waitFor()
  // Nothing is lost or gained: no question.
  await follow('/log', secret)
  await page.locator('[data-connection=live]').waitFor()
  await follow('/machines', 'wrong')
  await page.locator('[data-connection=live]').waitFor()
  expect([questions.length, await signedInAs()]).toEqual([4, 'eve'])
  // A reload before it is decided loses nothing.
  await page.evaluate('localStorage.clear()')
  await page.goto(`${here.server.origin}/log#token=${here.server.token}`, { waitUntil: 'commit' })
  await page.waitForFunction('location.hash === ""')
  await page.goto(`${here.server.origin}/agents`)
  await page.locator('[data-connection=live]').waitFor()
  // Nobody is signed in.
  await page.evaluate('localStorage.clear()')
  agrees = false
  await follow('/agents?fresh', secret)
  await page.getByText('Your token').waitFor()
  expect([questions.at(-1), await signedInAs()]).toEqual([
    'Sign in as “eve” (READER), whose link you have opened?',
    null,
  ])
})

test('the web shop is seen to be made and deleted, without a reload', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints, strangers } = visited
  await page.getByText('Three ways to begin').waitFor()
  const parsed = parseManifests(readFileSync(join(WEBSHOP, 'webshop.yaml'), 'utf8'))
  if (!parsed.ok) throw new Error('the example cannot be read')
  const [manifest] = parsed.manifests
  await create(here.server.client, 'shop', manifest?.spec ?? {})

  // Among what runs, or on a slow machine among the latest trees.
  await page.getByRole('link', { name: 'shop', exact: true }).first().click()
  await page.evaluate('window.sameDocument = true')
  await inPhase(page, 'smoke-test', 'SUCCEEDED').waitFor()
  await page.locator('.tree-head .phase', { hasText: 'SUCCEEDED' }).waitFor()
  // Three executions only wrap the items of their installations.
  expect(await page.locator('.node').count()).toBe(16)
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel.getByText('"url": "http://127.0.0.1').waitFor()

  await panel.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByText('Delete shop and everything below it').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This tree is gone').waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
  expect([complaints, strangers]).toEqual([[], []])
})

test('a run is cancelled from the page; why something waits is a link to it', async () => {
  const id = await create(here.server.client, 'slow', {
    deployItems: [
      { name: 'first', type: 'mock', config: { hang: true } },
      { name: 'second', type: 'mock', dependsOn: ['first'], config: {} },
      { name: 'counted', type: 'mock', config: { steps: 2, delayMs: 20 } },
    ],
  })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page, complaints } = visited
  await inPhase(page, 'first', 'PROGRESSING').waitFor()
  await inPhase(page, 'second', 'PENDING').getByRole('button').click()
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel.getByRole('region', { name: 'What it waits for' }).getByRole('link', { name: 'first' }).click()
  await panel.getByRole('heading', { name: 'first' }).waitFor()
  // An item that has succeeded shows no progress such as "1 of 2" any more, and a first attempt is not shown.
  await inPhase(page, 'counted', 'SUCCEEDED').getByRole('button').click()
  await panel.getByRole('heading', { name: 'counted' }).waitFor()
  await panel.getByText('Properties').click()
  expect(await panel.locator('dt').allTextContents()).toContain('Type')
  expect(await panel.locator('dt').allTextContents()).not.toContainEqual(expect.stringContaining('Attempt'))
  expect(await panel.getByRole('region', { name: 'Progress' }).count()).toBe(0)

  await page.locator('.node-name:text-is("slow")').click()
  await panel.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await inPhase(page, 'slow', 'ABORTED').waitFor()
  await inPhase(page, 'first', 'ABORTED').waitFor()
  expect(complaints).toEqual([])
})

/** The name of a built file: the hash after it may contain a dash, too. */
const nameOf = (url: string): string => /assets\/([a-z-]+)-[\w-]{8}\./.exec(url)?.[1] ?? ''

test('pages come although the network loses their files twice', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  const lost = new Map<string, number>()
  await page.route(/\/assets\/(start|create-page)-[^/]*\.js$/, async (route) => {
    const name = nameOf(route.request().url())
    const times = (lost.get(name) ?? 0) + 1
    lost.set(name, times)
    await (times > 2 ? route.continue() : route.abort('connectionreset'))
  })
  await page.reload()
  await page.getByRole('link', { name: 'Create', exact: true }).click()
  await page.getByText('Something has happened').waitFor()
  // A network that changes meanwhile loses further requests.
  const atLeastThrice = expect.toSatisfy((times: number) => times >= 3)
  expect(Object.fromEntries(lost)).toEqual({ start: atLeastThrice, 'create-page': atLeastThrice })
})

test('pages have their style although the network loses it twice, and GraphiQL that loses a part comes all the same', async () => {
  await using visited = await visit(here.browser, here.server, '/')
  const { page } = visited
  await page.locator('[data-connection=live]').waitFor()
  const lost = new Map<string, number>()
  await page.route(/\/assets\/(create-page|monaco-editor)-[^/]*\.css$/, async (route) => {
    const name = nameOf(route.request().url())
    const times = (lost.get(name) ?? 0) + 1
    lost.set(name, times)
    await (times > (name === 'create-page' ? 2 : 1) ? route.continue() : route.abort('connectionreset'))
  })
  await page.getByRole('link', { name: 'Create', exact: true }).click()
  await page.getByRole('link', { name: 'Installation' }).first().waitFor()
  const sheets =
    'Array.from(document.styleSheets, ({ href, cssRules }) => /create-page/.test(href) && cssRules.length > 0)'
  await until(async () => (await page.evaluate<readonly boolean[]>(sheets)).includes(true), {
    what: 'it has its style',
  })
  await page.goto(`${here.server.origin}/graphiql`)
  await page.locator('.graphiql-query-editor .view-lines').waitFor()
  expect(Object.fromEntries(lost)).toMatchObject({
    'create-page': expect.any(Number),
    'monaco-editor': expect.any(Number),
  })
  expect(lost.get('monaco-editor')).toBeGreaterThan(1)
})

test('the list keeps its filter in the address, and shows what is new at once', async () => {
  await using visited = await visit(here.browser, here.server, '/objects?roots=no')
  const { page } = visited
  await page.getByLabel('Kind').selectOption('DEPLOY_ITEM')
  await page.getByLabel('Name', { exact: true }).fill('item-')
  await page.waitForURL(/\?kind=DEPLOY_ITEM&name=item-&roots=no$/)
  await page.getByText('Nothing matches.').waitFor()
  await create(here.server.client, 'many', items(150))
  const rows = page.locator('[data-object]')
  await rows.filter({ hasText: 'SUCCEEDED' }).first().waitFor()
  await page.getByText('150 objects').waitFor()
  // Only those in sight are drawn.
  expect(await rows.count()).toBeLessThan(60)
  await page.reload()
  await page.getByText('100 of 150 read').waitFor()
  await page.locator('.grid-body').press('End')
  await page.getByText('150 objects').waitFor()
  await rows.first().getByRole('link').click()
  await page.waitForURL(/\/tree\/.*\?object=/)
})

test('a paused log holds what comes, and shows all of it afterwards', async () => {
  await using visited = await visit(here.browser, here.server, '/log')
  const { page } = visited
  await page.locator('[data-sequence]').first().waitFor()
  const newest = async (): Promise<number> =>
    Number(await page.locator('[data-sequence]').first().getAttribute('data-sequence'))
  // Trees of the tests before may still move until then.
  await page.getByRole('button', { name: 'Pause' }).click()
  const before = await newest()
  await create(here.server.client, 'later', items(3))
  await page.getByRole('button', { name: /Go on \(\d\d+ waiting\)/ }).waitFor()
  expect(await newest()).toBe(before)
  await page.getByRole('button', { name: /Go on/ }).click()
  await page.getByLabel('Search').fill('later succeeded installation')
  await page.locator('[data-sequence]', { hasText: 'later' }).first().waitFor()
})

test('the log is searched on the server, over more than it has read, and its address has the filter', async () => {
  for (const [name, count] of Object.entries({ haystack: 300, needle: 1, 'later-hay': 300 })) {
    const id = await create(here.server.client, name, items(count))
    await until(async () => (await show(here.server.client, id))?.finished, { what: `${name} has ended` })
  }
  await using visited = await visit(here.browser, here.server, '/log')
  const { page, complaints } = visited
  const rows = page.locator('[data-sequence]')
  await page.getByText('200 changes shown, older ones not read yet').waitFor()
  await page.locator('.log-body').press('End')
  await page.getByRole('button', { name: 'Show older changes' }).click()
  await page.getByText('400 changes shown, older ones not read yet').waitFor()

  await page.getByLabel('Search').fill('default/needle/deploy-items')
  await page.getByLabel('Kind').selectOption('DEPLOY_ITEM')
  await page.getByLabel('Became').selectOption('done')
  await page.waitForURL(/\?search=default%2Fneedle%2Fdeploy-items&kind=DEPLOY_ITEM&became=done$/)
  await page.getByText('1 change shown', { exact: true }).waitFor()
  await rows.first().getByRole('link', { name: 'default/needle/deploy-items/item-0' }).waitFor()
  await page.reload()
  await page.getByText('1 change shown', { exact: true }).waitFor()
  await page.getByLabel('Actor').selectOption('USER')
  await page.getByText('Nothing matches.').waitFor()
  await page.getByRole('button', { name: 'Show the whole log' }).click()
  await page.getByText('200 changes shown, older ones not read yet').waitFor()
  // It stays so: what was typed before does not come back.
  await page.getByLabel('Search').fill('later-hay')
  await page.waitForURL(/\?search=later-hay$/)
  await page.getByLabel('Search').fill('')
  await page.waitForURL(/\/log$/)
  await page.getByText('200 changes shown, older ones not read yet').waitFor()
  expect(await page.getByLabel('Search').inputValue()).toBe('')
  expect(complaints).toEqual([])
})

test('a token is created with the command that connects an agent, and revoked', async () => {
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page, complaints } = visited
  await page.getByRole('link', { name: 'Connect an agent' }).click()
  await page.getByLabel('Name', { exact: true }).fill('my-deployer')
  await page.getByLabel('Types of work').fill('my-type')
  await page.getByRole('button', { name: 'Create token' }).click()
  const secret = await page.getByRole('region', { name: 'Secret' }).locator('pre').textContent()
  const command = await page.getByRole('region', { name: 'Command' }).locator('pre').textContent()
  expect(command?.split('\n')).toEqual([
    'npx phaseline init my-agent --type my-type',
    'cd my-agent && npm install',
    `PHASELINE_URL=${here.server.url} PHASELINE_TOKEN=${secret} npm start`,
  ])
  const ask = (query: string) =>
    fetch(here.server.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
  expect(await (await ask('{ viewer { name actor types } }')).json()).toEqual({
    data: { viewer: { name: 'my-deployer', actor: 'DEPLOYER', types: ['my-type'] } },
  })

  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('button', { name: 'Revoke my-deployer' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('my-deployer is revoked.').waitFor()
  await until(async () => (await ask('{ viewer { name } }')).status === 401, { what: 'the token is refused' })
  expect(complaints).toEqual([])
})
