import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { type Pack, pack } from 'tar-stream'

/** Podman gives all images that are imported the tag `latest`. */
export const NODE_IMAGE = 'localhost/phaseline-test-node:latest'

const NPM = '/usr/lib/npm'
const PROGRAMS: Readonly<Record<string, string>> = {
  npm: `#!/bin/sh\nexec node ${NPM}/bin/npm-cli.js "$@"\n`,
}
const TOOLS = ['sh', 'env', 'cat', 'sleep', 'touch']

/** Makes an image of this very Node and npm, with what they need of this machine and a shell: no registry is asked. */
export async function provideNodeImage(socketPath: string): Promise<void> {
  const docker = new Docker({ socketPath })
  const known = await docker
    .getImage(NODE_IMAGE)
    .inspect()
    .catch(() => null)
  if (known) return
  const root = pack()
  fillNodeImage(root)
  root.finalize()
  const progress = await docker.importImage(Readable.from(root), {
    repo: NODE_IMAGE.split(':')[0] ?? '',
    tag: 'latest',
  })
  await new Promise<void>((resolve, reject) =>
    docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())),
  )
}

/** Adds this Node and npm, and a shell, to the files of an image. */
export function fillNodeImage(root: Pack): void {
  const file = (name: string, path: string): void => void root.entry({ name, mode: 0o755 }, readFileSync(path))
  file('usr/bin/node', process.execPath)
  file('bin/busybox', '/bin/busybox')
  for (const tool of TOOLS) root.entry({ name: `bin/${tool}`, type: 'symlink', linkname: 'busybox' })
  for (const [name, text] of Object.entries(PROGRAMS)) root.entry({ name: `usr/bin/${name}`, mode: 0o755 }, text)
  for (const library of librariesOf(process.execPath)) file(library.slice(1), library)
  const npm = npmFolder()
  for (const name of readdirSync(npm, { recursive: true, encoding: 'utf8' })) {
    if (statSync(join(npm, name)).isFile()) file(join(NPM.slice(1), name), join(npm, name))
  }
  root.entry({ name: 'usr/bin/env', type: 'symlink', linkname: '/bin/busybox' })
  for (const name of ['tmp', 'workspace']) root.entry({ name, type: 'directory', mode: 0o1777 })
}

/** Libraries of the program and its loader, as the machine's own linker finds them. */
export function librariesOf(program: string): ReadonlySet<string> {
  const told = execFileSync('ldd', [program], { encoding: 'utf8' })
  return new Set([...told.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path))
}

function npmFolder(): string {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      return dirname(dirname(realpathSync(join(folder, 'npm'))))
    } catch {
      // The next folder may have it.
    }
  }
  throw new Error('there is no npm in PATH')
}
