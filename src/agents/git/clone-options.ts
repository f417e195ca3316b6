import { normalize } from 'node:path/posix'
import { repositoryProblem } from '../../core/repository.ts'
import { type GivenOptions, UsageError } from '../arguments.ts'
import { readSize } from '../container/options.ts'

/** The repositories that an agent clones, and how much of them. */
export interface CloneOptions {
  /**
   * Hosts that are asked by https, each with its port if that is not 443; `*` is any, and `*.example.com` any below. Entries that begin with
   * `http://` or `file://` permit that, too.
   */
  readonly hosts: readonly string[]
  readonly maxBytes: number
  readonly seconds: number
}

const MAX_BYTES = 2 * 1024 ** 3
const SECONDS = 600

/** @param hosts those without the option @throws UsageError */
export function readCloneOptions(given: GivenOptions, hosts: readonly string[]): CloneOptions {
  const { 'clone-hosts': named, 'clone-size': size, 'clone-seconds': seconds = String(SECONDS) } = given
  const maxBytes = size === undefined ? MAX_BYTES : readSize(size)
  if (maxBytes === null) throw new UsageError('--clone-size must be like 500m or 2g.')
  if (!/^[1-9]\d{0,4}$/.test(seconds)) throw new UsageError('--clone-seconds must be a whole number of at most 99999.')
  const chosen = named?.split(',').filter((host) => host !== '') ?? hosts
  return { hosts: chosen, maxBytes, seconds: Number(seconds) }
}

/** False: the agent does not clone from there. */
export function isPermitted(url: string, { hosts }: Pick<CloneOptions, 'hosts'>): boolean {
  if (repositoryProblem(url) !== null) return false
  const { protocol, host, pathname } = new URL(url)
  if (protocol === 'http:') return hosts.includes(`http://${host}`)
  if (protocol === 'https:')
    return hosts.some((one) => one === '*' || one === host || (one.startsWith('*.') && host.endsWith(one.slice(1))))
  const path = folderOf(pathname)
  return path !== null && hosts.some((one) => one.startsWith('file://') && isBelow(path, new URL(one).pathname))
}

const isBelow = (path: string, above: string): boolean => {
  const folder = folderOf(above)
  return folder !== null && path.startsWith(folder)
}

/** The path that Git opens, which undoes escapes, as a folder. Null: there is none. */
function folderOf(pathname: string): string | null {
  try {
    return normalize(`${decodeURIComponent(pathname)}/`)
  } catch {
    return null
  }
}
