import { LAYERS } from '../test/layers.ts'
import { writeTable } from './write-table.ts'

/** Writes the table of imports in ARCHITECTURE.md. With `--check`: writes nothing, and fails when the table is stale. */

const rows = Object.entries(LAYERS).map(
  ([name, { files, mayImport }]) => `| ${name} | ${files} | ${mayImport.join(', ') || 'nothing'} |`,
)
writeTable('ARCHITECTURE.md', {
  name: 'layers',
  from: 'test/layers.ts',
  lines: ['| layer | files in `src/` | may import, besides itself |', '|---|---|---|', ...rows],
})
