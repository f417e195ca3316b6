import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit, widerBy } from './visit.ts'

const here = usePlace()

test('objects, pages and forms are found by keyboard alone, from any page', async () => {
  const id = await create(here.server.client, 'needle', items(2))
  await until(async () => (await show(here.server.client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/log')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const options = page.getByRole('dialog').getByRole('option')

  await page.keyboard.press('Control+k')
  await options.first().waitFor()
  await page.keyboard.type('need')
  await page.getByRole('option', { name: /needle.*SUCCEEDED/ }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/tree/${id}`)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('create')
  await page.getByRole('option', { name: /Create task/ }).waitFor()
  await expect.poll(() => options.count()).toBeGreaterThan(3)
  // The last one, around the beginning.
  await page.keyboard.press('ArrowUp')
  expect(await options.last().getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Find' }).click()
  await page.keyboard.type('no such thing')
  await page.getByText('Nothing matches.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('what is typed before the palette is loaded stays, and is continued', async () => {
  await using visited = await visit(here.browser, here.server, '/log')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  const loading = Promise.withResolvers<void>()
  await page.route(/\/palette-[^/]*\.js/, async (route) => {
    await loading.promise
    await route.continue()
  })
  const field = page.getByRole('dialog').getByRole('combobox')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('creat')
  expect(await field.inputValue()).toBe('creat')
  expect(await page.getByRole('listbox', { name: 'Found' }).count()).toBe(0)
  loading.resolve()
  await page.getByRole('option', { name: /Create task/ }).waitFor()
  await page.keyboard.type('e ta')
  expect(await field.inputValue()).toBe('create ta')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/create\/task/)
  expect(complaints).toEqual([])
})

test('an object is found by its path, its id and its label', async () => {
  const { client } = here.server
  const labels = [{ key: 'app', value: 'hay' }]
  const spec = { installations: [{ name: 'bale', spec: items(1) }] }
  const { id } = await ask(client, MUTATIONS.createInstallation, { name: 'haystack', labels, spec })
  await until(async () => (await show(client, id))?.finished, { what: 'it has ended' })
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('dialog').getByRole('combobox')
  const option = (name: string | RegExp) => page.getByRole('option', { name })
  for (const path of ['haystack/bale', 'default/haystack/bale', 'STACK/bale/']) {
    await field.fill(path)
    await option(/^haystack\/bale Installation in default/).waitFor()
  }
  await field.fill(id)
  await option(/^haystack Installation in default/).waitFor()
  await field.fill('app=hay')
  await option(/^haystack Installation in default/).waitFor()
  await option('Objects with app=hay List').click()
  await page.waitForURL(/\/objects\?label=app=hay$/)
  await page.locator('[data-object]', { hasText: 'haystack' }).waitFor()
  expect(complaints).toEqual([])
})

test('a verb and a name lead to the question, and nothing is done before the answer', async () => {
  const { client } = here.server
  const id = await create(client, 'doomed', items(1, { hang: true }))
  const phase = async () => (await show(client, id))?.phase
  await until(async () => (await phase()) === 'PROGRESSING', { what: 'it runs' })
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('cancel doom')
  await page.getByRole('option', { name: /^Cancel doomed…/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/tree/${id}?verb=cancel`)
  const question = page.getByRole('dialog', { name: 'Cancel doomed?' })
  await question.waitFor()
  expect(await seriousFindings(page)).toEqual([])
  // Another Enter confirms nothing.
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/tree/${id}`)
  await question.waitFor({ state: 'detached' })
  expect(await phase()).toBe('PROGRESSING')
  await page.goto(`${here.server.origin}/tree/${id}?verb=cancel`)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await until(async () => (await phase()) === 'ABORTED', { what: 'it is cancelled' })
  // A link may come too late.
  await page.goto(`${here.server.origin}/tree/${id}?verb=cancel`)
  await page.getByText(/^Not possible now: cancel\./).waitFor()
  expect(complaints).toEqual([])
})

test('pages of the documentation are found by their titles', async () => {
  await using visited = await visit(here.browser, here.server, '/agents')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('glossary')
  await page.getByRole('option', { name: 'Glossary Documentation' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${here.server.origin}/docs/glossary`)
  expect(complaints).toEqual([])
})

test('on a narrow screen it is used by pointer', async () => {
  await using visited = await visit(here.browser, here.server, '/', { width: 390, dark: true })
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('dialog').getByRole('combobox').fill('documentation')
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('option', { name: 'Documentation Site' }).click()
  await page.waitForURL(`${here.server.origin}/docs/`)
  expect(complaints).toEqual([])
})
