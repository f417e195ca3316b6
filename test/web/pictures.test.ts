import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { type PicturedWorld, picturedWorld } from './pictured-world.ts'
import { visit } from './visit.ts'

/** The pictures of the documentation: `npm run pictures` takes them again; `PICTURES=places,log` takes those alone. */

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/images')
const LOOKS = ['light', 'dark'] as const

/** Each picture, its path, and a text that is visible once the page is complete. */
const PICTURES: readonly (readonly [name: string, path: (world: PicturedWorld) => string, shows: string])[] = [
  ['overview', () => '/', 'Runs now'],
  ['objects', () => '/objects', 'osaka'],
  ['tree', ({ shop }) => `/tree/${shop}`, 'smoke-test'],
  ['timeline', ({ shop }) => `/tree/${shop}?view=timeline`, 'smoke-test'],
  ['log', () => '/log', 'changes shown'],
  ['output', () => '/log/output', 'lines shown'],
  ['audit', () => '/audit', 'Chained up to event'],
  ['machines', () => '/machines?machine=deployItem', 'What happens'],
  ['locks', () => '/locks', 'host:web-1'],
  ['limits', () => '/limits', 'geocoder'],
  ['agents', () => '/agents', 'terraform'],
  ['places', () => '/places', 'new disks'],
  ['edge', () => '/edge', 'berlin'],
  ['schedules', () => '/schedules', 'weekly-report'],
  ['hooks', () => '/hooks', 'GITHUB'],
  ['rules', () => '/rules', 'failures'],
  ['tokens', () => '/tokens', 'Revoke'],
  ['projects', () => '/projects?name=builds', 'NPM_TOKEN'],
  ['create', () => '/create/installation?example=nested', 'to create.'],
  ['explore', () => '/explore', 'Examples'],
]

test.runIf(process.env.PICTURES)('each page is pictured', { timeout: 300_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  const state = await mkdtemp(join(tmpdir(), 'phaseline-pictures-'))
  // The shop's services end when it goes.
  stack.defer(() => rm(state, { recursive: true, force: true }))
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  await using world = await picturedWorld(server, state)
  const browser = await openBrowser()
  await mkdir(FOLDER, { recursive: true })
  const named = process.env.PICTURES?.split(',') ?? []
  for (const [name, path, text] of PICTURES.filter(([one]) => named.includes('yes') || named.includes(one))) {
    for (const look of LOOKS) {
      await using visited = await visit(browser, server, path(world), { dark: look === 'dark' })
      const { page, complaints } = visited
      await page.locator('[data-connection=live]').waitFor()
      await page.getByText(text).first().waitFor()
      await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined)
      await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) })
      expect([name, complaints]).toEqual([name, []])
    }
  }
})

test('every page has its pictures, light and dark, and the documentation shows them', async () => {
  const shown = await readFile(join(ROOT, 'docs/dashboard.md'), 'utf8')
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const all = PICTURES.flatMap(([name]) => LOOKS.map((look) => `images/${name}-${look}.png`))
  expect(all.filter((path) => !existsSync(join(ROOT, 'docs', path)))).toEqual([])
  expect(all.filter((path) => !shown.includes(path) && !readme.includes(`docs/${path}`))).toEqual([])
  // No page is forgotten.
  const shell = await readFile(join(ROOT, 'web-playground/src/ui/shell.tsx'), 'utf8')
  const ofFamilies = globSync('web-playground/src/families/*/index.ts', { cwd: ROOT }).map((file) =>
    readFile(join(ROOT, file), 'utf8'),
  )
  const paths = [shell, ...(await Promise.all(ofFamilies))].flatMap((text) => [
    ...text.matchAll(/path(?:=|: )['"]\/(\w*)/g),
  ])
  const pages = paths.map(([, path]) => path || 'overview')
  expect(pages).toEqual(expect.arrayContaining(['overview', 'edge']))
  expect(pages.filter((page) => !PICTURES.some(([name]) => name === page))).toEqual([])
})
