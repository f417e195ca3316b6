import type { Workload } from '../harness.ts'
import { measure } from '../paired/idle.ts'
import { measureAlone } from './own-figures.ts'

export const workload: Workload = {
  name: 'idle',
  run: (context) => measureAlone(measure, context, { title: 'idle: servers that nobody asks anything', prose: PROSE }),
}

const PROSE = `
A server with all roles, one that is a gateway, and one that is an engine, both with Redis, each on an empty database of its own, for two minutes
after a minute of rest. Statements are those that Postgres has counted (\`pg_stat_statements\`), in transactions or out of them, with the verb and
the table of what they write, or else read first.
`
