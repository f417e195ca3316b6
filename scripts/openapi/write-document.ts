import { readFileSync, writeFileSync } from 'node:fs'

/** Writes a document beside schema.graphql. With `--check`: writes nothing, and fails when the file is stale. */
export function writeDocument(name: string, document: object): void {
  const file = new URL(`../../${name}`, import.meta.url)
  const printed = `${JSON.stringify(document, null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(file, printed)
  else if (readFileSync(file, 'utf8') !== printed) {
    process.stderr.write(`${name} is stale: run npm run generate, and look at the difference.\n`)
    process.exitCode = 1
  }
}
