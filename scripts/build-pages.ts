import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Builds the dashboard and the documentation side by side, each unless it is newer than everything that it is made of. */

const ROOT = join(import.meta.dirname, '..')
const DASHBOARD = 'web-playground/dist/index.html'
// Folders too, which change when a file in them goes.
const SOURCES = ['web-playground/*', 'web-playground/src/**', 'src/**', 'examples/**', 'package-lock.json']

const changedAt = (path: string): number => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
function isDashboardOld(): boolean {
  const builtAt = changedAt(DASHBOARD)
  return globSync(SOURCES, { cwd: ROOT }).some((path) => path !== 'web-playground/dist' && changedAt(path) > builtAt)
}

function build(program: string, ...args: readonly string[]): void {
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit' })
  child.once('exit', (code) => {
    if (code !== 0) process.exitCode = 1
  })
}

if (isDashboardOld()) build('npm', 'run', '--silent', 'build:web')
build('node', 'scripts/build-docs.ts', '--if-old')
