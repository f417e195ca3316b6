import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The reference is made of the schema and of the command line themselves, by the Node that runs them. */
const PRINT = join(process.cwd(), 'scripts/print-reference.ts')

export default {
  watch: ['../../schema.graphql', '../../src/cli/**'],
  paths: (): unknown =>
    JSON.parse(execFileSync(process.execPath, [PRINT], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })),
}
