import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { items } from '../testkit/mutations.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, visit } from './visit.ts'

/** The project that somebody has chosen is in the address of each page. */

const here = usePlace()

test('the chosen project is in each address, for new tabs, those who get a link, and the way back', async () => {
  const { client } = here.server
  await ask(client, MUTATIONS.createProject, { name: 'depot' })
  await ask(client, MUTATIONS.createInstallation, { project: 'depot', name: 'in-depot', spec: items(1) })
  await ask(client, MUTATIONS.createInstallation, { name: 'elsewhere', spec: items(1) })
  await using visited = await visit(here.browser, here.server, '/objects?kind=INSTALLATION')
  const { page, complaints } = visited
  const scope = (of: Page) => of.getByRole('combobox', { name: 'Scope' })
  const row = (of: Page, name: string) => of.getByRole('row', { name: new RegExp(name) }).first()
  const isAt = (of: Page, path: string): Promise<void> => of.waitForURL(`${here.server.origin}${path}`)
  await row(page, 'elsewhere').waitFor()
  await scope(page).selectOption('depot')
  await isAt(page, '/objects?kind=INSTALLATION&project=depot')
  await row(page, 'elsewhere').waitFor({ state: 'detached' })

  const menu = page.getByRole('navigation', { name: 'Pages' })
  await goTo(page, 'Fleet', 'Agents')
  await isAt(page, '/agents?project=depot')
  expect(await menu.getByRole('link', { name: 'Settings' }).getAttribute('href')).toBe('/projects?project=depot')
  await goTo(page, 'Activity', 'Log')
  await isAt(page, '/log?project=depot')
  // A filter of the page leaves it alone.
  await page.getByLabel('Kind').selectOption('INSTALLATION')
  await isAt(page, '/log?project=depot&kind=INSTALLATION')

  // An address without it means the last one; all projects have one, too.
  const other = await page.context().newPage()
  await other.goto(`${here.server.origin}/objects`)
  await isAt(other, '/objects?project=depot&roots=yes')
  await row(other, 'in-depot').waitFor()
  await scope(other).selectOption('')
  await isAt(other, '/objects?roots=yes&project=*')
  await row(other, 'elsewhere').waitFor()
  await other.goBack()
  await row(other, 'elsewhere').waitFor({ state: 'detached' })

  // Back to what was shown before one was chosen.
  while (!page.url().includes('/objects')) await page.goBack()
  await isAt(page, '/objects?kind=INSTALLATION&project=depot')
  await page.goBack()
  await row(page, 'elsewhere').waitFor()
  expect(await scope(page).inputValue()).toBe('')
  expect(complaints).toEqual([])
})

test('an address of a project that is not there says so, and leads on', async () => {
  await using visited = await visit(here.browser, here.server, '/objects?project=nowhere')
  const { page, complaints } = visited
  await page.getByText('There is no project “nowhere”, or you may not read it.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Show all projects' }).click()
  await page.getByRole('heading', { name: 'Objects', level: 1 }).waitFor()
  expect(complaints).toEqual([])
})
