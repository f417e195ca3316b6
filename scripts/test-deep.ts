import { execFileSync } from 'node:child_process'
import { matchesGlob } from 'node:path'
import { DEEP } from '../test/tiers.ts'
import { judgeRun } from './judge-run.ts'
import { runVitest } from './run-vitest.ts'

/**
 * `npm run test:deep [-- GROUP…]`: the groups of `test/tiers.ts`, one after the other, each with what it needs.
 * `-- --changed REF`: those that judge a source that has changed since REF.
 */

function changedSince(ref: string): readonly string[] {
  const diff = execFileSync('git', ['diff', '--name-only', '--no-renames', ref], { encoding: 'utf8' })
  const changed = diff.trim().split('\n')
  return Object.entries(DEEP).flatMap(([name, { judges, files }]) => {
    const why = changed.find((path) => files.includes(path) || judges.some((glob) => matchesGlob(path, glob)))
    if (why === undefined) return []
    console.log(`${name}: ${why} has changed`)
    return [name]
  })
}

const args = process.argv.slice(2)
const named = args[0] === '--changed' ? changedSince(args[1] ?? 'HEAD') : args
const groups = args.length === 0 ? Object.keys(DEEP) : named
const unknown = groups.find((name) => !(name in DEEP))
if (unknown !== undefined) {
  console.error(`There is no group ${unknown}. There are: ${Object.keys(DEEP).join(', ')}`)
  process.exit(2)
}
const results: string[] = []
for (const name of groups) {
  const { files = [], needs = [] } = DEEP[name] ?? {}
  const begun = performance.now()
  // A run of its own for each, so that what one provides and leaves behind concerns no other.
  const run = await runVitest(
    files,
    needs.map((what) => `. .ci/${what}`),
  )
  const { is } = judgeRun(run, () => true)
  if (is !== 'green') process.exitCode = 1
  const tests = run.lines.filter(({ type }) => type === 'test')
  const count = (state: string): number => tests.filter((line) => line.type === 'test' && line.state === state).length
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
  results.push(
    `${name}: ${is === 'green' ? 'green' : 'red'}, ${counts}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
  )
}
for (const line of results) console.log(line)
