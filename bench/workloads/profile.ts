import type { Workload } from '../harness.ts'
import { measure } from '../paired/profile.ts'
import { measureAlone } from './own-figures.ts'

export const workload: Workload = {
  name: 'profile',
  run: (context) =>
    measureAlone(measure, context, { title: 'profile: what a node of 20 × 200 costs, and where', prose: PROSE }),
}

const PROSE = `
Twenty trees of a root and 200 children at once, six times in each round, on a Postgres of its own that counts statements (\`pg_stat_statements\`).
All figures are for one node. Processor time is that of whole processes, user and system: unlike the time of a statement, which is that of the
wall clock, it hardly depends on who else uses the machine. WAL is that of statements, so without that of checkpoints and vacuum. A
statement has the verb and the table of what it writes, or else reads first; a line with ↳ runs inside of other statements, whose figures
include it: the check of a foreign key, or a statement of a trigger. With \`--against\` the same figures are compared with those of a commit.
`
