import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findCommand } from './find-command.ts'
import { seccompFilter } from './seccomp.ts'
import { systemArguments, visibleThrough } from './system-folders.ts'

export interface IsolationOptions {
  /** `api`: nothing but the API. `host`: the network of the machine. */
  readonly network: 'api' | 'host'
  /** Absolute paths of further folders to read, e.g. with compilers. */
  readonly folders: readonly string[]
}

export interface Contents {
  /** Becomes /tmp. */
  readonly tmp: string
  readonly workingFolder: string
  readonly readOnly: readonly string[]
  /** Further arguments. */
  readonly more: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Why workloads cannot be isolated here. */
export class NotIsolated extends Error {
  override name = 'NotIsolated'
}

const PROBE_MS = 10_000
const SHARED_MEMORY_BYTES = String(64 * 1024 * 1024)
const USER = '1000'
const REASON_LENGTH = 500

/**
 * Arguments for a sandbox with namespaces of its own, without capabilities, which ends with its supervisor. Everything is
 * read-only except /tmp and the working folder: the owner of the files in /proc/sys is root, who could otherwise write them
 * from here, capabilities or not. Its first process is the program itself, since bubblewrap's own file, and its mode, could be reached through
 * that process's entry in /proc. Paths are those of the machine, so that a program finds the same in both levels.
 */
export function bubblewrapArguments({ network, folders }: IsolationOptions, contents: Contents): readonly string[] {
  const { tmp, workingFolder, readOnly, more, env } = contents
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', ...(network === 'host' ? ['--share-net'] : [])],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--as-pid-1', '--uid', USER, '--gid', USER],
    ...systemArguments(),
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', '--size', SHARED_MEMORY_BYTES, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--bind', tmp, '/tmp'],
    ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...['--bind', workingFolder, workingFolder],
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...more,
    ...['--remount-ro', '/', '--chdir', workingFolder],
    ...['--clearenv', ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])],
  ]
}

/**
 * The path of a bubblewrap that makes such a sandbox here, in which `hidden` is not seen.
 * @throws NotIsolated
 */
export async function requireBubblewrap(options: IsolationOptions, hidden: string): Promise<string> {
  const through = await visibleThrough(hidden, options.folders)
  if (through !== null)
    throw new NotIsolated(`workloads would see the files of the runtime in ${hidden} through ${through}`)
  const nothing = { tmp: '/usr', workingFolder: '/usr', readOnly: [], more: [], env: {} }
  const file = installed()
  const filter = seccompFilter(process.arch)
  const filtered = filter === null ? [] : ['--seccomp', '0']
  const args = [...bubblewrapArguments(options, nothing), ...filtered, '--', '/bin/sh', '-c', ':']
  try {
    const probe = promisify(execFile)(file, args, { timeout: PROBE_MS, cwd: '/', env: {} })
    probe.child.stdin?.on('error', () => {}).end(filter)
    await probe
    return file
  } catch (error) {
    throw new NotIsolated(`bubblewrap cannot make a sandbox here: ${reasonOf(error)}`)
  }
}

/** @throws NotIsolated */
function installed(): string {
  try {
    return findCommand('bwrap', { path: process.env.PATH ?? '', workingFolder: '/' })
  } catch {
    throw new NotIsolated('bubblewrap (bwrap) is not installed')
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
  return (said || error.message).slice(0, REASON_LENGTH)
}
