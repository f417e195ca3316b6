import { removeTree } from '../../../../agents/files/remove-tree.ts'
import type { CloneOptions } from '../../../../agents/git/clone-options.ts'
import { ClientError } from '../../../../client/index.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { ArtifactProblem } from '../artifacts/artifact-problem.ts'
import { ActiveWatches } from '../runtime/active-watches.ts'
import {
  GRACE_MS,
  type KnownWorkload,
  type Left,
  type Runtime,
  type RuntimeOptions,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import { tellingCommit } from '../runtime/telling-commit.ts'
import { isFileName } from '../runtime/workload-files.ts'
import { readLeft } from './artifact-files.ts'
import type { IsolationOptions } from './bubblewrap.ts'
import { askToEnd, endByForce, type Target } from './end-processes.ts'
import { prepare } from './prepare.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import { openStateFolder, type StateFolder } from './state-folder.ts'
import { openSupervisor, type Supervisor } from './supervisor-client.ts'
import { watchWorkload } from './watch-workload.ts'
import type { WorkloadFolder } from './workload-folder.ts'
import { WorkloadProcesses } from './workload-processes.ts'

export interface ProcessRuntimeOptions extends RuntimeOptions {
  /** The state folder; created, private to this user, when it is missing. */
  readonly state: string
  /** The API's URL, for workloads. */
  readonly url: string
  /** The environment of which workloads get an allow-listed part. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null: workloads are trusted, and have the rights of this process's user. */
  readonly isolation: IsolationOptions | null
  readonly clone: CloneOptions
}

const SWEEP_MS = 3_600_000
/** An ended workload whose REMOVE has not come by then is removed by the sweep. */
const FORGOTTEN_MS = 86_400_000

/**
 * The runtime of this machine: each workload is a process group with a working folder of its own. A supervisor that outlives
 * this process is the parent of all. It owns its state folder; disposing it releases the folder and leaves all workloads running.
 * @throws FolderInUse
 * @throws NotIsolated
 */
export async function openProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  await using opening = new AsyncDisposableStack()
  const state = opening.use(await openStateFolder(options.state))
  const { isolation, url } = options
  const supervisor = opening.use(await openSupervisor(state.path))
  const sandbox = isolation && opening.use(await openSandbox({ ...isolation, folder: state.sandbox, url }))
  const runtime = new ProcessRuntime(options, { state, supervisor, sandbox }, opening.move())
  await runtime.sweep()
  return runtime
}

interface Place {
  readonly state: StateFolder
  readonly supervisor: Supervisor
  readonly sandbox: Sandbox | null
}

class ProcessRuntime implements Runtime {
  readonly instance: string
  readonly #options: ProcessRuntimeOptions
  readonly #state: StateFolder
  readonly #supervisor: Supervisor
  readonly #sandbox: Sandbox | null
  readonly #owned: AsyncDisposableStack
  readonly #processes = new WorkloadProcesses()
  /** A second stop of a workload joins the one that runs. */
  readonly #stopping = new Map<string, Promise<void>>()
  /** Workloads that this very process has started or adopted. */
  readonly #own = new Set<string>()
  readonly #watches = new ActiveWatches()
  readonly #sweeper: NodeJS.Timeout

  constructor(options: ProcessRuntimeOptions, { state, supervisor, sandbox }: Place, owned: AsyncDisposableStack) {
    this.#options = options
    this.#state = state
    this.#supervisor = supervisor
    this.#sandbox = sandbox
    this.instance = state.instance
    this.#owned = owned
    this.#sweeper = setInterval(() => void this.sweep().catch(() => {}), SWEEP_MS)
    this.#sweeper.unref()
  }

  async list(): Promise<readonly KnownWorkload[]> {
    const known: KnownWorkload[] = []
    for (const id of await this.#state.ids()) {
      const folder = this.#state.workload(id)
      const state = folder.readState()
      if (state && folder.hasStarted()) known.push({ id, receipt: state.receipt })
      // It never ran, so that its START comes again; or its state cannot be read.
      else await this.#discard(id, folder)
    }
    return known
  }

  async start(workload: Workload, receipt: string, signal = new AbortController().signal): Promise<void> {
    const { id, workspace, workerId } = workload
    if (![id, workspace ?? id].every(isFileName)) throw new StartProblem('Its id cannot be the name of a folder.')
    const folder = this.#state.workload(id)
    await this.#create(id, folder)
    const workingFolder = workspace === null ? folder.ownWorkingFolder : this.#state.workspace(workspace)
    const { url, env: ownEnv, clone } = this.#options
    const sandbox = this.#sandbox
    try {
      const state = { receipt, workspace, workerId, isolated: sandbox !== null }
      folder.writeState({ ...state, commit: null })
      const options = { folder, workingFolder, url, ownEnv, sandbox, clone, signal }
      const { commit, ...prepared } = await prepare(workload, options)
      if (commit !== null) folder.writeState({ ...state, commit })
      this.#own.add(id)
      await this.#supervisor.start({ id, folder: folder.path, ...prepared })
    } catch (error) {
      await this.#discard(id, folder)
      signal.throwIfAborted()
      if (error instanceof StartProblem || error instanceof ArtifactProblem || error instanceof ClientError) throw error
      throw new StartProblem(`It could not be started: ${codeOf(error)}.`)
    }
  }

  async #create(id: string, folder: WorkloadFolder): Promise<void> {
    if (folder.create()) return
    // Only a start that broke off before the workload ran leaves a folder without a state.
    if (folder.readState() !== null) throw new Error(`The workload ${id} exists already.`)
    await folder.remove()
    folder.create()
  }

  async updateReceipt(id: string, receipt: string): Promise<boolean> {
    if (!isFileName(id)) return false
    const folder = this.#state.workload(id)
    const state = folder.readState()
    if (!state) return false
    folder.writeState({ ...state, receipt })
    return true
  }

  watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    const folder = this.#state.workload(id)
    const options = {
      id,
      folder,
      supervisor: this.#supervisor,
      limits: this.#options.output,
      onAlive: () => this.#adopt(id, folder, watcher),
      target: () => this.#target(id),
      isStopping: () => this.#stopping.has(id),
    }
    return this.#watches.begin(id, async () => {
      const commit = folder.readState()?.commit ?? null
      const end = await tellingCommit(commit, watcher, (telling) => watchWorkload(options, telling))
      if (end) await this.#sandbox?.closeApi(folder)
      return end
    })
  }

  async #adopt(id: string, folder: WorkloadFolder, { onLine }: Watcher): Promise<void> {
    if (!this.#own.has(id)) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
    this.#own.add(id)
    await this.#sandbox?.reopenApi(folder)
  }

  async stop(id: string): Promise<void> {
    if (!isFileName(id)) return
    const stopping = this.#stopping.get(id) ?? this.#stop(id).finally(() => this.#stopping.delete(id))
    this.#stopping.set(id, stopping)
    await stopping
  }

  async #stop(id: string): Promise<void> {
    const folder = this.#state.workload(id)
    const state = folder.readState()
    if (state === null || folder.readEnd() !== null) return
    if (folder.hasStarted()) {
      const target = this.#target(id)
      await askToEnd(target, {
        isolated: state.isolated,
        graceMs: this.#options.graceMs ?? GRACE_MS,
        hasEnded: () => folder.readExitCode() !== null,
      })
      await endByForce(target)
      await this.#supervisor.exited(id)
      await this.#watches.ended(id)
    }
    if (!folder.readEnd()) folder.writeEnd({ at: Date.now(), end: { how: 'STOPPED' } })
  }

  async readLeft(id: string, path: string): Promise<Left | null> {
    const folder = this.#state.workload(id)
    const state = folder.readState()
    if (!state) return null
    return await readLeft(
      state.workspace === null ? folder.ownWorkingFolder : this.#state.workspace(state.workspace),
      path,
    )
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (!isFileName(id)) return
    await this.stop(id)
    const folder = this.#state.workload(id)
    const used = folder.readState()?.workspace ?? null
    await this.#forget(id, folder)
    this.#own.delete(id)
    if (workspace !== null && isFileName(workspace)) await removeTree(this.#state.workspace(workspace))
    // A job may have written there after its worker was removed.
    else if (used !== null && !(await this.#isInUse(used))) await removeTree(this.#state.workspace(used))
  }

  /** The worker of this workspace, or another job in it, is not removed yet. */
  async #isInUse(workspace: string): Promise<boolean> {
    for (const id of await this.#state.ids()) {
      const state = this.#state.workload(id).readState()
      if (state && (id === workspace || state.workspace === workspace)) return true
    }
    return false
  }

  /** Removes workloads that ended long ago without a REMOVE. */
  async sweep(): Promise<void> {
    for (const id of await this.#state.ids()) {
      const folder = this.#state.workload(id)
      const [state, ended] = [folder.readState(), folder.readEnd()]
      if (!state || !ended || Date.now() - ended.at < FORGOTTEN_MS) continue
      // One that cannot be removed now keeps neither others nor the runtime from their work: the next sweep tries again.
      await this.remove(id, state.workerId === id ? state.workspace : null).catch(() => {})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.#watches.allEnded()
    await this.#owned.disposeAsync()
  }

  /** Removes a workload that did not start, and kills processes that its supervisor has started all the same. */
  async #discard(id: string, folder: WorkloadFolder): Promise<void> {
    this.#own.delete(id)
    if (folder.hasStarted()) await endByForce(this.#target(id))
    await this.#forget(id, folder)
  }

  async #forget(id: string, folder: WorkloadFolder): Promise<void> {
    this.#supervisor.release(id)
    await this.#sandbox?.closeApi(folder)
    await folder.remove()
  }

  #target(id: string): Target {
    return { id, leader: this.#state.workload(id).readProcess(), processes: this.#processes }
  }
}
