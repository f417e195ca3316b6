import { spawnSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Builds the dashboard, unless what is built is newer than everything that it is made of. */

const ROOT = join(import.meta.dirname, '..')
const BUILT = 'web-playground/dist/index.html'
// Folders too, which change when a file in them goes.
const SOURCES = ['web-playground/*', 'web-playground/src/**', 'src/**', 'examples/**', 'package-lock.json']

const changedAt = (path: string): number => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const builtAt = changedAt(BUILT)
const isOld = globSync(SOURCES, { cwd: ROOT }).some(
  (path) => path !== 'web-playground/dist' && changedAt(path) > builtAt,
)
if (builtAt === 0 || isOld) {
  process.exitCode = spawnSync('npm', ['run', '--silent', 'build:web'], { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
