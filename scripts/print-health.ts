import { HEALTH_CAUSES } from '../src/core/health-causes.ts'
import { writeTable } from './write-table.ts'

/** Writes the table of causes in docs/health.md. With `--check`: writes nothing, and fails when the table is stale. */

const rows = Object.entries(HEALTH_CAUSES).map(
  ([name, { severity, meaning, action }]) => `| \`${name}\` | ${severity} | ${meaning} | ${action} |`,
)
writeTable('docs/health.md', {
  name: 'causes',
  from: 'src/core/health-causes.ts',
  lines: ['| cause | severity | it means | next |', '|---|---|---|---|', ...rows],
})
