import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient, runAgent, runCrm } from '../../src/client/index.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, remove, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { useShopPlace } from './place.ts'
import { inPhase, visit } from './visit.ts'

/** Everything that can be created is created in the browser, from its form. */

const here = useShopPlace()

const editor = (page: Page, label = 'Manifest') => page.getByRole('textbox', { name: label, exact: true })
const button = (page: Page, name = 'Create') => page.getByRole('button', { name, exact: true })
const plan = (page: Page) => page.getByRole('region', { name: /^What (would be created|the update would do)$/ })
const problems = (page: Page) => page.getByRole('list', { name: 'Problems' })
/** Replaces all that is in it, as one would with the keyboard. */
async function write(page: Page, text: string, label?: string): Promise<void> {
  await editor(page, label).focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}
/** In the one line that has this text. */
async function replaceInLine(page: Page, before: string, after: string, label?: string): Promise<void> {
  const text = await editor(page, label).evaluate((content) =>
    Array.from(
      (content as { querySelectorAll(s: string): Iterable<{ textContent: string }> }).querySelectorAll('.cm-line'),
      (line) => line.textContent,
    ).join('\n'),
  )
  expect(text).toContain(before)
  await write(page, text.replace(before, after), label)
}

const NAMES = gql(`query ($kind: ObjectKind!) {
  objects(filter: { kinds: [$kind], rootsOnly: true }, first: 100) { edges { node { name } } }
}`)
async function namesOf(kind: VariablesOf<typeof NAMES>['kind']): Promise<readonly string[]> {
  const { objects } = await here.server.client.query(NAMES, { kind })
  return present(objects).edges.map(({ node }) => node.name)
}
const INSTALLATION = gql('query ($id: ID!) { object(id: $id) { generation ... on Installation { ignored } } }')
const installationOf = async (id: string) => (await here.server.client.query(INSTALLATION, { id })).object
const rootInAddress = (page: Page): string => /\/tree\/([^?]+)/.exec(page.url())?.[1] ?? ''

test('from an empty server to the web shop: two clicks, the plan first, no reload', async () => {
  await using visited = await visit(here.browser, here.server, '/objects')
  const { page, complaints, strangers } = visited
  await page.getByText('There are no objects yet.').waitFor()
  await page.evaluate('window.sameDocument = true')
  await page.getByRole('link', { name: 'Create something' }).click()
  await page.getByRole('link', { name: 'Web shop' }).click()
  await page.getByText('Needs the gadgets of examples/webshop/gadgets').waitFor()
  await plan(page).getByText('19 to create.').waitFor()
  const steps = plan(page).locator('[data-step]')
  expect(await steps.first().getAttribute('data-step')).toBe('CREATE shop')
  expect(await steps.count()).toBe(19)
  expect(await namesOf('INSTALLATION')).toEqual([])
  await button(page).dblclick()
  await page.waitForURL(/\/tree\//)
  await inPhase(page, 'smoke-test', 'SUCCEEDED').waitFor()
  await page.locator('.tree-head .phase', { hasText: 'SUCCEEDED' }).waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
  expect([complaints, strangers]).toEqual([[], []])
  const id = rootInAddress(page)
  await remove(here.server.client, id)
  await until(async () => (await show(here.server.client, id)) === null, {
    what: 'the shop is gone',
  })
})

test('a mistake is marked at its line, reached from its list, and mended', async () => {
  await using visited = await visit(here.browser, here.server, '/create/installation?example=failing')
  const { page, complaints } = visited
  await plan(page).getByText('5 to create.').waitFor()
  await replaceInLine(page, 'dependsOn: [second]', 'depends: [second]')
  await problems(page).getByText('Unrecognized key: "depends"').waitFor()
  await page.locator('.cm-lint-marker-error').waitFor()
  const marked = page.locator('.cm-lintRange-error')
  expect(await marked.first().textContent()).toContain('depends')
  expect(await editor(page).getAttribute('aria-invalid')).toBe('true')
  expect(await button(page).isDisabled()).toBe(true)
  await plan(page).getByText('Fix the errors marked').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  // The position is a button that moves the cursor to the word.
  await problems(page).getByRole('button', { name: 'Line 17, column 7' }).press('Enter')
  for (let i = 0; i < 'depends'.length; i += 1) await page.keyboard.press('Delete')
  await page.keyboard.type('dependsOn')
  // Typing faster than the manifest is checked neither restores nor loses a letter.
  for (let times = 0; times < 6; times += 1) {
    for (let i = 0; i < 'dependsOn'.length; i += 1) await page.keyboard.press('Backspace')
    await page.keyboard.type('dependsOn')
  }
  await plan(page).getByText('5 to create.').waitFor()
  expect(await problems(page).count()).toBe(0)
  expect(await plan(page).getByRole('region', { name: 'What it would wait for' }).count()).toBe(0)
  await replaceInLine(page, 'type: mock', 'type: nobody')
  await plan(page).getByText('Waits for an agent of the type nobody, and none is connected.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(await editor(page).getAttribute('aria-invalid')).toBe('false')
  // The text is no YAML at all.
  await write(page, 'name: {\n')
  await problems(page).waitFor()
  expect(await page.getByLabel('Name').isDisabled()).toBe(true)
  expect(complaints).toEqual([])
})

test('keys and values are completed from the schema of the document', async () => {
  for (const look of [{}, { dark: true, width: 390 }]) {
    await using visited = await visit(here.browser, here.server, '/create/installation', look)
    const { page, complaints } = visited
    const options = page.getByRole('listbox', { name: 'Completions' })
    const chosen = options.getByRole('option', { selected: true })
    const text = () => editor(page).evaluate((content) => (content as { innerText: string }).innerText)
    const take = async (label: string): Promise<void> => {
      await chosen.getByText(label).first().waitFor()
      // CodeMirror gives keys to a list that has been open for 75 ms.
      await page.waitForTimeout(100)
      await page.keyboard.press('Enter')
    }
    await write(page, '')
    await page.keyboard.press('Control+Space')
    await chosen.getByText('text, required').waitFor()
    await page.getByText('Unique among the installations of the project').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await options.waitFor({ state: 'detached' })
    expect(await text()).not.toContain('name')
    // Typing opens the list, and Enter takes a key, with the place of its value.
    await page.keyboard.type('name: shop')
    await page.keyboard.press('Enter')
    await page.keyboard.type('sp')
    await take('spec')
    await chosen.getByText('target').first().waitFor()
    await page.keyboard.type('deplo')
    await take('deployItems')
    await take('name')
    await page.keyboard.type('db')
    await page.keyboard.press('Enter')
    await page.keyboard.type('ty')
    await chosen.getByText('type').waitFor()
    // Tab indents all the same.
    await page.keyboard.press('Tab')
    expect((await text()).replaceAll('\u200b', '').trimEnd()).toMatch(/deployItems:\n {4}- name: db\n {8}ty$/)
    expect(await problems(page).count()).toBeGreaterThan(0)
    expect(complaints).toEqual([])
  }
})

test('what only the server knows is marked at its line too, before anything is created', async () => {
  await using visited = await visit(here.browser, here.server, '/create/installation?example=failing')
  const { page } = visited
  await replaceInLine(page, 'dependsOn: [first]', 'dependsOn: [third]')
  await problems(page).getByText('in a cycle').waitFor()
  await problems(page).getByRole('button', { name: 'Line 7, column 3' }).waitFor()
  await replaceInLine(page, 'dependsOn: [third]', 'dependsOn: [nobody]')
  await problems(page).getByText('there is no deploy item nobody beside it').waitFor()
  await problems(page).getByRole('button', { name: 'Line 13, column 19' }).waitFor()
  expect(await button(page).isDisabled()).toBe(true)
})

test('the keyboard gets into the editor, and out of it', async () => {
  await using visited = await visit(here.browser, here.server, '/create/installation')
  const { page } = visited
  await editor(page).waitFor()
  await page.getByLabel('Project').focus()
  await page.keyboard.press('Tab')
  const inEditor = () => page.evaluate('document.activeElement.classList.contains("code")')
  expect(await inEditor()).toBe(true)
  await page.keyboard.press('Tab')
  expect([await inEditor(), await editor(page).textContent()]).toEqual([true, expect.stringMatching(/^ {2}name/)])
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  expect(await inEditor()).toBe(false)
})

test('name and project are those of the manifest, wherever they are typed', async () => {
  await using visited = await visit(here.browser, here.server, '/create/installation?example=slow')
  const { page } = visited
  const name = page.getByLabel('Name')
  await name.fill('typed here')
  await expect.poll(() => editor(page).textContent()).toContain('name: typed here')
  await problems(page).getByText('must start with a letter').waitFor()
  await replaceInLine(page, 'name: typed here', 'project: nowhere\nname: typed-there')
  await expect.poll(() => name.inputValue()).toBe('typed-there')
  await page.getByText('There is no project nowhere that you may see.').waitFor()
  await page.getByLabel('Project').selectOption('default')
  await expect.poll(() => editor(page).textContent()).toContain('project: default')
  await page.getByText('A new installation in default.').waitFor()
  // It is kept while one looks elsewhere.
  await page.getByRole('navigation', { name: 'What to create' }).getByRole('link', { name: 'Task' }).click()
  await editor(page, 'Jobs').waitFor()
  await page.getByRole('navigation', { name: 'What to create' }).getByRole('link', { name: 'Installation' }).click()
  await expect.poll(() => editor(page).textContent()).toContain('typed-there')
})

const spec = (config: object, more: readonly string[] = []) => ({
  deployItems: ['web', ...more].map((name) => ({ name, type: 'mock', config })),
})

test('one that is there is opened, changed with a plan, and never over the change of somebody else', async () => {
  const id = await create(here.server.client, 'site', spec({ size: 1 }, ['aside']))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, `/create/installation?from=${id}`)
  const { page, complaints } = visited
  await page.getByText('this would update it').waitFor()
  expect(await editor(page).textContent()).toBe(
    'name: sitespec:  deployItems:    - name: web      type: mock      config:        size: 1    - name: aside      type: mock      config:        size: 1',
  )
  await write(page, 'name: site\nspec:\n  deployItems:\n    - { name: web, type: mock, config: { size: 2 } }\n')
  await plan(page).getByText('1 to delete').waitFor()
  const steps = plan(page).locator('[data-step]')
  expect(await steps.first().getAttribute('data-step')).toBe('UPDATE site')
  await plan(page).locator('[data-step="DELETE site/deploy-items/aside"]').waitFor()

  await ask(here.server.client, MUTATIONS.updateInstallation, { id, spec: spec({ size: 3 }) })
  await page.getByText('It was changed since you opened it (generation 1 → 2)').waitFor()
  await button(page, 'Open it as it is now').click()
  await expect.poll(() => editor(page).textContent()).toContain('size: 3')
  await replaceInLine(page, 'size: 3', 'size: 4')
  await plan(page).locator('[data-step="UPDATE site/deploy-items/web"]').waitFor()
  await button(page, 'Update').click()
  await page.waitForURL(new RegExp(`/tree/${id}$`))
  expect(await installationOf(id)).toMatchObject({ generation: 3 })

  await page.goto(`${here.server.origin}/create/installation?from=${id}&copy=yes`)
  await page.getByText('A new installation in default.').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('site-copy')
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  expect(await namesOf('INSTALLATION')).toContain('site-copy')
  await page.goto(`${here.server.origin}/create/installation?from=none`)
  await page.getByText('There is no installation none.').waitFor()
  expect(complaints).toEqual([])
})

test('agents say what would change at the targets, before it is done', async () => {
  await using stack = new AsyncDisposableStack()
  const input = { name: 'planner', role: 'AGENT', actor: 'DEPLOYER', types: ['planned'] } as const
  const { secret: token } = await ask(here.server.client, MUTATIONS.createToken, input)
  const client = stack.adopt(createClient({ url: here.server.url, token }), (one) => one.close())
  const stop = new AbortController()
  const unchanged = { group: '', namespace: 'shop', action: 'UNCHANGED' as const, reason: null, fields: [], diff: null }
  const running = runAgent({
    ...{ client, instance: 'planner', types: ['planned'], signal: stop.signal },
    work: () => null,
    dryRun: ({ name }) =>
      name === 'broken'
        ? { error: { code: 'KUBERNETES_REFUSED', message: 'It may not be like this.' } }
        : {
            changes: [
              { ...unchanged, kind: 'ConfigMap', name: 'settings', action: 'UPDATE', diff: '-size: 1\n+size: 2' },
              { ...unchanged, kind: 'Service', name: 'web' },
            ],
          },
  })
  stack.defer(async () => {
    stop.abort()
    await running
  })
  await using visited = await visit(here.browser, here.server, '/create/installation')
  const { page, complaints } = visited
  const items = ['web', 'broken'].map((name) => `    - { name: ${name}, type: planned }\n`).join('')
  await write(page, `name: planned\nspec:\n  deployItems:\n${items}`)
  await plan(page).getByText('4 to create.').waitFor()
  await button(page, 'Ask the targets').click()
  const answers = page.getByRole('region', { name: 'On the targets' })
  await answers.getByText('KUBERNETES_REFUSED').waitFor()
  await answers.getByText('ConfigMap shop/settings').waitFor()
  expect(await answers.locator('.is-added').allTextContents()).toEqual(['+size: 2\n'])
  await answers.getByText('1 object unchanged.').waitFor()
  expect(await namesOf('INSTALLATION')).not.toContain('planned')
  expect(await seriousFindings(page)).toEqual([])
  // They may say something else by now.
  const [told] = await Promise.all([
    page.waitForResponse((response) => response.request().postData()?.includes('dryRunInstallation') ?? false),
    button(page, 'Ask the targets').click(),
  ])
  expect(told.ok()).toBe(true)
  await answers.getByText('ConfigMap shop/settings').waitFor()
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('ReadDryRun') ? route.abort() : route.continue(),
  )
  await button(page, 'Ask the targets').click()
  await answers.getByText('NO_ANSWER').waitFor()
  // Another spec is another question.
  await replaceInLine(page, 'name: planned', 'name: other')
  await answers.getByText('Agents can say').waitFor()
  expect(await answers.getByText('ConfigMap').count()).toBe(0)
  expect([...new Set(complaints)]).toEqual(['Failed to load resource: net::ERR_FAILED'])
})

test('who is faster is not overwritten: the plan is looked at again', async () => {
  const id = await create(here.server.client, 'race', spec({ size: 1 }))
  await using visited = await visit(here.browser, here.server, '/create/installation')
  const { page } = visited
  await editor(page).waitFor()
  await write(
    page,
    'name: race\nignored: true\nspec: { deployItems: [{ name: web, type: mock, config: { size: 2 } }] }\n',
  )
  await plan(page).getByText('3 to change.').waitFor()
  let times = 0
  await page.route('**/graphql', async (route) => {
    if (times === 0 && route.request().postData()?.includes('updateInstallation')) {
      times += 1
      await ask(here.server.client, MUTATIONS.updateInstallation, { id, spec: spec({ size: 9 }) })
    }
    await route.continue()
  })
  await button(page, 'Update').click()
  const refusal = page.getByRole('alert')
  await refusal.getByText('GENERATION_MISMATCH').waitFor()
  await refusal.getByRole('link', { name: 'Installation race' }).waitFor()
  // Pressed once more, when it is known what that would do now.
  const url = () => page.url()
  const press = () => button(page, 'Update').click({ timeout: 1_000 })
  await expect.poll(() => press().then(url, url)).toMatch(new RegExp(`/tree/${id}$`))
  expect(await installationOf(id)).toEqual({ generation: 3, ignored: true })
})

test('a long plan is shown bit by bit; one that was lost is looked at again', async () => {
  await using visited = await visit(here.browser, here.server, '/create')
  const { page } = visited
  let lost = 0
  await page.route('**/graphql', async (route) => {
    if (lost > 0 || !route.request().postData()?.includes('planInstallation')) return route.continue()
    lost += 1
    await route.abort()
  })
  await page.getByRole('link', { name: 'Installation' }).click()
  await plan(page).getByText('NO_ANSWER').waitFor()
  expect(await button(page).isDisabled()).toBe(true)
  await button(page, 'Look again').click()
  await plan(page).getByText('1 to create.').waitFor()
  const items = Array.from({ length: 150 }, (_, i) => `{ name: item-${i}, type: mock }`)
  await write(page, `name: long\nignored: true\nspec: { deployItems: [${items}] }\n`)
  await plan(page).getByText('152 to create.').waitFor()
  expect(await plan(page).locator('[data-step]').count()).toBe(100)
  await button(page, 'Show 52 more steps').click()
  expect(await plan(page).locator('[data-step]').count()).toBe(152)
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  expect(await installationOf(rootInAddress(page))).toMatchObject({ ignored: true })
})

test('an event starts the worker of its project; when nobody wants to know, that is said', async () => {
  await using visited = await visit(here.browser, here.server, '/create/event')
  const { page, complaints } = visited
  await page.getByText('No project has subscribed to anything').waitFor()
  expect(await button(page).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'A push' }).click()
  await button(page).click()
  await page.getByText('Nothing was created:').waitFor()
  await page.getByRole('alert').getByRole('link', { name: 'projects' }).waitFor()

  await page.getByLabel('Project').selectOption('default')
  await button(page).click()
  await page.getByText('has no worker template').waitFor()
  const subscriptions = [
    { source: 'example.com/word-count', types: ['push'], labels: [{ key: 'branch', value: 'main' }] },
  ]
  const ci = { name: 'ci', workerTemplate: { command: ['true'] }, subscriptions }
  await ask(here.server.client, MUTATIONS.createProject, ci)

  await page.getByLabel('Project').selectOption('')
  await button(page, 'Add a label').click()
  await page.getByLabel('Value of label 2').fill('x')
  await page.getByText('The key is missing.').waitFor()
  await button(page, 'Remove label 2').click()
  await button(page).dblclick()
  await page.waitForURL(/\/tree\//)
  expect(await namesOf('EVENT')).toHaveLength(1)
  expect(complaints).toEqual([])
})

test('a project is created and edited as its file; what is wrong is marked, by whoever finds it', async () => {
  await using visited = await visit(here.browser, here.server, '/create/project')
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Says hello' }).click()
  await page.getByText('A new project, hello.').waitFor()
  await button(page).dblclick()
  await page.getByRole('heading', { name: 'hello', level: 2 }).waitFor()
  const runs = page.getByRole('region', { name: 'Events and worker' })
  await runs.getByText('example.com/word-count of type push').waitFor()

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByText('There is hello already').waitFor()
  await replaceInLine(page, 'timeout: 1m', 'timeout: soon', 'Project')
  await problems(page).getByText('must be a duration').waitFor()
  // It stays an update while there are mistakes, however long they stay.
  await page.waitForTimeout(600)
  expect(await button(page, 'Update').isDisabled()).toBe(true)
  await replaceInLine(page, 'timeout: soon', 'files: [{ path: a, from: b }]', 'Project')
  await problems(page).getByText('cannot be read from here').waitFor()
  await replaceInLine(page, 'files: [{ path: a, from: b }]', 'files: [{ path: ../a, content: b }]', 'Project')
  await problems(page).getByRole('listitem').waitFor({ state: 'detached' })
  await button(page, 'Update').click()
  // Only the server knows what a path may be.
  await problems(page).locator('code', { hasText: 'workerTemplate.files.0.path' }).waitFor()
  await replaceInLine(page, '../a', 'a', 'Project')
  await replaceInLine(page, 'maxWorkers: 1', 'maxWorkers: 7', 'Project')
  await button(page, 'Update').click()
  await page.waitForURL(/\/projects\?name=hello/)
  const { project } = await here.server.client.query(
    gql(
      '{ project(name: "hello") { limits { maxWorkers } subscriptions { source } workerTemplate { files { path } } } }',
    ),
  )
  expect(project).toEqual({
    limits: { maxWorkers: 7 },
    subscriptions: [{ source: 'example.com/word-count' }],
    workerTemplate: { files: [{ path: 'a' }] },
  })
  await page.goto(`${here.server.origin}/create/project?from=nowhere`)
  await page.getByText('There is no project nowhere').waitFor()
  expect(complaints).toEqual([])
})

test('an answer that was lost is asked for again, and nothing is created twice', async () => {
  await using visited = await visit(here.browser, here.server, '/create/event?example=push')
  const { page } = visited
  const before = (await namesOf('EVENT')).length
  await page.getByLabel('Project').selectOption('ci')
  let lost = 0
  await page.route('**/graphql', async (route) => {
    if (lost > 0 || !route.request().postData()?.includes('createEvent')) return route.continue()
    lost += 1
    await route.fetch()
    await route.abort()
  })
  await button(page).click()
  await page.getByText('nothing is created twice').waitFor()
  expect((await namesOf('EVENT')).length).toBe(before + 1)
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  expect((await namesOf('EVENT')).length).toBe(before + 1)
})

test('a task runs gadgets; the one that has its name already is a link', async () => {
  await using visited = await visit(here.browser, here.server, '/create')
  const { page, complaints } = visited
  await page.getByRole('link', { name: 'Build assets' }).click()
  await replaceInLine(page, 'jobs.green.exports', 'jobs.violet.exports', 'Jobs')
  await button(page).click()
  await problems(page).getByText('violet is no job that comes before violet').waitFor()
  await problems(page).getByRole('button', { name: 'Line 14, column 11' }).waitFor()
  await replaceInLine(page, 'jobs.violet.exports', 'jobs.green.exports', 'Jobs')
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  await inPhase(page, 'violet', 'DONE').waitFor()
  const id = rootInAddress(page)

  await page.goto(`${here.server.origin}/create/task?example=assets`)
  await button(page).click()
  const refusal = page.getByRole('alert')
  await refusal.getByText('ALREADY_EXISTS').waitFor()
  await refusal.getByRole('link', { name: 'Task assets' }).click()
  await page.waitForURL(new RegExp(`/tree/${id}`))
  expect(complaints).toEqual([])
})

test('a large text that was just changed is sent as it is, though it is judged only after a pause in typing', async () => {
  await using visited = await visit(here.browser, here.server, '/create/task')
  const { page, complaints } = visited
  const jobs = 'jobs:\n  - name: only\n    gadget: none\n'
  await write(page, `kind: Task\nname: before\n${jobs}${`# ${'x'.repeat(98)}\n`.repeat(600)}`, 'Jobs')
  await until(() => button(page).isEnabled(), { what: 'it is judged' })
  await page.getByLabel('Name', { exact: true }).fill('afterwards')
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  expect(await namesOf('TASK')).toContain('afterwards')
  expect(complaints).toEqual([])
})

test('a cloudlet, a cluster on it, and an app in that', async () => {
  await using visited = await visit(here.browser, here.server, '/create/cluster')
  const { page, complaints } = visited
  await page.getByText('No cloudlet is READY').waitFor()
  await page.getByRole('link', { name: 'create one' }).click()
  await page.getByRole('button', { name: 'A site' }).click()
  await page.getByLabel('Name').fill('north/2')
  await button(page).click()
  await page.getByText('must start with a letter').waitFor()
  expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Name').fill('north')
  await button(page).click()
  await page.waitForURL(/\/tree\//)
  const cloudletId = rootInAddress(page)

  const done = async () => undefined
  const stop = new AbortController()
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, {
    name: 'crm',
    role: 'AGENT',
    actor: 'CRM',
    types: ['crm'],
    targets: ['north'],
  })
  const { createClient } = await import('../../src/client/index.ts')
  await using client = createClient({ url: here.server.url, token: secret })
  const running = runCrm({
    ...{ client, cloudletId, instance: 'test', version: '1', signal: stop.signal },
    driver: { list: async () => [], create: done, update: done, delete: done },
  })
  await inPhase(page, 'north', 'READY').waitFor()

  for (const [what, example, name] of [
    ['cluster', 'A small cluster', 'c1'],
    ['app', 'A web app', 'web'],
  ] as const) {
    await page.goto(`${here.server.origin}/create/${what}`)
    await page.getByRole('button', { name: example }).click()
    await expect.poll(() => editor(page, 'Spec').textContent()).toMatch(/nodes: 3|image: web/)
    await write(page, '- a list\n', 'Spec')
    await problems(page).getByText('must be an object').waitFor()
    await page.getByRole('button', { name: example }).click()
    await button(page).dblclick()
    await page.waitForURL(/\/tree\/.*object=/)
    await inPhase(page, name, 'READY').waitFor()
  }
  await page.goto(`${here.server.origin}/create/cluster?on=${cloudletId}&example=small`)
  await button(page).click()
  await page.getByRole('alert').getByRole('link', { name: 'Cluster c1' }).waitFor()
  expect(complaints).toEqual([])
  stop.abort()
  await running
})

test('who may only read is told so', async () => {
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, { name: 'eve', role: 'READER' })
  await using visited = await visit(here.browser, { ...here.server, token: secret }, '/create/event?example=push')
  const { page } = visited
  await page.getByText('eve has the role READER and may not create anything.').first().waitFor()
  expect(await button(page).isDisabled()).toBe(true)
  await page.goto(`${here.server.origin}/create/else`)
  await page.getByText('There is no form else.').waitFor()
})
