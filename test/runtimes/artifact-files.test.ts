import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { compressed, type Entry, tarOf } from '../../src/families/pipelines/agents/artifacts/archive.ts'
import { readLeft, writeTaken } from '../../src/families/pipelines/agents/process/artifact-files.ts'
import { until } from '../testkit/wait.ts'

/** Artifacts in working folders of this machine: what packs fail with, what they hold open, and what an artifact replaces. */

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-artifact-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function* of<T>(...values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
const file = (path: string, content: string): Entry => ({
  ...{ type: 'file', path, size: content.length, isExecutable: false },
  body: of(Buffer.from(content)),
})

/** @returns the content as it is taken */
const archiveOf = (...entries: readonly Entry[]): Promise<Buffer> => buffer(compressed(of(...entries)))
const take = (folder: string, path: string, content: Buffer, isFolder = true) =>
  writeTaken(folder, { artifact: 'dist', path, isFolder, size: content.length, body: of(content) })

test('an error of the content of a file is that of the archive, and of nothing else', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10)
    throw new Error('it cannot be read')
  }
  const entry: Entry = { type: 'file', path: 'x', size: 100, isExecutable: false, body: broken() }
  await expect(buffer(tarOf(of(file('before', 'x'), entry)))).rejects.toThrow('it cannot be read')
  const short: Entry = { ...entry, body: of(Buffer.alloc(10)) }
  await expect(buffer(tarOf(of(short)))).rejects.toThrow(/Size mismatch/)
  // An error that nobody handles would fail this file.
  await pause(20)
})

test('a folder with links is taken twice into the same place, and replaces what is there', async () => {
  const folder = await tempFolder()
  const outside = join(await tempFolder(), 'outside')
  await writeFile(outside, 'kept')
  const archive = await archiveOf(
    { type: 'folder', path: 'deep' },
    ...[file('a', 'one'), file('b', 'two'), file('deep/c', 'three'), file('d/e', 'four')],
    ...[
      { type: 'link', path: 'link', target: 'a' } as const,
      { type: 'link', path: 'deep/up', target: '../b' } as const,
    ],
  )
  await take(folder, 'in', archive)
  await take(folder, 'in', archive)
  const read = async () => ({
    names: (await readdir(join(folder, 'in'), { recursive: true })).sort(),
    texts: await Promise.all(['link', 'b', 'deep/up', 'd/e'].map((at) => readFile(join(folder, 'in', at), 'utf8'))),
    link: await readlink(join(folder, 'in', 'link')),
  })
  const expected = {
    names: ['a', 'b', 'd', 'd/e', 'deep', 'deep/c', 'deep/up', 'link'],
    texts: ['one', 'two', 'two', 'four'],
    link: 'a',
  }
  expect(await read()).toEqual(expected)

  // A link in the place of a file and of a folder, and a folder in the place of a file and of a link.
  const at = (path: string): string => join(folder, 'in', path)
  for (const path of ['a', 'b', 'deep', 'link']) await rm(at(path), { recursive: true })
  await symlink(outside, at('a'))
  await symlink(join(outside, '..'), at('deep'))
  for (const path of ['b', 'link']) {
    await mkdir(join(at(path), 'full'), { recursive: true })
    await symlink(outside, join(at(path), 'full', 'way-out'))
  }
  await take(folder, 'in', archive)
  expect(await read()).toEqual(expected)
  expect((await lstat(at('a'))).isFile()).toBe(true)
  expect(await readFile(outside, 'utf8')).toBe('kept')
  await take(folder, 'in', Buffer.from('file'), false)
  expect(await readFile(join(folder, 'in'), 'utf8')).toBe('file')
  await take(folder, 'in', archive)
  expect(await read()).toEqual(expected)
})

test('what cannot be written is named', async () => {
  const folder = await tempFolder()
  const name = 'x'.repeat(256)
  await expect(take(folder, 'in', await archiveOf(file(`deep/${name}`, 'x')))).rejects.toMatchObject({
    ...{ name: 'ArtifactProblem', code: 'ARTIFACT_REFUSED' },
    message: expect.stringMatching(/^"in\/deep\/x+.*cannot be written: ENAMETOOLONG\.$/),
  })
})

const descriptors = async (below: string): Promise<number> => {
  const names = await readdir('/proc/self/fd')
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(below)).length
}

test.runIf(process.platform === 'linux')('nothing stays open of what nobody reads to its end', async () => {
  const folder = await tempFolder()
  await mkdir(join(folder, 'out', 'deep'), { recursive: true })
  for (const name of ['a', 'deep/b', 'deep/c'])
    await writeFile(join(folder, 'out', name), Buffer.alloc(3_000_000, name))
  for (const path of ['out', 'out/a']) {
    expect(await readLeft(folder, path)).not.toBeNull()
    expect(await descriptors(folder), path).toBe(0)
    const left = await readLeft(folder, path)
    for await (const _ of left?.body ?? []) break
    await until(async () => (await descriptors(folder)) === 0, { what: `nothing of ${path} is open` })
  }
})
