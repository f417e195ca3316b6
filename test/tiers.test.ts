import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { DEEP, LANDING, TIMING, UNIT } from './tiers.ts'

const ROOT = new URL('..', import.meta.url)
const find = (...patterns: readonly string[]): readonly string[] => globSync([...patterns], { cwd: ROOT }).sort()

test('each test file stands in exactly one tier and group', () => {
  const listed = [UNIT, LANDING, TIMING, ...Object.values(DEEP).map(({ files }) => files)].flat()
  expect(listed.toSorted()).toEqual(find('test/**/*.test.ts'))
})

test('each glob of a group matches a file', () => {
  const globs = Object.values(DEEP).flatMap(({ judges }) => judges)
  expect(globs.filter((glob) => find(glob).length === 0)).toEqual([])
})

/** They concern no deep group more than another one, with the reason. */
const JUDGED_ON_LANDING = {
  'src/core/**': 'Pure rules, which the landing tier judges.',
  'src/families/*.ts': 'Declarations, which the landing tier judges.',
  'src/families/*/*.ts': 'Words, machines, rights and declarations, which the landing tier judges.',
  'src/{families/**,projects}/{commands,graphql,rules}/**':
    'Rules and commands, which the landing tier judges on real servers.',
  'src/families/pipelines/*/{commands,graphql}.ts': 'Commands, which the landing tier judges on real servers.',
  'src/seal/**': 'Pure; a unit test plants forgeries.',
  'src/{chain-hash,example,logger,standard-webhooks,system}.ts': 'Each deep test uses them.',
}

test('a deep group judges each source, or the landing tier does for a reason', () => {
  const globs = [...Object.values(DEEP).flatMap(({ judges }) => judges), ...Object.keys(JUDGED_ON_LANDING)]
  const sources = find('src/**/*.ts', 'prisma/**/*.*', 'web-playground/src/**/*.*', 'examples/**/*.*', 'deploy/**/*.*')
  expect(sources.filter((path) => !globs.some((glob) => matchesGlob(path, glob)))).toEqual([])
})
