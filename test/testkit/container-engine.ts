import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import Docker from 'dockerode'
import { pack } from 'tar-stream'
import { leaveOut } from './leave-out.ts'

/** From Debian's busybox-static: no registry is needed. */
const BUSYBOX = '/bin/busybox'

/**
 * The socket of a container engine: PHASELINE_TEST_ENGINE, or a Docker or Podman that runs on this machine. Null: there is
 * none, or nothing to make an image of.
 */
export function engineSocket(): string | null {
  const { PHASELINE_TEST_ENGINE: given, XDG_RUNTIME_DIR: runtime = '/run' } = process.env
  const known = ['/var/run/docker.sock', `${runtime}/podman/podman.sock`, '/run/podman/podman.sock']
  const found = given ?? known.find((socket) => existsSync(socket))
  if (found !== undefined && existsSync(BUSYBOX)) return found
  const missing = found === undefined ? 'neither Docker nor Podman runs here' : `${BUSYBOX} is missing (busybox-static)`
  leaveOut('container-engine', `${missing}. PHASELINE_TEST_ENGINE can name the socket of an engine.`)
  return null
}

/** Podman gives all images that are imported the tag `latest`. */
export const IMAGE = 'localhost/phaseline-test:latest'
const TOOLS = [
  ...['sh', 'cat', 'echo', 'env', 'head', 'id', 'kill', 'ls', 'mkdir'],
  ...['od', 'printf', 'seq', 'sleep', 'test', 'tr', 'true'],
]

/** Makes an image with a shell and a few tools. */
export async function provideImage(socketPath: string): Promise<void> {
  const docker = new Docker({ socketPath })
  if (await isThere(docker, IMAGE)) return
  const root = Readable.from(await rootArchive())
  const progress = await docker.importImage(root, { repo: IMAGE.split(':')[0] ?? '', tag: 'latest' })
  await loaded(docker, progress)
}

/** Makes an image of the same files with settings that an import cannot give it, such as a check of its health. */
export async function provideImageWith(socketPath: string, name: string, settings: object): Promise<void> {
  const docker = new Docker({ socketPath })
  if (await isThere(docker, name)) return
  const layer = await rootArchive()
  const rootfs = { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] }
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', config: settings, rootfs })
  const Config = `${sha256(config)}.json`
  const archive = pack()
  archive.entry({ name: Config }, config)
  archive.entry({ name: 'layer.tar' }, layer)
  archive.entry({ name: 'manifest.json' }, JSON.stringify([{ Config, RepoTags: [name], Layers: ['layer.tar'] }]))
  archive.finalize()
  await loaded(docker, await docker.loadImage(Readable.from(await buffer(archive))))
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

const isThere = (docker: Docker, image: string): Promise<boolean> =>
  docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      () => false,
    )

async function rootArchive(): Promise<Buffer> {
  const root = pack()
  root.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile(BUSYBOX))
  for (const tool of TOOLS) root.entry({ name: `bin/${tool}`, type: 'symlink', linkname: 'busybox' })
  root.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  root.entry({ name: 'workspace', type: 'directory', mode: 0o755 })
  root.finalize()
  return await buffer(root)
}

const loaded = (docker: Docker, progress: NodeJS.ReadableStream): Promise<void> =>
  new Promise((resolve, reject) =>
    docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())),
  )
