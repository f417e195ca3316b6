import { expect, test } from 'vitest'
import { problemsOf } from '../scripts/packages.ts'

const good = { integrity: 'sha512-x', license: 'MIT' }

test('packages that users get, with all that they need, have few licences; tools have more', () => {
  const packages = {
    '': {},
    'node_modules/server': {
      ...good,
      dependencies: { shared: '1' },
      peerDependencies: { peer: '1', other: '1' },
      peerDependenciesMeta: { other: { optional: true } },
    },
    'node_modules/shared': { ...good, license: 'MPL-2.0' },
    'node_modules/server/node_modules/shared': { ...good, license: '(Apache-2.0 AND GPL-3.0)' },
    'node_modules/peer': { ...good, license: 'MIT OR GPL-2.0', optionalDependencies: { shared: '1' } },
    'node_modules/other': { ...good, license: 'EPL-2.0' },
    'node_modules/tool': { integrity: 'sha512-x' },
  }
  expect(problemsOf(packages, ['server', 'not-installed'])).toEqual([
    'shared has MPL-2.0, which packages that users get may not have.',
    'shared has (Apache-2.0 AND GPL-3.0), which packages that users get may not have.',
    'peer has MIT OR GPL-2.0, which packages that users get may not have.',
    'tool has no licence, which tools may not have.',
  ])
})

test('every package has an integrity, but for builds of tools for other platforms', () => {
  const build = { optional: true, os: ['aix'] }
  const packages = {
    'node_modules/a': { license: 'MIT' },
    'node_modules/b': { ...build, license: 'MIT' },
    'node_modules/tool-aix': { ...build, dev: true },
    'node_modules/workspace': { link: true },
  }
  expect(problemsOf(packages, ['a']).map((problem) => problem.split(':')[0])).toEqual([
    'a has no integrity',
    'b has no integrity',
  ])
})
