import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { DATABASE_DEADLINES } from '../src/core/database-deadlines.ts'
import { ERROR_CODE_DESCRIPTIONS } from '../src/core/descriptions.ts'
import { GATEWAY_LIMITS } from '../src/core/gateway-limits.ts'
import { FAILURE_CODES, REFUSAL_CODES } from '../src/core/vocabulary.ts'
import { ENDPOINTS } from '../src/server/endpoints/endpoints.ts'
import { REFUSALS } from '../src/server/limits/refusals.ts'
import { LANDING, TIMING } from './tiers.ts'

/** Documents name files and each other; both move. */

const ROOT = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && existsSync(join(ROOT, file)))
const documents = files.filter((file) => file.endsWith('.md'))
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const withoutCode = (text: string): string => text.replaceAll(/```[\s\S]*?```/g, '')

/** As GitHub makes them of headings. */
const anchorsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [...withoutCode(textOf(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

test('every link of a document leads to a file and a heading of it', () => {
  const broken = documents.flatMap((document) =>
    [...withoutCode(textOf(document)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^\w+:/.test(link)) return []
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : join(dirname(document), path)
      const leads = existsSync(join(ROOT, target)) && (anchor === undefined || anchorsOf(target).has(anchor))
      return leads ? [] : [`${document}: ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

test('every page begins with an example, after at most two sentences', () => {
  const generated = ['docs/benchmarks.md', 'docs/machines.md']
  const pages = documents.filter((file) => /^docs\/(?:how-to\/)?[\w-]+\.md$/.test(file) && !generated.includes(file))
  const late = pages.filter((page) => {
    const [before = '', ...rest] = textOf(page).split(/^ *(?:```|\||<picture>)/m)
    const sentences = before.replaceAll(/^#.*$/gm, '').match(/(?<=[^\d\s])[.!?](?=\s|$)|:(?=\n\n|\n$)/g) ?? []
    return rest.length === 0 || sentences.length > 2
  })
  expect(late).toEqual([])
  expect(pages.length).toBeGreaterThan(40)
})

test('no document holds double braces outside of code blocks, which the site of the documentation evaluates', () => {
  const pages = documents.filter((file) => file.startsWith('docs/'))
  expect(pages.filter((page) => withoutCode(textOf(page)).includes('{{'))).toEqual([])
})

test('every source file that a document names is there', () => {
  const missing = documents.flatMap((document) =>
    [...textOf(document).matchAll(/`([\w./-]+\.tsx?)`/g)].flatMap(([, path = '']) =>
      files.some((file) => file === path || file.endsWith(`/${path}`)) ? [] : [`${document}: ${path}`],
    ),
  )
  expect(missing).toEqual([])
})

test('the page of limits has each setting with its default, and each code and reason with its meaning', () => {
  const page = textOf('docs/limits.md')
  const rows = [
    ...Object.values(GATEWAY_LIMITS).map(({ setting, byDefault }) => `| \`${setting}\` | ${byDefault} |`),
    ...Object.entries(ERROR_CODE_DESCRIPTIONS).map(([code, meaning]) => {
      const places = { results: REFUSAL_CODES, '`errors`': FAILURE_CODES }
      const where = Object.entries(places).filter(([, codes]) => codes.some((one) => one === code))
      return `| \`${code}\` | ${where.map(([place]) => place).join(', ')} | ${meaning} |`
    }),
    ...Object.entries(REFUSALS).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`),
  ]
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})

test('the page of HTTP has each endpoint with its methods', () => {
  const rows = textOf('docs/http.md').split('\n')
  const missing = ENDPOINTS.filter(({ path, methods }) => {
    const row = rows.find((line) => line.startsWith('|') && line.includes(`\`${path}\``))
    return !Object.keys(methods).every((method) => method === 'OPTIONS' || row?.includes(method))
  })
  expect(missing.map(({ path }) => path)).toEqual([])
})

test('the page of operations has each deadline of the database with its default', () => {
  const page = textOf('docs/operations.md')
  const rows = Object.values(DATABASE_DEADLINES).map(({ setting, byDefault }) => `| \`${setting}\` | ${byDefault} |`)
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})

test.each([
  ['docs/reliability.md', '## What is promised'],
  ['docs/threats.md', '## Classes of attacks'],
])('each row of the table of %s names a test that judges each change on a real server', (file, heading) => {
  const section = textOf(file).split(heading)[1]?.split('\n## ')[0] ?? ''
  const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'))
  const isJudged = (row: string): boolean =>
    [...row.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].some(([, path = '']) => [...LANDING, ...TIMING].includes(path))
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((row) => !isJudged(row))).toEqual([])
})
