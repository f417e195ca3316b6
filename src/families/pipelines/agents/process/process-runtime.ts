import { removeTree } from '../../../../agents/files/remove-tree.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { OUTPUT_LIMITS, type OutputLimits } from '../runtime/output.ts'
import {
  type KnownWorkload,
  type Runtime,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import type { IsolationOptions } from './bubblewrap.ts'
import { askToEnd, endByForce, type Target } from './end-processes.ts'
import { Members } from './members.ts'
import { prepare } from './prepare.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import { isId, openStateFolder, type StateFolder } from './state-folder.ts'
import { openSupervisor, type Supervisor } from './supervisor-client.ts'
import { watchWorkload } from './watch-workload.ts'
import type { WorkloadFolder } from './workload-folder.ts'

export interface ProcessRuntimeOptions {
  /** The state folder; created, private to this user, when it is missing. */
  readonly state: string
  /** The API's URL, for workloads. */
  readonly url: string
  /** The environment of which workloads get an allow-listed part. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds from SIGTERM to SIGKILL; 10,000 by default. */
  readonly graceMs?: number | undefined
  readonly output?: OutputLimits | undefined
  /** Null: workloads are trusted, and have the rights of this process's user. */
  readonly isolation: IsolationOptions | null
}

const GRACE_MS = 10_000
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
  readonly #members = new Members()
  /** A second stop of a workload joins the one that runs. */
  readonly #stopping = new Map<string, Promise<void>>()
  /** Workloads that this very process has started or adopted. */
  readonly #own = new Set<string>()
  readonly #watching = new Map<string, Promise<unknown>>()
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
      const state = await folder.readState()
      if (state && (await folder.hasStarted())) known.push({ id, receipt: state.receipt })
      // It never ran, so that its START comes again; or its state cannot be read.
      else await this.#discard(id, folder)
    }
    return known
  }

  async start(workload: Workload, receipt: string): Promise<void> {
    const { id, workspace, workerId } = workload
    if (![id, workspace ?? id].every(isId)) throw new StartProblem('Its id cannot be the name of a folder.')
    const folder = this.#state.workload(id)
    await this.#create(id, folder)
    const workingFolder = workspace === null ? folder.ownWorkingFolder : this.#state.workspace(workspace)
    const { url, env: ownEnv } = this.#options
    const sandbox = this.#sandbox
    try {
      const [prepared] = await Promise.all([
        prepare(workload, { folder, workingFolder, url, ownEnv, sandbox }),
        folder.writeState({ receipt, workspace, workerId, isolated: sandbox !== null }),
      ])
      this.#own.add(id)
      await this.#supervisor.start({ id, folder: folder.path, ...prepared })
    } catch (error) {
      await this.#discard(id, folder)
      if (error instanceof StartProblem) throw error
      throw new StartProblem(`It could not be started: ${codeOf(error)}.`)
    }
  }

  async #create(id: string, folder: WorkloadFolder): Promise<void> {
    if (await folder.create()) return
    // Only a start that broke off before the workload ran leaves a folder without a state.
    if ((await folder.readState()) !== null) throw new Error(`The workload ${id} exists already.`)
    await removeTree(folder.path)
    await folder.create()
  }

  async updateReceipt(id: string, receipt: string): Promise<boolean> {
    if (!isId(id)) return false
    const folder = this.#state.workload(id)
    const state = await folder.readState()
    if (!state) return false
    await folder.writeState({ ...state, receipt })
    return true
  }

  async watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    if (this.#watching.has(id)) throw new Error(`The workload ${id} is watched already.`)
    const folder = this.#state.workload(id)
    const watching = watchWorkload(
      {
        id,
        folder,
        supervisor: this.#supervisor,
        limits: this.#options.output ?? OUTPUT_LIMITS,
        onAlive: () => this.#adopt(id, folder, watcher),
        target: () => this.#target(id),
        isStopping: () => this.#stopping.has(id),
      },
      watcher,
    )
    this.#watching.set(id, watching)
    try {
      const end = await watching
      if (end) await this.#sandbox?.leave(folder)
      return end
    } finally {
      this.#watching.delete(id)
    }
  }

  async #adopt(id: string, folder: WorkloadFolder, { onLine }: Watcher): Promise<void> {
    if (!this.#own.has(id)) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
    this.#own.add(id)
    await this.#sandbox?.readmit(folder)
  }

  async stop(id: string): Promise<void> {
    if (!isId(id)) return
    const stopping = this.#stopping.get(id) ?? this.#stop(id).finally(() => this.#stopping.delete(id))
    this.#stopping.set(id, stopping)
    await stopping
  }

  async #stop(id: string): Promise<void> {
    const folder = this.#state.workload(id)
    const state = await folder.readState()
    if (state === null || (await folder.readEnd()) !== null) return
    if (await folder.hasStarted()) {
      const target = await this.#target(id)
      await askToEnd(target, {
        isolated: state.isolated,
        graceMs: this.#options.graceMs ?? GRACE_MS,
        hasEnded: async () => (await folder.readExitCode()) !== null,
      })
      await endByForce(target)
      await this.#supervisor.exited(id)
      await this.#watching.get(id)?.catch(() => {})
    }
    if (!(await folder.readEnd())) await folder.writeEnd({ at: Date.now(), end: { how: 'STOPPED' } })
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (!isId(id)) return
    await this.stop(id)
    await this.#forget(id, this.#state.workload(id))
    this.#own.delete(id)
    if (workspace !== null && isId(workspace)) await removeTree(this.#state.workspace(workspace))
  }

  /** Removes workloads that ended long ago without a REMOVE. */
  async sweep(): Promise<void> {
    for (const id of await this.#state.ids()) {
      const folder = this.#state.workload(id)
      const [state, ended] = await Promise.all([folder.readState(), folder.readEnd()])
      if (!state || !ended || Date.now() - ended.at < FORGOTTEN_MS) continue
      // One that cannot be removed now keeps neither others nor the runtime from their work: the next sweep tries again.
      await this.remove(id, state.workerId === id ? state.workspace : null).catch(() => {})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.allSettled(this.#watching.values())
    await this.#owned.disposeAsync()
  }

  /** Removes a workload that did not start, and kills processes that its supervisor has started all the same. */
  async #discard(id: string, folder: WorkloadFolder): Promise<void> {
    this.#own.delete(id)
    if (await folder.hasStarted()) await endByForce(await this.#target(id))
    await this.#forget(id, folder)
  }

  async #forget(id: string, folder: WorkloadFolder): Promise<void> {
    this.#supervisor.release(id)
    await this.#sandbox?.leave(folder)
    await removeTree(folder.path)
  }

  async #target(id: string): Promise<Target> {
    return { id, leader: await this.#state.workload(id).readProcess(), members: this.#members }
  }
}
