import { readFileSync, writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { deploymentsGraphql } from '../src/families/deployments/graphql.ts'
import { edgeGraphql } from '../src/families/edge/graphql.ts'
import { operationsGraphql } from '../src/families/operations/graphql.ts'
import { pipelinesGraphql } from '../src/families/pipelines/graphql.ts'
import { buildSchema } from '../src/graphql/schema.ts'

/** Writes schema.graphql. With `--check`: writes nothing, and fails when it is not what would be written. */

const FILE = new URL('../schema.graphql', import.meta.url)
const printed = `${printSchema(lexicographicSortSchema(buildSchema([deploymentsGraphql, pipelinesGraphql, operationsGraphql, edgeGraphql])))}\n`

if (!process.argv.includes('--check')) writeFileSync(FILE, printed)
else if (readFileSync(FILE, 'utf8') !== printed) {
  process.stderr.write('schema.graphql is not what the code says: run npm run schema and look at the difference.\n')
  process.exitCode = 1
}
