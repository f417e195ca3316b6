import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { buildSchema, findBreakingChanges } from 'graphql'

/**
 * Compares schema.graphql with that of each release that is kept. A change that breaks documents of its clients is named in
 * `accepted-changes.json`, as the changelog names it for users; one that does not break anything any more is not.
 */

const FOLDER = new URL('../test/upgrade/', import.meta.url)
const read = (path: URL): string => readFileSync(path, 'utf8')
const accepted: Readonly<Record<string, readonly string[]>> = JSON.parse(read(new URL('accepted-changes.json', FOLDER)))
const schema = buildSchema(read(new URL('../schema.graphql', import.meta.url)))

for (const file of globSync('*.graphql', { cwd: FOLDER })) {
  const release = basename(file, '.graphql')
  const breaks = findBreakingChanges(buildSchema(read(new URL(file, FOLDER))), schema).map(
    ({ description }) => description,
  )
  const known = accepted[release] ?? []
  for (const change of breaks.filter((one) => !known.includes(one)))
    fail(
      `${change} It breaks clients of ${release}: deprecate it instead, or name it in accepted-changes.json and in CHANGELOG.md.`,
    )
  for (const change of known.filter((one) => !breaks.includes(one)))
    fail(`accepted-changes.json has for ${release} what does not break anything: ${change}`)
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
