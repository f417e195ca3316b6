import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { failuresOf, isFlake, judgeRun, type Run } from './judge-run.ts'
import { runVitest } from './run-vitest.ts'

/** `npm test`: the checks, the builds, and the tests that judge each change. Red is what is red twice. */

const ROOT = join(import.meta.dirname, '..')
const TIERS = ['--project', 'unit', '--project', 'landing']

const stages: { readonly name: string; readonly seconds: number }[] = []
async function stage<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await run()
  stages.push({ name, seconds: (performance.now() - begun) / 1_000 })
  return result
}

function end(code: number): never {
  console.log(stages.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(' · '))
  process.exit(code)
}

async function script(name: string, ...args: readonly string[]): Promise<void> {
  const run = () => spawnSync('node', [`scripts/${name}.ts`, ...args], { cwd: ROOT, stdio: 'inherit' }).status
  if ((await stage(name, run)) !== 0) end(1)
}

/** Runs each red file alone in one worker. True: all of them were flaky, and a line says which. */
async function areFlaky(first: Run, files: readonly string[]): Promise<boolean> {
  let all = true
  for (const file of files) {
    const second = await runVitest([...TIERS, file, '--maxWorkers', '1'])
    const is = isFlake(first, file, second) ? 'Flaky' : 'Red twice'
    all &&= is === 'Flaky'
    for (const { name, error } of failuresOf(first, file)) console.log(`${is}: ${file} > ${name}: ${error}`)
  }
  return all
}

await script('check')
await script('build-web')
await script('build-docs', '--if-old')
const run = await stage('tests', () => runVitest([...TIERS, ...process.argv.slice(2)]))
const verdict = judgeRun(run, () => false)
if (verdict.is === 'green') end(0)
if (verdict.is === 'red') {
  console.log(`Red: ${verdict.why}`)
  end(1)
}
end((await stage('again', () => areFlaky(run, verdict.files))) ? 0 : 1)
