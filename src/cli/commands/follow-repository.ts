import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../agents/arguments.ts'
import { removeTree } from '../../agents/files/remove-tree.ts'
import { CloneProblem, cloneRepository } from '../../agents/git/clone.ts'
import { type CloneOptions, isPermitted, readCloneOptions } from '../../agents/git/clone-options.ts'
import { ClientError } from '../../client/client-error.ts'
import { pause } from '../../client/pause.ts'
import { backoffMs } from '../../core/backoff.ts'
import type { Cli } from '../cli.ts'
import { describeClientError } from '../connection.ts'
import {
  type CommitDocuments,
  type ReadOptions,
  readCommit,
  type SyncOptions,
  syncDocuments,
} from '../manifests/sync-documents.ts'
import { printRefusal } from '../objects/refusal.ts'
import { type SessionOptions, withSession } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { readInput } from '../terminal/read-input.ts'

const NOTHING = 'nothing'

export interface FollowOptions extends SessionOptions, Omit<SyncOptions, 'occasion' | 'stop'>, Partial<ReadOptions> {
  readonly repository: string
  readonly ref?: string
  readonly interval: number
  readonly heal: number
  readonly once?: boolean
  readonly env?: string
  readonly credentialsFile?: string
  readonly cloneHosts?: string
  readonly cloneSize: string
  readonly cloneSeconds: string
}

/**
 * Applies what a ref of a repository has, until the signal.
 * @throws UsageError
 */
export async function followRepository(cli: Cli, options: FollowOptions): Promise<ExitCode> {
  const { cloneHosts, cloneSize, cloneSeconds, repository } = options
  const given = { 'clone-hosts': cloneHosts, 'clone-size': cloneSize, 'clone-seconds': cloneSeconds }
  const clone = readCloneOptions(given, ['*'])
  if (!isPermitted(repository, clone))
    throw new UsageError(
      `--clone-hosts does not permit ${repository}: name it there, since only https:// is permitted otherwise.`,
    )
  await using follower = new Follower(cli, options, clone, await mkdtemp(join(tmpdir(), 'phaseline-git-sync-')))
  return await follower.run()
}

class Follower implements AsyncDisposable {
  readonly #cli: Cli
  readonly #options: FollowOptions
  readonly #clone: CloneOptions
  /** Holds a clone and its credentials until the clone is read. */
  readonly #folder: string
  #documents: CommitDocuments | null = null
  /** The digest of the ref in the repository. Nothing has this one. */
  #seen = NOTHING

  constructor(cli: Cli, options: FollowOptions, clone: CloneOptions, folder: string) {
    this.#cli = cli
    this.#options = options
    this.#clone = clone
    this.#folder = folder
  }

  /** Ends with the signal. While the repository is away, the last commit stays, and is healed. */
  async run(): Promise<ExitCode> {
    const { interval, heal, once = false, dryRun = false } = this.#options
    const { signal } = this.#cli.io
    const backoff = (failures: number): number =>
      backoffMs(failures, Math.random(), { baseMs: interval, capMs: Math.max(interval, heal) })
    let [applied, code, dueAt]: [string | null, ExitCode, number] = [null, EXIT.ok, 0]
    let [refusals, outages] = [0, 0]
    while (!signal.aborted) {
      const isDue = !dryRun && performance.now() >= dueAt
      // A refused file may need something outside of the repository, such as a url, so all files are read again.
      if (isDue && this.#documents?.refusals.length) this.#seen = NOTHING
      const isFetched = await this.#fetch()
      const documents = this.#documents
      if (signal.aborted) break
      const isNew = documents?.commit !== applied
      if (documents && (isNew || isDue)) {
        code = await this.#sync(documents, isNew ? 'COMMIT' : refusals > 0 ? 'RETRY' : 'HEAL')
        if (code !== EXIT.unavailable) {
          applied = documents.commit
          refusals = code === EXIT.ok ? 0 : refusals + 1
        }
        dueAt = performance.now() + (refusals > 0 ? backoff(refusals) : heal)
      }
      if (once) return isFetched ? code : EXIT.unavailable
      const isAway = !isFetched || code === EXIT.unavailable
      outages = isAway ? outages + 1 : 0
      // Otherwise the server is asked again no sooner than drift is looked for.
      if (code === EXIT.unavailable) dueAt = 0
      await pause(isAway ? backoff(outages) : interval, signal)
    }
    return EXIT.ok
  }

  /** False, and printed: the repository could not be read. */
  async #fetch(): Promise<boolean> {
    const { io } = this.#cli
    const { repository, ref = null, json = false, path = ['.'], ...options } = this.#options
    const folder = join(this.#folder, 'clone')
    try {
      const source = { url: repository, ref, depth: 1, credentials: await this.#credentials() }
      const place = { folder, scratch: join(this.#folder, 'scratch'), options: this.#clone, signal: io.signal }
      const { commit, seen } = await cloneRepository(source, { ...place, seen: this.#seen })
      this.#seen = seen
      // They are kept here, and no clone: whatever clears temporary files would have objects pruned.
      if (commit !== null)
        this.#documents = await readCommit(
          this.#documentIo(),
          await this.#cli.documentKinds(),
          { folder, commit },
          { ...options, path },
        )
      return true
    } catch (error) {
      if (io.signal.aborted) return false
      if (!(error instanceof CloneProblem)) throw error
      printRefusal({ code: 'CLONE_FAILED', message: error.message }, json, io.stdout, io.stderr)
      return false
    } finally {
      await removeTree(folder)
    }
  }

  /** Read anew for each clone, since they may be replaced. */
  async #credentials(): Promise<string | null> {
    const { env, stdin } = this.#cli.io
    const { credentialsFile = env.PHASELINE_GIT_CREDENTIALS_FILE } = this.#options
    if (!credentialsFile) return env.PHASELINE_GIT_CREDENTIALS || null
    const read = await readInput(credentialsFile, stdin)
    if (!read.ok) throw new CloneProblem(read.message)
    return read.text.trim()
  }

  async #sync(documents: CommitDocuments, occasion: SyncOptions['occasion']): Promise<ExitCode> {
    const { io } = this.#cli
    const { json = false, ...options } = this.#options
    // A request that is under way is finished: the signal ends it between two objects.
    const whole = { ...io, signal: new AbortController().signal }
    const kinds = await this.#cli.documentKinds()
    try {
      return await withSession(whole, this.#options, (session) =>
        syncDocuments(session, kinds, documents, { ...options, occasion, stop: io.signal }),
      )
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      const refusal = { code: error.kind.toUpperCase(), message: describeClientError(error) }
      printRefusal(refusal, json, io.stdout, io.stderr)
      return EXIT.unavailable
    }
  }

  /** Documents are written by others, who must not read this process's secrets. */
  #documentIo(): Cli['io'] {
    const { io } = this.#cli
    const named = (this.#options.env ?? '').split(',').filter((name) => name !== '')
    const env = Object.fromEntries(['PATH', ...named].map((name) => [name, io.env[name]]))
    return { ...io, env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'https' } }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#folder)
  }
}
