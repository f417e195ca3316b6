import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isExecutableWithin } from '../../src/families/pipelines/agents/process/shown-file.ts'

/** The command of a workload, as its sandbox shows it and nothing else. */

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'phaseline-shown-'))
  for (const folder of ['shown/bin', 'shown/lib', 'work', 'hidden/folder'])
    await mkdir(join(root, folder), { recursive: true })
  for (const file of ['shown/lib/tool', 'hidden/tool']) {
    await writeFile(join(root, file), '')
    await chmod(join(root, file), 0o755)
  }
  await writeFile(join(root, 'shown/text'), '')
  const links = {
    'shown/bin/relative': '../lib/tool',
    'shown/bin/out': join(root, 'hidden/tool'),
    bin: 'shown/bin',
    'work/absolute': join(root, 'shown/lib/tool'),
    'work/chain': 'absolute',
    'work/folder': join(root, 'shown/lib'),
    'work/out': join(root, 'hidden/tool'),
    'work/out-and-in': join(root, 'hidden/back/tool'),
    'work/past': `${root}/hidden/folder/../../shown/lib/tool`,
    'work/past-missing': `${root}/hidden/missing/../../shown/lib/tool`,
    'work/circle': 'circle',
    'hidden/back': join(root, 'shown/lib'),
  }
  for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path))
})
afterAll(() => rm(root, { recursive: true }))

test.each([
  ['shown/lib/tool', true],
  ['shown/bin/relative', true],
  ['bin/relative', true],
  ['work/absolute', true],
  ['work/chain', true],
  ['work/folder/tool', true],
  ['shown/text', false],
  ['shown/lib', false],
  ['shown', false],
  ['shown/missing', false],
  ['shown/text/tool', false],
  ['work/circle', false],
  ['hidden/tool', false],
  ['shown/bin/out', false],
  ['work/out', false],
  // The sandbox does not have the link in between.
  ['work/out-and-in', false],
])('%s: %s', (path, expected) => {
  const folders = ['shown', 'bin', 'work'].map((folder) => join(root, folder))
  expect(isExecutableWithin(folders, join(root, path))).toBe(expected)
})

test('a path through a folder that is not shown tells nothing about that folder', () => {
  const folders = ['shown', 'work'].map((folder) => join(root, folder))
  const [there, missing] = ['past', 'past-missing'].map((name) => isExecutableWithin(folders, join(root, 'work', name)))
  expect(there).toBe(missing)
})
