import { readFileSync, writeFileSync } from 'node:fs'
import { printSchema } from 'graphql'
import { families } from '../src/families/index.ts'
import { loadFamilies } from '../src/families/load-families.ts'
import { buildSchema } from '../src/graphql/schema.ts'

/** Writes schema.graphql. With `--check`: writes nothing, and fails when the file is stale. */

const FILE = new URL('../schema.graphql', import.meta.url)
const loaded = await loadFamilies(families)
const schema = buildSchema(loaded.map(({ graphql }) => graphql))
const printed = `${printSchema(schema)}\n`

if (!process.argv.includes('--check')) writeFileSync(FILE, printed)
else if (readFileSync(FILE, 'utf8') !== printed) {
  process.stderr.write('schema.graphql is stale: run npm run generate, and look at the difference.\n')
  process.exitCode = 1
}
