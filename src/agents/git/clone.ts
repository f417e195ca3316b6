import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { canonicalAddress } from '../../core/repository.ts'
import { Mask } from '../mask.ts'
import type { CloneOptions } from './clone-options.ts'
import { CLONE_SCRIPT } from './clone-script.ts'

/** A commit of a repository. */
export interface GitSource {
  readonly url: string
  /** Null: the default branch. */
  readonly ref: string | null
  /** Commits of history; 0: all. */
  readonly depth: number
  /** A token, or `user:password`; null: it is public. */
  readonly credentials: string | null
}

/** Why a repository cannot be cloned. The message holds no credentials. */
export class CloneProblem extends Error {
  override name = 'CloneProblem'
}

/** Variables of this process that decide how hosts are reached. */
const PASSED_ON = [
  ...['PATH', 'http_proxy', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY', 'all_proxy', 'ALL_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'],
] as const
/** The lines of Git that are kept of a clone that fails. */
const MAX_OUTPUT = 16_384
const MAX_REASON = 500
const DEFAULT_USER = 'x-access-token'

export interface ClonePlace {
  /** The folder that becomes the clone. */
  readonly folder: string
  /** A private folder for the credentials, which go when the clone is there. */
  readonly scratch: string
  readonly options: CloneOptions
  readonly signal: AbortSignal
  /** The digest of an earlier clone, or any other text. It is cloned only if the repository has changed its ref since. */
  readonly seen?: string
}
export interface Cloned {
  /** Null: the ref is as it was seen, and nothing is cloned. */
  readonly commit: string | null
  /** Empty unless `seen` was given. */
  readonly seen: string
}

/**
 * Clones a repository on this machine, whose address and ref are right. Nothing of the clone runs, and none of its processes outlives this one.
 * @throws CloneProblem
 */
export async function cloneRepository(
  source: GitSource,
  { folder, scratch, options, signal, seen = '' }: ClonePlace,
): Promise<Cloned> {
  const credentials = join(scratch, 'git-credentials')
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  try {
    await writeFile(credentials, credentialLine(source), { mode: 0o600 })
    const paths = { CLONE_FOLDER: folder, CLONE_CREDENTIALS: credentials }
    const env = { ...passedOn(), ...cloneEnv(source, options), ...paths, CLONE_SEEN: seen }
    const ran = await run(env, signal)
    const [commit = null, told = ''] = ['commit', 'seen'].map(
      (word) => new RegExp(`^${word} ([0-9a-f]+)$`, 'm').exec(ran.output)?.[1],
    )
    if (ran.code === 0 && (commit !== null || (seen !== '' && told === seen))) return { commit, seen: told }
    throw cloneProblem(source, ran.said)
  } finally {
    await rm(credentials, { force: true })
  }
}

/** The variables of the script, without its paths. */
export const cloneEnv = ({ url, ref, depth }: Omit<GitSource, 'credentials'>, { maxBytes, seconds }: CloneOptions) => ({
  CLONE_URL: canonicalAddress(url),
  CLONE_REF: ref ?? 'HEAD',
  CLONE_DEPTH: String(depth),
  CLONE_KIB: String(Math.ceil(maxBytes / 1024)),
  CLONE_SECONDS: String(seconds),
})

/** In the format of `git credential-store`, which finds it by protocol and host. Empty: the repository needs none. */
export function credentialLine({ url, credentials }: Pick<GitSource, 'url' | 'credentials'>): string {
  if (credentials === null) return ''
  const { user, password } = partsOf(credentials)
  const { protocol, host } = new URL(url)
  return `${protocol}//${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}\n`
}

function partsOf(credentials: string) {
  const given = credentials.trim()
  const colon = given.indexOf(':')
  return colon < 0
    ? { user: DEFAULT_USER, password: given }
    : { user: given.slice(0, colon), password: given.slice(colon + 1) }
}

const passedOn = (): Readonly<Record<string, string>> =>
  Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

interface Ran {
  readonly code: number | null
  readonly output: string
  /** The end of what it wrote to standard error. */
  readonly said: string
}

async function run(env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Ran> {
  signal.throwIfAborted()
  // A process group of its own, which ends as a whole. The last descriptor closes with this process.
  const child = spawn('/bin/sh', ['-c', CLONE_SCRIPT], {
    env: { ...env, CLONE_LIFELINE: '3' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const end = (): void => endGroup(child.pid)
  signal.addEventListener('abort', end, { once: true })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-MAX_OUTPUT)
  })
  try {
    const printed = child.stdout ? text(child.stdout) : ''
    const [code] = (await once(child, 'exit')) as [number | null]
    end()
    const output = await printed
    signal.throwIfAborted()
    return { code, output, said }
  } finally {
    signal.removeEventListener('abort', end)
    end()
    child.stdio[3]?.destroy()
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

const LIMITS: Readonly<Record<string, string>> = {
  NO_GIT: 'there is no git where it is cloned',
  NO_COMMIT: 'its ref is no commit',
  TOO_LARGE: 'it is larger than permitted (--clone-size)',
  TOO_SLOW: 'it took longer than permitted (--clone-seconds)',
}
/** The first that matches, since Git says its reason in several lines. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/File size limit exceeded|signal 25|unable to mmap|out of memory|malloc failed/i, LIMITS.TOO_LARGE ?? ''],
  [/couldn't find remote ref|not our ref|unadvertised object|no such remote ref/i, 'it has no such ref'],
  [/unable to update url base from redirection|error: 30\d\b/i, 'its address redirects: name the new one'],
  [
    /Authentication failed|could not read (Username|Password)|error: (401|403)\b|Access denied/i,
    'its credentials are wrong or missing',
  ],
  [
    /repository .*not found|does not appear to be a git repository|does not exist|error: 404\b/i,
    'there is no such repository, or its credentials may not read it',
  ],
]

/** The reason for people, from the output of Git. It holds no credentials. */
export function cloneProblem({ url, ref, credentials }: Omit<GitSource, 'depth'>, output: string): CloneProblem {
  const [, limit = ''] = /^clone: (\w+)$/m.exec(output) ?? []
  const known = LIMITS[limit] ?? REASONS.find(([pattern]) => pattern.test(output))?.[1]
  const mask = new Mask(credentials === null ? [] : [credentials, partsOf(credentials).password])
  const reason = known ?? mask.apply(lastLine(output), false)
  return new CloneProblem(`${url} could not be cloned at ${ref ?? 'its default branch'}: ${reason}.`)
}

/** Without what a server has put into it to draw on a terminal. */
function lastLine(output: string): string {
  const lines = output.split('\n').filter((line) => /^(fatal|error|warning): /.test(line))
  const last = lines.at(-1) ?? output.trim().split('\n').at(-1) ?? ''
  return last.replace(/\p{Cc}/gu, ' ').slice(0, MAX_REASON) || 'git has said nothing'
}
