import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeRelease, type ReleaseFacts } from './judge-release.ts'

/**
 * `npm run release -- 0.2.0 [--dry-run]`, in the checkout that is released: judges it, and writes to `release/` what is published, with a
 * bill of materials and checksums. It publishes nothing, and prints the commands that do.
 */

const FOLDER = 'release'
/** A package of its own, which needs this one in the same version. */
const MCP = 'mcp'
const hasMcp = existsSync(MCP)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
})
const [version = ''] = positionals
const problems = judgeRelease(factsOf(version))
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.exit(1)
if (values['dry-run']) process.stdout.write(`${version} can be released.\n`)
else {
  const files = build()
  process.stdout.write(`${FOLDER}/ has:\n${files.map((file) => `  ${file}\n`).join('')}${commands(version)}`)
}

function factsOf(wanted: string): ReleaseFacts {
  const versionIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  return {
    version: wanted,
    packageVersions: ['package.json', 'package-lock.json', ...(hasMcp ? [`${MCP}/package.json`] : [])].map(versionIn),
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    changes: lines('git', 'status', '--porcelain'),
    tags: lines('git', 'tag', '--list'),
    dumps: readdirSync('test/upgrade'),
    isSchemaKept: isKept(`test/upgrade/${wanted}.graphql`),
    images: globSync('deploy/**/*.yaml').sort().flatMap(imagesOf),
  }
}

/** Later versions are compared with it, so it has to be what this one serves. */
function isKept(kept: string): ReleaseFacts['isSchemaKept'] {
  return existsSync(kept) ? readFileSync(kept, 'utf8') === readFileSync('schema.graphql', 'utf8') : null
}

/** Tags of our image, as kustomize and compose have them. */
function imagesOf(file: string): ReleaseFacts['images'] {
  const tags = readFileSync(file, 'utf8').matchAll(/\/phaseline\n\s+newTag: (\S+)|\/phaseline:([\w.-]+)/g)
  return [...tags].map(([, kustomize, compose]) => ({ file, version: kustomize ?? compose ?? '' }))
}

function build(): readonly string[] {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  for (const folder of ['.', ...(hasMcp ? [MCP] : [])]) run('npm', 'pack', `./${folder}`, '--pack-destination', FOLDER)
  const sbom = run('npm', 'sbom', '--omit=dev', '--sbom-format', 'cyclonedx', '--sbom-type', 'application')
  writeFileSync(join(FOLDER, `phaseline-${version}.cdx.json`), sbom)
  const sums = readdirSync(FOLDER).map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(FOLDER, file)))
      .digest('hex')
    return `${digest}  ${file}\n`
  })
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''))
  return readdirSync(FOLDER)
}

function commands(of: string): string {
  return `To publish it:
  git tag --sign v${of} --message "Phaseline ${of}" && git push origin v${of}
  npm publish --provenance --access public ./${FOLDER}/phaseline-${of}.tgz
${hasMcp ? `  npm publish --provenance --access public ./${FOLDER}/phaseline-mcp-${of}.tgz\n` : ''}  podman build --platform linux/amd64,linux/arm64 --manifest phaseline:${of} .
Provenance needs a workflow of GitHub or GitLab with an identity token (id-token: write): run the second command there.
`
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 ** 2,
  })
}
function lines(program: string, ...args: readonly string[]): readonly string[] {
  return run(program, ...args)
    .split('\n')
    .filter((line) => line !== '')
}
