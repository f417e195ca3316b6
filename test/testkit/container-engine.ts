import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
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
  const known = await docker
    .getImage(IMAGE)
    .inspect()
    .catch(() => null)
  if (known) return
  const root = pack()
  root.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile(BUSYBOX))
  for (const tool of TOOLS) root.entry({ name: `bin/${tool}`, type: 'symlink', linkname: 'busybox' })
  root.entry({ name: 'tmp', type: 'directory', mode: 0o1777 })
  root.entry({ name: 'workspace', type: 'directory', mode: 0o755 })
  root.finalize()
  const progress = await docker.importImage(Readable.from(root), { repo: IMAGE.split(':')[0] ?? '', tag: 'latest' })
  await new Promise<void>((resolve, reject) =>
    docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())),
  )
}
