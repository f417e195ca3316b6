import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildSchema } from 'graphql'
import { Modules } from './documents/constants.ts'
import { findDocuments } from './documents/find-documents.ts'
import { printDocuments } from './documents/print-documents.ts'

/**
 * Writes the types of all GraphQL documents, from schema.graphql and the calls of `gql`. With `--check`: writes nothing,
 * and fails when a file is not as it would be written. Fails with the place of each document that the schema refuses.
 */

const ROOT = join(import.meta.dirname, '..')
interface Target {
  readonly file: string
  /** Patterns of the files whose documents it has. */
  readonly sources: readonly string[]
  /** Enums of which a server may have more values than schema.graphql: variables take any. */
  readonly openEnums?: readonly string[]
  /** Declares the words that families add to, as the file imports it. */
  readonly vocabulary?: string
}
const TARGETS: readonly Target[] = [
  {
    file: 'src/documents/generated/documents.d.ts',
    sources: ['src/{client,agents,cli,families,testing}/**/*.ts', 'src/example.ts'],
    vocabulary: '../../core/vocabulary.ts',
  },
  {
    file: 'web-playground/src/generated/documents.d.ts',
    sources: ['web-playground/src/**/*.{ts,tsx}'],
    // The dashboard asks for kinds of families that it was built without.
    openEnums: ['ObjectKind', 'Phase'],
  },
  { file: 'mcp/src/generated/documents.d.ts', sources: ['mcp/src/**/*.ts'], openEnums: ['ObjectKind', 'Phase'] },
  {
    file: 'test/generated/documents.d.ts',
    sources: ['test/**/*.ts', 'bench/workloads/*.ts'],
    vocabulary: '../../src/core/vocabulary.ts',
  },
]

const isCheck = process.argv.includes('--check')
const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))
const modules = new Modules(ROOT)

for (const { file, sources, ...options } of TARGETS) {
  const found = findDocuments(modules, ROOT, sources)
  const printed = printDocuments(schema, found.documents, options)
  for (const problem of [...found.problems, ...printed.problems]) fail(problem)
  const path = join(ROOT, file)
  const isFresh = existsSync(path) && readFileSync(path, 'utf8') === printed.module
  if (isFresh) continue
  if (isCheck) fail(`${file} is not what the documents say: run \`npm run generate\`.`)
  else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, printed.module)
  }
}

function fail(problem: string): void {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
