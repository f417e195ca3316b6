import { readFileSync, writeFileSync } from 'node:fs'
import { LAYERS } from '../test/layers.ts'

/** Writes the table of imports in ARCHITECTURE.md. With `--check`: writes nothing, and fails when the table is stale. */

const FILE = new URL('../ARCHITECTURE.md', import.meta.url)
const BEGIN = '<!-- layers: written by npm run generate from test/layers.ts -->'
const END = '<!-- end of layers -->'

const rows = Object.entries(LAYERS).map(
  ([name, { files, mayImport }]) => `| ${name} | ${files} | ${mayImport.join(', ') || 'nothing'} |`,
)
const table = ['| layer | files in `src/` | may import, besides itself |', '|---|---|---|', ...rows].join('\n')

const page = readFileSync(FILE, 'utf8')
const [before, rest] = page.split(BEGIN)
const after = rest?.split(END)[1]
if (before === undefined || after === undefined)
  throw new Error(`ARCHITECTURE.md has lost its markers ${BEGIN} … ${END}`)
const written = `${before}${BEGIN}\n${table}\n${END}${after}`

if (!process.argv.includes('--check')) writeFileSync(FILE, written)
else if (page !== written) {
  process.stderr.write('The table of layers in ARCHITECTURE.md is stale: run npm run generate.\n')
  process.exitCode = 1
}
