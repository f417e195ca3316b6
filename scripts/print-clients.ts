import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printGo } from './clients/go.ts'
import { operationsOf } from './clients/operations.ts'
import { printPython } from './clients/python.ts'
import { Modules } from './documents/constants.ts'
import { findDocuments } from './documents/find-documents.ts'

/**
 * Writes the documents and types of the clients in other languages, from schema.graphql. Their documents are those of our own agents, so that
 * a server which takes trusted documents alone takes these. With `--check`: writes nothing, and fails when a file is stale.
 */

const ROOT = join(import.meta.dirname, '..')

const { documents } = findDocuments(new Modules(ROOT), ROOT, ['src/client/agent/agent-api.ts'])
const operations = operationsOf(
  readFileSync(join(ROOT, 'schema.graphql'), 'utf8'),
  documents.map(({ text }) => text),
)
const FILES = {
  'clients/python/phaseline/operations.py': printPython(operations),
  'clients/go/client/operations.go': printGo(operations),
}

for (const [file, written] of Object.entries(FILES)) {
  const path = join(ROOT, file)
  if (!process.argv.includes('--check')) writeFileSync(path, written)
  else if (readFileSync(path, 'utf8') !== written) {
    process.stderr.write(`${file} is stale: run npm run generate.\n`)
    process.exitCode = 1
  }
}
