import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type NavPage, pageAt, SECTIONS, sectionsOf } from '../../web-playground/src/model/navigation.ts'

const page = (section: NavPage['section'], label: string, path: NavPage['path'], more: Partial<NavPage> = {}) => ({
  ...{ section, label, path, docs: 'dashboard' },
  ...more,
})
const PAGES: readonly NavPage[] = [
  page('Overview', 'Overview', '/'),
  page('Fleet', 'Agents', '/agents'),
  page('Trees', 'Roots', '/objects', { query: 'roots=yes' }),
  page('Trees', 'Objects', '/objects'),
  page('Trees', 'Tree', '/tree', { isUnlisted: true }),
  page('Activity', 'Log', '/log'),
  page('Activity', 'Output', '/log/output'),
]

test.each([
  ['/', '', 'Overview'],
  ['/objects', '', 'Objects'],
  ['/objects', 'kind=TASK', 'Objects'],
  ['/objects', 'kind=TASK&roots=yes&project=a', 'Roots'],
  ['/objects', 'roots=no', 'Objects'],
  ['/tree/1', 'object=2', 'Tree'],
  ['/log', 'project=a', 'Log'],
  ['/log/output', '', 'Output'],
  ['/agentsless', '', undefined],
])('at %s?%s the menu marks %s', (path, search, label) => expect(pageAt(PAGES, path, search)?.label).toBe(label))

test('sections are in their order with the pages that menus lead to, and none is empty', () => {
  expect(sectionsOf(PAGES).map(({ name, pages }) => [name, ...pages.map(({ label }) => label)])).toEqual([
    ['Overview', 'Overview'],
    ['Trees', 'Roots', 'Objects'],
    ['Activity', 'Log', 'Output'],
    ['Fleet', 'Agents'],
  ])
})

test('each page names a section, and a page of the documentation that there is', () => {
  const root = join(import.meta.dirname, '../..')
  const sources = [
    'web-playground/src/ui/menu.ts',
    ...globSync('web-playground/src/families/*/index.ts', { cwd: root }),
  ]
  const text = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const all = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))]
  expect(all(/section: '(\w+)'/g).toSorted()).toEqual(SECTIONS.toSorted())
  const documents = all(/docs: '([^']+)'/g)
  expect(documents).toContain('schedules')
  expect(documents.filter((name) => !existsSync(join(root, `docs/${name}.md`)))).toEqual([])
})
