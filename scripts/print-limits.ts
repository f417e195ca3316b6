import { amountOf, LIMITS, type Limit } from '../src/core/limits.ts'
import { writeTable } from './write-table.ts'

/** Writes the table of bounds in docs/limits.md. With `--check`: writes nothing, and fails when the table is stale. */

const boundOf = ({ of, isCut, ...limit }: Limit): string =>
  [amountOf(limit), of && `each of at most ${amountOf(of)}`, isCut && 'the rest is cut off'].filter(Boolean).join(', ')

const rows = Object.values<Limit>(LIMITS).map((limit) => `| ${limit.what} | ${boundOf(limit)} |`)
writeTable('docs/limits.md', {
  name: 'limits',
  from: 'src/core/limits.ts',
  lines: ['| what | at most |', '|---|---|', ...rows],
})
