import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { removeTree } from '../../src/agents/files/remove-tree.ts'
import { onLinux } from '../../src/process/identity.ts'

/** The account of the runtime removes what a workload leaves in its folders. */

const NAMES = Array.from({ length: 3_000 }, (_, i) => `file-${i}`)
const fill = (folder: string): void => {
  mkdirSync(folder)
  for (const name of NAMES) writeFileSync(join(folder, name), '')
}

test.runIf(onLinux)('a folder that becomes a link while it is removed leads nowhere', async () => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'phaseline-remove-'))
  const [tree, others] = ['tree', 'others'].map((name) => join(temporary.path, name)) as [string, string]
  const inner = join(tree, 'inner')
  fill(others)
  mkdirSync(tree)
  fill(inner)
  const removing = removeTree(tree)
  while (existsSync(join(inner, 'file-0')) && existsSync(join(inner, 'file-2999'))) await turn()
  renameSync(inner, join(tree, 'aside'))
  symlinkSync(others, inner)
  await removing
  expect(existsSync(tree)).toBe(false)
  expect(readdirSync(others)).toHaveLength(NAMES.length)
})

test.runIf(onLinux)(
  'folders are removed however deep, with folders that permit nothing, and links as such',
  async () => {
    await using temporary = await mkdtempDisposable(join(tmpdir(), 'phaseline-remove-'))
    const [tree, others] = ['tree', 'others'].map((name) => join(temporary.path, name)) as [string, string]
    await mkdir(others, { mode: 0o750 })
    await writeFile(join(others, 'kept'), '')
    mkdirSync(tree)
    // Each move makes the nest one deeper, without a path that is too long.
    for (let depth = 0; depth < 40; depth += 1) {
      mkdirSync(`${tree}-outer`)
      symlinkSync(others, join(`${tree}-outer`, 'link'))
      renameSync(tree, join(`${tree}-outer`, 'n'.repeat(250)))
      renameSync(`${tree}-outer`, tree)
    }
    await mkdir(join(tree, 'shut', 'within'), { recursive: true })
    for (const path of ['shut/within', 'shut', '.']) await chmod(join(tree, path), 0)
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
    expect(readdirSync(others)).toEqual(['kept'])
    expect((await lstat(others)).mode & 0o777).toBe(0o750)
    await removeTree(tree)
  },
)
