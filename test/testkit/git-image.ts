import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Pack, pack } from 'tar-stream'
import { fillNodeImage, librariesOf, NODE_IMAGE } from './node-image.ts'

/** An image with the Git of this machine and a shell, for a cluster whose containerd is beside its kubeconfig. */
export const GIT_IMAGE = 'localhost/phaseline-test-git:1'

const CORE = '/usr/lib/git-core'
const PROGRAMS = ['/usr/bin/git', `${CORE}/git`, `${CORE}/git-remote-http`]
const TOOLS = ['sh', 'cat', 'du', 'echo', 'env', 'grep', 'kill', 'ls', 'mkdir', 'seq', 'sleep', 'true']

export async function importGitImage(kubeconfig: string): Promise<void> {
  const root = pack()
  root.entry({ name: 'bin/busybox', mode: 0o755 }, readFileSync('/bin/busybox'))
  for (const tool of TOOLS) root.entry({ name: `bin/${tool}`, type: 'symlink', linkname: 'busybox' })
  addGit(root)
  root.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  root.finalize()
  await importImage(kubeconfig, GIT_IMAGE, root)
}

/** The image in which the examples run, with Git. */
export async function importNodeImage(kubeconfig: string): Promise<void> {
  const root = pack()
  fillNodeImage(root)
  addGit(root)
  root.finalize()
  await importImage(kubeconfig, NODE_IMAGE, root)
}

function addGit(root: Pack): void {
  const libraries = new Set(PROGRAMS.flatMap((program) => [...librariesOf(program)]))
  for (const path of [...PROGRAMS, ...libraries]) root.entry({ name: path.slice(1), mode: 0o755 }, readFileSync(path))
  root.entry({ name: `${CORE.slice(1)}/git-remote-https`, type: 'symlink', linkname: 'git-remote-http' })
}

/** An image without anything. */
export const EMPTY_IMAGE = 'localhost/phaseline-test-empty:1'
export async function importEmptyImage(kubeconfig: string): Promise<void> {
  const root = pack()
  root.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  root.finalize()
  await importImage(kubeconfig, EMPTY_IMAGE, root)
}

/** Imports an image into a cluster. @param root its files */
async function importImage(kubeconfig: string, name: string, root: Pack): Promise<void> {
  const layer = await buffer(root)
  const rootfs = { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] }
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs })
  const Config = `${sha256(config)}.json`
  const image = pack()
  image.entry({ name: Config }, config)
  image.entry({ name: 'layer.tar' }, layer)
  image.entry({ name: 'manifest.json' }, JSON.stringify([{ Config, RepoTags: [name], Layers: ['layer.tar'] }]))
  image.finalize()
  const socket = join(dirname(kubeconfig), 'containerd.sock')
  execFileSync('ctr', ['--address', socket, '-n', 'k8s.io', 'images', 'import', '-'], { input: await buffer(image) })
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
