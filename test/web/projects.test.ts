import { expect, test } from 'vitest'
import { conditionsOf, limitOf } from '../../web-playground/src/model/project.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { kubeconfig } from '../testkit/kubeconfig.ts'
import { create, remove } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { inPhase, visit } from './visit.ts'

const here = usePlace()

test('a project is made, limited and deleted; one with objects is kept, and says why', async () => {
  await using visited = await visit(here.browser, here.server, '/projects')
  const { page, complaints } = visited
  await page.getByLabel('New project').fill('a/b')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText(/INVALID_INPUT: input\.name/).waitFor()
  await page.getByLabel('New project').fill('paint-shop')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'paint-shop', level: 2 }).waitFor()
  await page.getByText('It has no worker template').waitFor()
  expect(page.url()).toContain('name=paint-shop')

  const save = page.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled()).toBe(true)
  await page.getByLabel('Workers at a time').fill('two')
  expect(await save.isDisabled()).toBe(true)
  await page.getByLabel('Workers at a time').fill('2')
  await page.getByLabel('When there are more').selectOption('LATEST_ONLY')
  await save.click()
  await page.getByText('The limits are saved.').waitFor()
  const { project } = await here.server.client.query(
    gql('{ project(name: "paint-shop") { limits { maxWorkers maxJobs strategy } } }'),
  )
  expect(project).toEqual({ limits: { maxWorkers: 2, maxJobs: null, strategy: 'LATEST_ONLY' } })

  const input = { project: 'paint-shop', name: 'wall', spec: {} }
  const { id } = await ask(here.server.client, MUTATIONS.createInstallation, input)
  await page.getByRole('link', { name: '1 object' }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText(/^IN_USE: /).waitFor()
  await remove(here.server.client, id)
  await page.getByRole('link', { name: '0 objects' }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('navigation', { name: 'Projects' }).getByText('paint-shop').waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'default', level: 2 }).waitFor()
  expect(complaints).toEqual([])
})

test('a secret is written, replaced and deleted, and its value is nowhere', async () => {
  const value = 'marker-5f2c-never-seen'
  await ask(here.server.client, MUTATIONS.createProject, { name: 'sealed' })
  await using visited = await visit(here.browser, here.server, '/projects?name=sealed')
  const { page } = visited
  const answers: string[] = []
  page.on('response', (response) => {
    void response.text().then(
      (text) => answers.push(text),
      () => undefined,
    )
  })
  const secrets = page.getByRole('region', { name: 'Secrets' })
  await secrets.getByText('There are none.').waitFor()
  await secrets.getByLabel('Name').fill('NPM_TOKEN')
  await secrets.getByLabel('Value').fill(value)
  await secrets.getByRole('button', { name: 'Write' }).click()
  await secrets.getByText('NPM_TOKEN is written.').waitFor()
  await secrets.getByRole('button', { name: 'Delete NPM_TOKEN' }).waitFor()
  expect(await secrets.getByLabel('Value').inputValue()).toBe('')
  await secrets.getByLabel('Name').fill('NPM_TOKEN')
  await secrets.getByLabel('Value').fill(`${value}-2`)
  await secrets.getByRole('button', { name: 'Replace' }).click()
  await secrets.getByText('NPM_TOKEN is replaced.').waitFor()
  const kept = await page.evaluate(
    '[document.documentElement.outerHTML, location.href, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join()',
  )
  expect(kept).not.toContain(value)
  expect(answers.length).toBeGreaterThan(0)
  expect(answers.join()).not.toContain(value)

  await secrets.getByRole('button', { name: 'Delete NPM_TOKEN' }).click()
  await page.getByRole('dialog').getByText('events from now on do without it').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await secrets.getByText('There are none.').waitFor()
})

test('what a project listens to, runs and hands on is told; data is set and deleted', async () => {
  await ask(here.server.client, MUTATIONS.createProject, {
    name: 'builds',
    promotesTo: 'default',
    subscriptions: [
      { source: 'github/shop', types: ['push', 'tag'], qualifiers: [{ key: 'env', value: 'prod' }] },
      { source: 'cron', types: ['*'], task: { jobs: [{ name: 'sweep', gadget: 'touch-file' }] } },
    ],
    workerTemplate: { command: ['node', 'build.mjs'] },
  })
  await using visited = await visit(here.browser, here.server, '/projects')
  const { page, complaints } = visited
  await page.getByRole('navigation', { name: 'Projects' }).getByRole('link', { name: 'builds' }).click()
  const runs = page.getByRole('region', { name: 'Events and worker' })
  await runs.getByText('github/shop of type push or tag, with env=prod').waitFor()
  await runs.locator('li', { hasText: 'cron of any type' }).getByText('makes a task').waitFor()
  await runs.getByText('Its worker runs node build.mjs').waitFor()
  expect(await page.getByText(/^promotes to/).innerText()).toBe('promotes to default')

  const data = page.getByRole('region', { name: 'Data' })
  await data.getByLabel('Name').fill('region')
  await data.getByLabel('Value, as JSON').fill('eu')
  await data.getByText('Text needs quotes').waitFor()
  expect(await data.getByRole('button', { name: 'Set' }).isDisabled()).toBe(true)
  await data.getByLabel('Value, as JSON').fill('{"name": "eu"}')
  await data.getByRole('button', { name: 'Set' }).click()
  await data.locator('li', { hasText: 'region' }).getByText('set by a user').waitFor()
  await data.getByRole('button', { name: 'Delete region' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await data.getByText('There is none.').waitFor()
  expect(complaints).toEqual([])
})

test('a reader sees projects, and nothing to change them with', async () => {
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, { name: 'look', role: 'READER' })
  await using visited = await visit(here.browser, { ...here.server, token: secret }, '/projects?name=default')
  const { page } = visited
  await page.getByRole('heading', { name: 'default', level: 2 }).waitFor()
  await page.getByRole('region', { name: 'Secrets' }).waitFor()
  for (const name of ['Create', 'Delete', 'Write', 'Save', 'Set']) {
    expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
  }
  await page.goto(`${here.server.origin}/projects?name=nowhere`)
  await page.getByText('There is no project nowhere').waitFor()
})

test("an event's page says what happened; a reader sees no button, and why there is none", async () => {
  const { client } = here.server
  await ask(client, MUTATIONS.createProject, {
    name: 'hooks',
    workerTemplate: { runtime: 'nobodys', command: ['true'] },
  })
  const { events } = await ask(client, MUTATIONS.createEvent, {
    project: 'hooks',
    source: 'example.org/shop',
    type: 'paid',
    payload: '{"order":42}',
  })
  const event = events[0]?.id ?? ''
  await using visited = await visit(here.browser, here.server, `/tree/${event}`)
  const { page, complaints } = visited
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel.getByText('example.org/shop').waitFor()
  await panel.getByText('paid', { exact: true }).waitFor()
  await panel.getByText('"order": 42').waitFor()
  await panel.getByRole('button', { name: 'Cancel', exact: true }).waitFor()
  const { secret } = await ask(client, MUTATIONS.createToken, { name: 'watch', role: 'READER' })
  await using read = await visit(here.browser, { ...here.server, token: secret }, `/tree/${event}`)
  const theirs = read.page.getByRole('complementary', { name: 'The selected object' })
  await theirs
    .getByText('Cancel, Pause, Resume, Retry, Run again as new, Delete: It takes the role EDITOR in the project.')
    .waitFor()
  expect(await theirs.locator('.actions').count()).toBe(0)
  expect([...complaints, ...read.complaints]).toEqual([])
})

const STARTED = gql(`query ($id: ID!) {
  phaseChanges(filter: { rootId: $id, kinds: [DEPLOY_ITEM], to: [INIT] }, first: 50) { edges { node { name } } }
}`)

test('a nested installation has the buttons of its kind, and says where to ask for them', async () => {
  const spec = { installations: [{ name: 'inner', spec: {} }] }
  const id = await create(here.server.client, 'outer', spec)
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page } = visited
  await page.locator('.node-main', { hasText: 'inner' }).click()
  const panel = page.getByRole('complementary', { name: 'The selected object' })
  await panel
    .getByText('Reconcile, Retry what failed, Cancel, Pause, Resume, Delete: Ask for it on the root of the tree')
    .waitFor()
  expect(await panel.getByRole('button', { name: 'Reconcile' }).isDisabled()).toBe(true)
})

test('what failed is retried by one button, and nothing else runs again', async () => {
  const item = (name: string, config: object) => ({ name, type: 'mock', config })
  const deployItems = [item('good', {}), item('bad', { fail: true })]
  const id = await create(here.server.client, 'half', { deployItems })
  await using visited = await visit(here.browser, here.server, `/tree/${id}`)
  const { page } = visited
  await inPhase(page, 'half', 'FAILED').waitFor()
  await page.getByRole('button', { name: 'Retry what failed' }).first().click()
  const started = async () => {
    const { phaseChanges } = await here.server.client.query(STARTED, { id })
    return phaseChanges?.edges.map(({ node }) => node.name).toSorted()
  }
  await expect.poll(started).toEqual(['bad', 'bad', 'good'])
  await inPhase(page, 'half', 'FAILED').waitFor()
  expect(await started()).toEqual(['bad', 'bad', 'good'])
})

test('how it is written', () => {
  const pair = { key: 'a', value: 'b' }
  expect(conditionsOf({ source: 's', types: ['*'], labels: [pair], qualifiers: [], task: null })).toBe(
    'of any type, with a=b',
  )
  expect(['', ' 3 ', '0', '-1', 'x'].map(limitOf)).toEqual([null, 3, 0, undefined, undefined])
})

test('targets are set with a file, say who serves and uses them, and are deleted; credentials are nowhere', async () => {
  const value = 'marker-91aa-never-seen'
  const { client } = here.server
  await ask(client, MUTATIONS.createProject, { name: 'clusters' })
  await ask(client, MUTATIONS.setTarget, {
    ...{ project: 'clusters', name: 'us', type: 'kubernetes', description: 'New York' },
    labels: [{ key: 'region', value: 'us' }],
  })
  const spec = { deployItems: [{ name: 'web', type: 'nobody', target: 'us' }] }
  await ask(client, MUTATIONS.createInstallation, { project: 'clusters', name: 'shop', spec })
  for (const look of [{}, { dark: true, width: 390 }]) {
    await using visited = await visit(here.browser, here.server, '/projects?name=clusters', look)
    const { page, complaints } = visited
    const targets = page.getByRole('region', { name: 'Targets' })
    await targets.getByText('No connected deployer serves it.').waitFor()
    await targets.getByRole('link', { name: 'shop' }).waitFor()
    await targets.getByText('(1 item)').waitFor()
    if (process.env.SHOTS) await targets.screenshot({ path: `${process.env.SHOTS}/targets-${look.width ?? 1280}.png` })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
  }
  await using visited = await visit(here.browser, here.server, '/projects?name=clusters')
  const { page } = visited
  const targets = page.getByRole('region', { name: 'Targets' })
  await targets.getByLabel('Name').fill('eu')
  await targets.getByLabel('Labels').fill('region')
  await targets.getByText('Write labels as key=value').waitFor()
  await targets.getByLabel('Labels').fill('region=eu, tier=prod')
  const upload = (text: string) =>
    targets
      .getByLabel(/^Credentials/)
      .setInputFiles({ name: 'config', mimeType: 'text/plain', buffer: Buffer.from(text) })
  await upload(`{ "users": "${value}" }`)
  await targets.getByRole('button', { name: 'Set target' }).click()
  await targets.getByText(/INVALID_INPUT: input\.credentials: must be a kubeconfig/).waitFor()
  await upload(kubeconfig({ token: value }))
  await targets.getByRole('button', { name: 'Set target' }).click()
  await targets.getByText('eu is created.').waitFor()
  await targets.locator('li', { hasText: 'tier=prod' }).getByText('credentials sealed').waitFor()
  const kept = await page.evaluate(
    '[document.documentElement.outerHTML, location.href, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join()',
  )
  expect(kept).not.toContain(value)
  const remove = async (name: string) => {
    await targets.getByRole('button', { name: `Delete ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  }
  await remove('us')
  await targets.getByText(/^IN_USE: /).waitFor()
  await remove('eu')
  await targets.locator('li', { hasText: 'tier=prod' }).waitFor({ state: 'detached' })
})
