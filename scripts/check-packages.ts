import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf } from './packages.ts'

/** Checks integrity and licences of the packages in package-lock.json. */

const ROOT = join(import.meta.dirname, '..')
const DASHBOARD = join(ROOT, 'web-playground/src')

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))

/** Packages whose code is in the built dashboard, which users get. */
function importedByDashboard(): readonly string[] {
  const files = readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  return files.flatMap((file) => {
    const imports = readFileSync(join(DASHBOARD, file), 'utf8').matchAll(
      /(?:from|import) ?\(?'((?:@[^'/]+\/)?[^'/.][^'/]*)/g,
    )
    return [...imports].map(([, name = '']) => name)
  })
}

const { dependencies, optionalDependencies } = read('package.json')
const ofMcp = read('mcp/package.json').dependencies
const roots = [...Object.keys({ ...dependencies, ...optionalDependencies, ...ofMcp }), ...importedByDashboard()]
const problems = problemsOf(read('package-lock.json').packages, roots)
for (const problem of problems) process.stdout.write(`${problem}\n`)
if (problems.length > 0) process.exitCode = 1
