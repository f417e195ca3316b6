import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { archiveOfTaken, leftIn } from '../../src/families/pipelines/agents/artifacts/folder-archive.ts'
import { framed, lookAt, pack, unpack } from '../../src/families/pipelines/agents/kubernetes/artifact-containers.ts'
import type { Taken } from '../../src/families/pipelines/agents/runtime/runtime.ts'

/** The scripts of pods with the programs of this machine, which are those of GNU on most; the cluster's image has BusyBox. */

async function workspace() {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-workspace-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const run = (command: readonly string[]) => {
    const [program = '', ...args] = command.map((word) => word.replaceAll('/workspace', folder))
    return spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  }
  return {
    at: (path: string) => join(folder, path),
    async take(path: string, { isFolder, content }: { isFolder: boolean; content: Buffer }): Promise<void> {
      const body = Readable.from([content])
      const taken: Taken = { artifact: 'dist', path, isFolder, size: content.length, body }
      const child = run(unpack(path, isFolder))
      // Its input stays open, as that of a command in a container does.
      for await (const piece of framed(archiveOfTaken(taken))) child.stdin.write(piece)
      const [code] = await once(child, 'exit')
      expect(code, await text(child.stderr)).toBe(0)
    },
    async left(path: string) {
      const { isFolder, body } = await leftIn(run(pack(path)).stdout, path)
      return { isFolder, content: await buffer(body) }
    },
    look: async (path: string) => (await text(run(lookAt(path)).stdout)).trim(),
  }
}

test('a folder and a file travel, in place of what is there', async () => {
  const one = await workspace()
  await mkdir(one.at('out/deep er/empty'), { recursive: true })
  await writeFile(one.at('out/deep er/run'), '#!/bin/sh\n', { mode: 0o755 })
  await writeFile(one.at('out/large'), Buffer.alloc(3_000_001, 7))
  await symlink('../large', one.at('out/deep er/link'))
  await writeFile(one.at('-rf'), 'an option')
  const kinds = ['out', '-rf', 'out/deep er/link', 'none', '-rf/x'].map(one.look)
  expect(await Promise.all(kinds)).toEqual(['folder', 'file', 'link', 'nothing', 'nothing'])
  const [folder, file] = [await one.left('out'), await one.left('-rf')]
  expect([folder.isFolder, file.isFolder]).toEqual([true, false])

  const two = await workspace()
  await symlink('/tmp', two.at('in'))
  await two.take('in', folder)
  expect((await readFile(two.at('in/large'))).equals(Buffer.alloc(3_000_001, 7))).toBe(true)
  expect(await readlink(two.at('in/deep er/link'))).toBe('../large')
  expect((await lstat(two.at('in/deep er/run'))).mode & 0o111).not.toBe(0)
  await writeFile(two.at('in/own'), 'stays')
  await two.take('in', folder)
  expect(await readFile(two.at('in/own'), 'utf8')).toBe('stays')
  await two.take('in', file)
  expect(await readFile(two.at('in'), 'utf8')).toBe('an option')
  await two.take('in', folder)
  expect(await two.left('in')).toEqual(folder)
})

test('a folder that cannot be packed as a whole is an error', async () => {
  const one = await workspace()
  await mkdir(one.at('out'))
  await writeFile(one.at('out/a'), 'x')
  execFileSync('ln', [one.at('out/a'), one.at('out/b')])
  await expect(one.left('out')).rejects.toThrow(/hard link/)
})
