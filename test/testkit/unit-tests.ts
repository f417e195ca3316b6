import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const TESTS = join(import.meta.dirname, '..')
/** Signs in a file's text that it starts a process, a server or a browser, or uses one of the global setup. */
const STARTS = /\binject\(|\bspawn|\bexecFile|\bfork\(|\bchromium\b|\bstart(Server|TestApp)\b/
const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm

/** Files of tests that need nothing but their own process, neither they nor what of `test/` they import. */
export function unitTests(): readonly string[] {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const texts = new Map(files.map((file) => [file, readFileSync(join(TESTS, file), 'utf8')]))
  const starts = new Set([...texts].filter(([, text]) => STARTS.test(text)).map(([file]) => file))
  const importsOf = (file: string) =>
    [...(texts.get(file)?.matchAll(IMPORT) ?? [])].map(([, to = '']) => relative(TESTS, join(TESTS, dirname(file), to)))
  const importers = Map.groupBy(
    files.flatMap((file) => importsOf(file).map((to) => ({ file, to }))),
    ({ to }) => to,
  )
  for (const file of starts) for (const importer of importers.get(file) ?? []) starts.add(importer.file)
  return files.filter((file) => file.endsWith('.test.ts') && !starts.has(file)).map((file) => `test/${file}`)
}
