import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Writes a table between its markers in a page of the documentation. With `--check`: writes nothing, and fails when the table
 * is stale.
 */
export function writeTable(
  page: string,
  { name, from, lines }: { name: string; from: string; lines: readonly string[] },
) {
  const begin = `<!-- ${name}: written by npm run generate from ${from} -->`
  const end = `<!-- end of ${name} -->`
  const file = new URL(`../${page}`, import.meta.url)
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${page} has lost its markers ${begin} … ${end}`)
  const written = `${before}${begin}\n${lines.join('\n')}\n${end}${after}`
  if (!process.argv.includes('--check')) writeFileSync(file, written)
  else if (text !== written) {
    process.stderr.write(`The table of ${name} in ${page} is stale: run npm run generate.\n`)
    process.exitCode = 1
  }
}
