import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from './settings.ts'

/** The release script, on a small package with a repository of its own. */

const SCRIPT = join(ROOT, 'scripts/release.ts')
const DEPLOY = ['deploy/compose/compose.yaml', 'deploy/kubernetes/base/kustomization.yaml']

function makeRepository(): { write(file: string, text: string): void; git(...args: string[]): void; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'phaseline-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@phaseline.example', '-c', 'commit.gpgsign=false']
  const git = (...args: string[]): void => {
    execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'ignore' })
  }
  for (const file of DEPLOY) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file))
  }
  git('init')
  return { folder, write, git }
}
const release = (cwd: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [SCRIPT, ...args], { cwd, encoding: 'utf8' })

test('it says all that a release still lacks, then writes what is published', () => {
  const { folder, write, git } = makeRepository()
  const describe = (version: string) => {
    write('package.json', JSON.stringify({ name: 'phaseline', version, files: ['README.md'] }))
    const root = { name: 'phaseline', version }
    write('package-lock.json', JSON.stringify({ ...root, lockfileVersion: 3, packages: { '': root } }))
  }
  describe('9.8.0')
  write('README.md', 'A package.')
  write('.gitignore', 'release/\n')
  write('CHANGELOG.md', '# Changelog\n\n## [9.9.0] – unreleased\n')
  write('schema.graphql', 'type Query { now: String }')
  write('test/upgrade/9.8.0.sql', '')
  write('test/upgrade/9.8.0.graphql', 'type Query { now: String }')
  const refused = release(folder, '9.9.0')
  expect(refused.status).toBe(1)
  expect(refused.stderr.split('\n')).toEqual([
    expect.stringMatching(/^The working tree has changes \(\d+\): commit them\.$/),
    'package.json is of 9.8.0 and 9.8.0: npm version 9.9.0 --no-git-tag-version',
    'CHANGELOG.md: "## [9.9.0] – unreleased" needs the date of the release, such as 2026-12-01.',
    'test/upgrade/9.9.0.sql is missing: npm run dump:release -- 9.9.0',
    'test/upgrade/9.9.0.graphql is missing: npm run dump:release -- 9.9.0',
    ...DEPLOY.map((file) => expect.stringMatching(`^${file} has the image of .*: write 9\\.9\\.0\\.$`)),
    '',
  ])
  expect(release(folder, 'next').stderr).toBe('"next" is not a version such as 0.2.0.\n')

  describe('9.9.0')
  write('CHANGELOG.md', '# Changelog\n\n## [9.9.0] – 2026-12-01\n')
  write('test/upgrade/9.9.0.sql', '')
  write('test/upgrade/9.9.0.graphql', 'type Query { then: String }')
  for (const file of DEPLOY) {
    const text = readFileSync(join(folder, file), 'utf8')
    write(file, text.replace(/(?<=phaseline:)\d+\.\d+\.\d+/, '9.9.0').replace(/(?<=newTag: )\S+/, '9.9.0'))
  }
  git('add', '--all')
  git('commit', '--message', 'Release 9.9.0')
  // The schema has changed since it was kept.
  const stale = 'test/upgrade/9.9.0.graphql is not schema.graphql: npm run dump:release -- 9.9.0\n'
  expect(release(folder, '9.9.0', '--dry-run')).toMatchObject({ status: 1, stderr: stale })
  cpSync(join(folder, 'schema.graphql'), join(folder, 'test/upgrade/9.9.0.graphql'))
  git('commit', '--all', '--message', 'Keep the schema')
  expect(release(folder, '9.9.0', '--dry-run')).toMatchObject({ status: 0, stdout: '9.9.0 can be released.\n' })
  const made = release(folder, '9.9.0')
  expect(made, made.stderr).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('npm publish --provenance --access public ./release/phaseline-9.9.0.tgz'),
  })
  const at = join(folder, 'release')
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: at, stdio: 'ignore' })
  const bill = JSON.parse(readFileSync(join(at, 'phaseline-9.9.0.cdx.json'), 'utf8')) as { bomFormat: string }
  expect(bill.bomFormat).toBe('CycloneDX')

  git('tag', 'v9.9.0')
  expect(release(folder, '9.9.0').stderr).toContain('The tag v9.9.0 is there already')
})
