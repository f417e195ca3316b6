import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { verbDocuments } from '../src/cli/objects/verbs.ts'
import { allMachines } from '../src/families/machines.ts'
import { actMutation } from '../web-playground/src/data/made-documents.ts'
import { Modules } from './documents/constants.ts'
import { findDocuments } from './documents/find-documents.ts'

/**
 * Writes the SHA-256 of the documents that our own clients send: command line, agents, dashboard and MCP server. With `--check`: writes
 * nothing, and fails when the file is stale.
 */

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'src/documents/own-documents.ts')
const SOURCES = [
  'src/{client,agents,cli,families}/**/*.ts',
  'src/example.ts',
  'web-playground/src/**/*.{ts,tsx}',
  'mcp/src/**/*.ts',
]

const verbs = allMachines.flatMap((machine) => machine.verbs)
const mutations = Object.keys(
  buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))
    .getMutationType()
    ?.getFields() ?? {},
)
const inputOf = (mutation: string): string => `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
const texts = [
  ...findDocuments(new Modules(ROOT), ROOT, SOURCES).documents.map(({ text }) => text),
  ...verbs.flatMap((verb) => verbDocuments(verb)),
  // The dashboard's buttons ask so for verbs, and for what is no verb of an object.
  ...mutations.map((mutation) => actMutation(mutation, inputOf(mutation))),
]
const hashes = new Set(texts.map((text) => createHash('sha256').update(text).digest('hex')))
const written = `/** SHA-256 of the documents that our own clients send. Made by \`npm run generate\`. */
export const OWN_DOCUMENTS: readonly string[] = [
${[...hashes]
  .sort()
  .map((hash) => `  '${hash}',`)
  .join('\n')}
]
`
if (!process.argv.includes('--check')) writeFileSync(FILE, written)
else if (readFileSync(FILE, 'utf8') !== written) {
  process.stderr.write('src/documents/own-documents.ts is stale: run npm run generate.\n')
  process.exitCode = 1
}
