import type { V1Container, V1ResourceRequirements, V1VolumeMount } from '@kubernetes/client-node'
import { hardenedContainer, literally } from '../../../../agents/kubernetes/hardened-pod.ts'
import { LEAVES_CONTAINER, TAKES_CONTAINER, WORKSPACE } from './names.ts'
import type { PodSettings } from './settings.ts'

/**
 * The containers that hand artifacts over: one before the workload, one beside it. They see the working folder and no secret. Their image
 * needs `sh`, `sleep`, `tar` and `dd`.
 */

const GIVEN = '/dev/termination-log'
/** Bytes of an archive that travel in one message. */
const PIECE = 262_144
/** Waits until somebody says that all is given. It has no other file to write to, if the root is read-only. */
const WAIT_FOR_TAKES = `
trap 'exit 143' TERM
command -v tar > /dev/null && command -v dd > /dev/null || { echo 'its image has no tar or no dd' > ${GIVEN}; exit 1; }
until [ -s ${GIVEN} ]; do sleep 0.2 2> /dev/null || sleep 1; done
`
/** As the first process of a container it hears only the signals that it asks for. */
const WAIT_FOR_READERS = `
trap 'exit 0' TERM
while :; do sleep 3600 & wait "$!"; done
`

/** Lets the workload start. */
export const ALL_GIVEN = ['/bin/sh', '-c', `echo given > ${GIVEN}`]
/** Ends the container that waits for readers. */
export const ALL_READ = ['/bin/sh', '-c', 'kill 1']

/**
 * Unpacks an archive that comes in pieces, each after its length and a line's end; the last length is 0. Owners are those of the process.
 * A file, or a link, gives way to what comes; a folder keeps what it has if another one comes.
 */
export const unpack = (path: string, isFolder: boolean): readonly string[] => [
  ...['/bin/sh', '-c', UNPACK, 'sh'],
  ...[`./${path}`, isFolder ? 'folder' : 'file'],
]
const UNPACK = `
cd ${WORKSPACE} || exit 1
[ "$2" = folder ] && [ -d "$1" ] && [ ! -L "$1" ] || rm -rf "$1" || exit 1
while read -r bytes && [ "$bytes" -gt 0 ]; do dd bs="$bytes" count=1 iflag=fullblock 2> /dev/null || exit 1; done | tar -xof -
`
/** An archive as `unpack` reads it: older API servers cannot tell a command that its input ends. */
export async function* framed(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  const frame = (): Uint8Array => {
    const whole = Buffer.concat([Buffer.from(`${bytes}\n`), ...pieces])
    pieces = []
    bytes = 0
    return whole
  }
  for await (const piece of archive) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= PIECE) yield frame()
  }
  if (bytes > 0) yield frame()
  yield frame()
}

/** Prints the kind of what is at a path. */
export const lookAt = (path: string): readonly string[] => ['/bin/sh', '-c', LOOK, 'sh', `./${path}`]
const LOOK = `
cd ${WORKSPACE} || exit 1
if [ -L "$1" ]; then echo link; elif [ -d "$1" ]; then echo folder; elif [ -f "$1" ]; then echo file
elif [ -e "$1" ]; then echo other; else echo nothing; fi
`
export const pack = (path: string): readonly string[] => ['/bin/sh', '-c', PACK, 'sh', `./${path}`]
const PACK = `cd ${WORKSPACE} && exec tar -cf - "$1"`

export const takesContainer = (settings: PodSettings, image: string): V1Container => ({
  ...containerOf(settings, image, WAIT_FOR_TAKES),
  name: TAKES_CONTAINER,
  resources: { requests: settings.resources.requests ?? {}, limits: settings.resources.limits ?? {} },
})

/** @param files those of the workload that lie over its working folder */
export function leavesContainer(settings: PodSettings, image: string, files: readonly V1VolumeMount[]): V1Container {
  const container = containerOf(settings, image, WAIT_FOR_READERS)
  return {
    ...container,
    name: LEAVES_CONTAINER,
    resources: littleOf(settings),
    volumeMounts: [...(container.volumeMounts ?? []), ...files],
  }
}

/** A namespace with a quota takes no container without these; a container that waits takes hardly any of them. */
const LITTLE: Readonly<Record<string, string>> = { cpu: '10m', memory: '16Mi', 'ephemeral-storage': '1Mi' }
function littleOf({ resources: { requests = {}, limits = {} } }: PodSettings): V1ResourceRequirements {
  const known = (given: Readonly<Record<string, string>>) => Object.keys(given).filter((name) => name in LITTLE)
  const names = new Set([...known(requests), ...known(limits)])
  return {
    requests: Object.fromEntries([...names].map((name) => [name, LITTLE[name] ?? ''])),
    limits: Object.fromEntries(known(limits).map((name) => [name, limits[name] ?? ''])),
  }
}

const containerOf = (
  { imagePullPolicy, readOnlyRootFilesystem }: PodSettings,
  image: string,
  script: string,
): V1Container => ({
  name: '',
  image,
  ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
  command: ['/bin/sh', '-c', script].map(literally),
  terminationMessagePath: GIVEN,
  securityContext: hardenedContainer(readOnlyRootFilesystem),
  volumeMounts: [{ name: 'workspace', mountPath: WORKSPACE }],
})
