import { Registry } from 'prom-client'
import { createMetrics, type Measured } from '../src/server/operators/metrics.ts'
import { writeTable } from './write-table.ts'

/** Writes the table of metrics in docs/operations.md. With `--check`: writes nothing, and fails when the table is stale. */

const registry = new Registry()
// Values are only collected on a scrape, and nobody scrapes here.
createMetrics({ work: { engine: {} }, reads: {}, gateway: { fanOut: {} }, clock: {} } as object as Measured, registry)
const rows = registry
  .getMetricsAsArray()
  .map((metric) => metric as object as Described)
  .filter(({ name }) => name.startsWith('phaseline_'))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  .map(({ name, labelNames, type, help }) => {
    const labels = labelNames.length > 0 ? `{${labelNames.join(', ')}}` : ''
    return `| \`${name}${labels}\` | ${type} | ${help} |`
  })
interface Described {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labelNames: readonly string[]
}
writeTable('docs/operations.md', {
  name: 'metrics',
  from: 'src/server/operators/metrics.ts',
  lines: ['| metric | type | what |', '|---|---|---|', ...rows],
})
