import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { runTwice } from './run-twice.ts'

/** `npm test`: the checks, the builds, and the tests that judge each change. Red is what is red twice. */

const ROOT = join(import.meta.dirname, '..')
const TIERS = ['unit', 'landing', 'timing'].flatMap((name) => ['--project', name])

const stages: { readonly name: string; readonly seconds: number }[] = []
async function stage(name: string, run: () => Promise<boolean>): Promise<void> {
  const begun = performance.now()
  const isGreen = await run()
  stages.push({ name, seconds: (performance.now() - begun) / 1_000 })
  if (!isGreen) end(1)
}

function end(code: number): never {
  console.log(stages.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(' · '))
  process.exit(code)
}

async function run(program: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0))
  })
}

// The tests that need a package say so if it cannot be installed.
const packages = run('bash', '.ci/debian')
await stage('check', () => run('node', 'scripts/check.ts'))
await stage('build', () => run('node', 'scripts/build-pages.ts'))
await stage('packages', () => packages.then(() => true))
await stage('tests', () => runTwice(TIERS, { more: process.argv.slice(2) }))
end(0)
