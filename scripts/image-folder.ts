import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/**
 * Writes what a container image has in `/app`, by default to `.image/`: the built server, and of what `npm ci` has installed
 * the packages that it runs with. `Containerfile` calls it, or takes what is there already. All of it is JavaScript, so one
 * folder serves all architectures: the embedded Postgres, which is not, is left out.
 */

const ROOT = resolve(import.meta.dirname, '..')
const FILES = [
  'prisma',
  'examples',
  'schema.graphql',
  'openapi.json',
  'asyncapi.json',
  'web-playground/dist',
  'docs-dist',
  'LICENSE',
  'CHANGELOG.md',
]
/** Parts of packages that only compilers and debuggers read, Prisma for other databases, and builds for runtimes other than Node. */
const UNUSED =
  /\.(map|d\.[cm]?ts|md)$|\/query_compiler_(small|fast_bg\.(?!postgresql(\.wasm-base64)?\.mjs$))|\/prebuilds$/
const into = resolve(process.argv[2] ?? join(ROOT, '.image'))

await rm(into, { recursive: true, force: true })
await mkdir(into, { recursive: true })
await Promise.all([
  promisify(execFile)('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(into, 'dist')], {
    cwd: ROOT,
  }),
  copyDependencies(),
  describe(),
  ...FILES.map((file) => cp(join(ROOT, file), join(into, file), { recursive: true })),
])

/** Without scripts and tools: nothing of them is there. */
async function describe(): Promise<void> {
  const json = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
  const { scripts: _scripts, devDependencies: _tools, optionalDependencies: _embedded, ...described } = json
  await writeFile(join(into, 'package.json'), `${JSON.stringify(described, null, 2)}\n`)
}

/** As the lock file says: neither tools nor what is optional. */
async function copyDependencies(): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock
  const needed = Object.entries(packages).filter(([path, { dev, optional, devOptional }]) => {
    return path !== '' && !(dev || optional || devOptional)
  })
  for (const [path] of needed) {
    const from = join(ROOT, path)
    const isOwn = (file: string) =>
      !file.startsWith(join(from, 'node_modules')) && !UNUSED.test(file.slice(from.length))
    await cp(from, join(into, path), { recursive: true, filter: isOwn })
  }
}

interface Lock {
  readonly packages: Readonly<Record<string, Partial<Record<'dev' | 'optional' | 'devOptional', boolean>>>>
}
