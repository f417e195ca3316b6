import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { DEEP, type Group } from '../test/tiers.ts'
import { judgeRun } from './judge-run.ts'
import { runVitest } from './run-vitest.ts'

/**
 * `npm run test:deep [-- GROUP…]`: the groups of `test/tiers.ts`, one after the other, each with what it needs.
 * `-- --changed REF`: those that judge a source that has changed since REF.
 */

/** The last result of each group, a line each. */
const LOG = join(import.meta.dirname, '../test/deep.log')

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

/** Each script of `.ci/` names in PHASELINE_TEST_REQUIRE what it could provide; without one of them the group does not run. */
const provide = (what: string): string =>
  [
    `. .ci/${what}`,
    `case ",\${PHASELINE_TEST_REQUIRE-}," in *,${what},*) ;; *) echo 'There is no ${what} here.'; exit ${LEFT_OUT} ;; esac`,
  ].join('\n')
const LEFT_OUT = 3

const COMMIT = execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=8'], { encoding: 'utf8' }).trim()

async function runGroup(
  name: string,
  { files, needs = [], uses = [] }: Group,
): Promise<{ readonly isGreen: boolean; readonly isOver: boolean }> {
  const seed = process.env.PHASELINE_TEST_SEED ?? String(Math.floor(Math.random() * 2 ** 31))
  const begun = performance.now()
  // A run of its own for each, so that what one provides and leaves behind concerns no other.
  const run = await runVitest(files, {
    env: { PHASELINE_TEST_SEED: seed },
    before: ['.ci/debian', ...uses.map((what) => `. .ci/${what}`), ...needs.map(provide)],
  })
  const isGreen = judgeRun(run).is === 'green'
  const count = (state: string): number =>
    run.lines.filter((line) => line.type === 'test' && line.state === state).length
  const isLeftOut = run.code === LEFT_OUT && run.lines.length === 0
  const result = isLeftOut ? 'left out' : isGreen ? 'green' : 'red'
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0)
  const line = `${name}: ${result}, ${counts}, seed ${seed}, ${seconds} s`
  results.push(line)
  if (!run.ended) record(name, `${line}, at ${COMMIT}`)
  return { isGreen, isOver: run.ended === 'interrupted' }
}

function record(name: string, line: string): void {
  const others = readFileSync(LOG, 'utf8')
    .split('\n')
    .filter((other) => other !== '' && !other.startsWith(`${name}: `))
  writeFileSync(LOG, `${[...others, line].sort().join('\n')}\n`)
}

const args = process.argv.slice(2)
const named = args[0] === '--changed' ? changedSince(args[1] ?? 'HEAD') : args
const names = args.length === 0 ? Object.keys(DEEP) : named
const unknown = names.find((name) => !(name in DEEP))
if (unknown !== undefined) {
  console.error(`There is no group ${unknown}. There are: ${Object.keys(DEEP).join(', ')}`)
  process.exit(2)
}
const results: string[] = []
for (const name of names) {
  const { isGreen, isOver } = await runGroup(name, DEEP[name] as Group)
  if (!isGreen) process.exitCode = 1
  if (isOver) break
}
for (const line of results) console.log(line)
