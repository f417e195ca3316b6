import { expect, test } from 'vitest'
import { labelsBy, withoutCommit } from '../../src/cli/manifests/commit-label.ts'

test('a commit labels what it makes, and is no difference', () => {
  const found = { team: 'web', 'git-commit': 'old' }
  expect(labelsBy('new', undefined, found)).toEqual({ team: 'web', 'git-commit': 'new' })
  expect(labelsBy('new', { team: 'shop' }, found)).toEqual({ team: 'shop', 'git-commit': 'new' })
  expect(withoutCommit({ name: 'a', labels: found })).toEqual({ name: 'a', labels: { team: 'web' } })
  for (const labels of [{ 'git-commit': 'old' }, {}, undefined])
    expect(withoutCommit({ name: 'a', ...(labels && { labels }) })).toEqual({ name: 'a' })
})
