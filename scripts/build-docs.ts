import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/**
 * Builds the site of the documentation into `docs-dist/`, as the server reads it: compressed files, and `site.json`, which has
 * each file's scripts by their hashes. With `--if-old`: only when something that it is made of is newer.
 */

const ROOT = join(import.meta.dirname, '..')
const SITE = join(ROOT, 'docs-dist')
const INDEX = join(SITE, 'site.json')
const PROGRAM = join(ROOT, 'src/cli/main.ts')
const SOURCES = [
  'docs/**',
  'docs/.vitepress/**',
  'schema.graphql',
  'src/cli/**',
  'src/manifest/**',
  'scripts/*reference.ts',
  'scripts/build-docs.ts',
]
/** Compressed already. */
const PACKED = /\.(png|woff2)$/

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function isOld(): boolean {
  const builtAt = changedAt(INDEX)
  return globSync(SOURCES, { cwd: ROOT }).some((path) => changedAt(join(ROOT, path)) > builtAt)
}

/** As a Content-Security-Policy names them. */
const scriptsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `sha256-${createHash('sha256').update(text).digest('base64')}`,
  )

/** Titles by path, as the dashboard finds them. Records of decisions are for those who change the code. */
function writeTitles(): void {
  const pages = globSync('**/*.html', { cwd: SITE, exclude: ['adr/**', '404.html', 'index.html'] }).toSorted()
  const titled = pages.flatMap((path) => {
    const title = /<title>(.*) \| Phaseline<\/title>/.exec(readFileSync(join(SITE, path), 'utf8'))?.[1]
    return title === undefined ? [] : [{ title: title.replaceAll('&amp;', '&'), path: path.replace(/\.html$/, '') }]
  })
  writeFileSync(join(SITE, 'pages.json'), JSON.stringify(titled))
}

function pack(): void {
  const site: Record<string, readonly string[]> = {}
  for (const path of globSync('**', { cwd: SITE }).toSorted()) {
    const file = join(SITE, path)
    if (!statSync(file).isFile()) continue
    const bytes = readFileSync(file)
    site[path] = path.endsWith('.html') ? scriptsOf(bytes.toString()) : []
    if (PACKED.test(path)) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    rmSync(file)
  }
  writeFileSync(INDEX, JSON.stringify(site))
}

if (!process.argv.includes('--if-old') || isOld()) {
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/vitepress'), ['build', 'docs'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status === 0) {
    writeFileSync(join(SITE, 'manifest.schema.json'), execFileSync(process.execPath, [PROGRAM, 'explain', '--json']))
    writeTitles()
    pack()
  }
  process.exitCode = status ?? 1
}
