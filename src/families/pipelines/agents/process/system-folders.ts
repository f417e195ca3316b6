import { lstatSync, readlinkSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { delimiter, isAbsolute, relative } from 'node:path'

/** The read-only part of the machine that isolated workloads see. */

const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Without anything that holds keys or passwords, such as /etc/ssl/private. */
const CONFIGURATION = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
].map((name) => `/etc/${name}`)

export const SYSTEM_FOLDERS = [...PROGRAMS, ...CONFIGURATION]

/** Arguments of bubblewrap. A folder that is a link, such as /bin, stays one. */
export const systemArguments = (): readonly string[] => [
  ...PROGRAMS.flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found) return []
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  }),
  ...CONFIGURATION.flatMap((path) => ['--ro-bind-try', path, path]),
]

/** The part of a PATH that isolated workloads see. */
export const visiblePath = (path: string, folders: readonly string[]): string =>
  path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && [...PROGRAMS, ...folders].some((folder) => isWithin(folder, entry)))
    .join(delimiter)

/** The folder through which isolated workloads would see this one; null: there is none. */
export async function visibleThrough(path: string, folders: readonly string[]): Promise<string | null> {
  const real = await realPath(path)
  for (const folder of [...PROGRAMS, ...folders]) if (isWithin(await realPath(folder), real)) return folder
  return null
}
const realPath = (path: string): Promise<string> => realpath(path).catch(() => path)

export const isWithin = (folder: string, path: string): boolean => !relative(folder, path).startsWith('..')
