import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { lockFolder } from '../../process/folder-lock.ts'
import { isAlive, type ProcessId } from '../../process/identity.ts'
import {
  type KnownWorkload,
  type Runtime,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import { askToEnd, endByForce, endGroup, type Target } from './end-processes.ts'
import { Mask } from './mask.ts'
import { Members } from './members.ts'
import { OUTPUT_LIMITS, Output, type OutputLimits } from './output.ts'
import { openPipes } from './pipes.ts'
import { prepare } from './prepare.ts'
import { removeTree } from './remove-tree.ts'
import { codeOf, SHIM, startShim } from './shim.ts'
import { stateLock } from './state-lock.ts'
import { WorkloadFolder } from './workload-folder.ts'

export interface ProcessRuntimeOptions {
  /** The folder of all that it keeps; made if it is not there, for nobody else to read. */
  readonly state: string
  /** The API's, for workloads. */
  readonly url: string
  /** The environment of which workloads see an allow-listed part. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** From SIGTERM to SIGKILL, in milliseconds; 10,000 by default. */
  readonly graceMs?: number | undefined
  readonly output?: OutputLimits | undefined
}

const GRACE_MS = 10_000
const SWEEP_MS = 3_600_000
/** Whoever should have had a workload removed by then has forgotten it. */
const FORGOTTEN_MS = 86_400_000
/** Ids are names of folders. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
/** A shell says 128 and the signal's number: a program that exits so by itself counts as ended by that signal. */
const SIGNALLED = 128
const SIGNALS = new Map<number, string>(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/**
 * The runtime of this machine: each workload is a process group with a working folder of its own, led by a shim (see
 * SHIM). It owns its state folder; disposing it lets go of the folder and of no workload.
 * @throws FolderInUse
 */
export async function openProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const state = resolve(options.state)
  for (const folder of [state, join(state, 'workloads'), join(state, 'workspaces')]) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
  }
  await using starting = new AsyncDisposableStack()
  starting.use(await lockFolder(stateLock(state)))
  const instance = await instanceOf(state)
  // Replaced, never changed: a shell reads its script while it runs.
  await writeWhole(join(state, 'shim.sh'), SHIM)
  const runtime = new ProcessRuntime({ ...options, state }, instance, starting.move())
  await runtime.sweep()
  return runtime
}

class ProcessRuntime implements Runtime {
  readonly instance: string
  readonly #options: ProcessRuntimeOptions
  readonly #owned: AsyncDisposableStack
  readonly #members = new Members()
  /** Whoever stops one that is being stopped waits for that. */
  readonly #stopping = new Map<string, Promise<void>>()
  /** Started or adopted by this very process. */
  readonly #own = new Set<string>()
  readonly #watching = new Map<string, Promise<unknown>>()
  readonly #sweeper: NodeJS.Timeout

  constructor(options: ProcessRuntimeOptions, instance: string, owned: AsyncDisposableStack) {
    this.#options = options
    this.instance = instance
    this.#owned = owned
    this.#sweeper = setInterval(() => void this.sweep().catch(() => {}), SWEEP_MS)
    this.#sweeper.unref()
  }

  async list(): Promise<readonly KnownWorkload[]> {
    const known: KnownWorkload[] = []
    for (const id of await this.#ids()) {
      const folder = this.#folder(id)
      const state = await folder.readState()
      const started = !(await folder.forbidStart())
      if (started && state) known.push({ id, receipt: state.receipt })
      // It never ran, and whoever wants it asks again; or nobody can tell any more what it is.
      else await this.#discard(id, folder)
    }
    return known
  }

  async start(workload: Workload, receipt: string): Promise<void> {
    const { id, workspace, workerId } = workload
    if (![id, workspace ?? id].every((name) => ID.test(name))) throw new StartProblem('Its id cannot be used.')
    const { state, url, env: ownEnv } = this.#options
    const folder = this.#folder(id)
    const workingFolder = workspace === null ? folder.ownWorkingFolder : this.#workspace(workspace)
    if (!(await folder.create())) {
      // Only what broke off before anything could start has a folder without a state.
      if ((await folder.readState()) !== null) throw new Error(`${id} is here already`)
      await removeTree(folder.path)
      await folder.create()
    }
    try {
      const [prepared] = await Promise.all([
        prepare(workload, { folder, workingFolder, url, ownEnv }),
        folder.writeState({ receipt, workspace, workerId }),
      ])
      this.#own.add(id)
      await startShim({
        ...prepared,
        script: join(state, 'shim.sh'),
        folder: folder.path,
        giveUp: () => folder.forbidStart(),
      })
    } catch (error) {
      await this.#discard(id, folder)
      if (error instanceof StartProblem) throw error
      throw new StartProblem(`It could not be started: ${codeOf(error)}.`)
    }
  }

  async keep(id: string, receipt: string): Promise<boolean> {
    if (!ID.test(id)) return false
    const folder = this.#folder(id)
    const state = await folder.readState()
    if (!state) return false
    await folder.writeState({ ...state, receipt })
    return true
  }

  async watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    if (this.#watching.has(id)) throw new Error(`${id} is watched already`)
    const watching = this.#watch(id, watcher)
    this.#watching.set(id, watching)
    try {
      return await watching
    } finally {
      this.#watching.delete(id)
    }
  }

  async #watch(id: string, { onLine, signal }: Watcher): Promise<WorkloadEnd | null> {
    if (signal.aborted) return null
    const folder = this.#folder(id)
    const recorded = await folder.readEnd()
    if (recorded) return recorded.end
    const shim = await folder.readProcess()
    if (!shim) return { how: 'GONE' }
    const limits = this.#options.output ?? OUTPUT_LIMITS
    const mask = new Mask(await folder.readMasked())
    const output = new Output({ limits, mask, onLine, now: () => performance.now() })
    let told: number | null = null
    if (await isAlive(shim)) {
      if (!this.#own.has(id)) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
      this.#own.add(id)
      const pipes = await openPipes({
        path: (name) => folder.file(name),
        onOutput: (stream, chunk) => output.write(stream, chunk),
      })
      try {
        // It may have told its end before anybody listened.
        const ended = (await folder.readExitCode()) ?? (await orAborted(pipes.exited, signal))
        if (ended === ABORTED) return null
        told = ended
        await endGroup(shim)
        await pipes.drain()
        await endByForce(this.#target(id, shim))
      } finally {
        pipes.close()
        output.end()
      }
    } else await endByForce(this.#target(id, shim))
    const end = this.#judge(id, (await folder.readExitCode()) ?? told)
    if (end.how === 'GONE') onLine('SYSTEM', 'Its process was ended from outside.')
    await folder.writeEnd({ at: Date.now(), end })
    return end
  }

  #judge(id: string, code: number | null): WorkloadEnd {
    if (this.#stopping.has(id)) return { how: 'STOPPED' }
    if (code === null) return { how: 'GONE' }
    const signal = SIGNALS.get(code - SIGNALLED)
    return signal === undefined
      ? { how: 'EXITED', exitCode: code, signal: null }
      : { how: 'EXITED', exitCode: null, signal }
  }

  async stop(id: string): Promise<void> {
    if (!ID.test(id)) return
    const stopping = this.#stopping.get(id) ?? this.#stop(id).finally(() => this.#stopping.delete(id))
    this.#stopping.set(id, stopping)
    await stopping
  }

  async #stop(id: string): Promise<void> {
    const folder = this.#folder(id)
    if ((await folder.readState()) === null || (await folder.readEnd()) !== null) return
    if (!(await folder.forbidStart())) {
      const target = this.#target(id, await folder.readProcess())
      await askToEnd(target, this.#options.graceMs ?? GRACE_MS, async () => (await folder.readExitCode()) !== null)
      await endByForce(target)
      await this.#watching.get(id)?.catch(() => {})
    }
    if (!(await folder.readEnd())) await folder.writeEnd({ at: Date.now(), end: { how: 'STOPPED' } })
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (!ID.test(id)) return
    await this.stop(id)
    await removeTree(this.#folder(id).path)
    this.#own.delete(id)
    if (workspace !== null && ID.test(workspace)) await removeTree(this.#workspace(workspace))
  }

  /** Removes workloads that ended long ago and were never asked to be removed. */
  async sweep(): Promise<void> {
    for (const id of await this.#ids()) {
      const folder = this.#folder(id)
      const [state, ended] = await Promise.all([folder.readState(), folder.readEnd()])
      if (!state || !ended || Date.now() - ended.at < FORGOTTEN_MS) continue
      await this.remove(id, state.workerId === id ? state.workspace : null)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.allSettled(this.#watching.values())
    await this.#owned.disposeAsync()
  }

  async #ids(): Promise<readonly string[]> {
    const names = await readdir(join(this.#options.state, 'workloads'))
    return names.filter((name) => ID.test(name))
  }

  /** Of one that did not start. If its shell has come so far all the same, what it has started is ended. */
  async #discard(id: string, folder: WorkloadFolder): Promise<void> {
    this.#own.delete(id)
    const shim = await folder.readProcess()
    if (shim) await endByForce(this.#target(id, shim))
    await removeTree(folder.path)
  }

  #target(id: string, shim: ProcessId | null): Target {
    return { id, shim, members: this.#members }
  }
  #folder(id: string): WorkloadFolder {
    return new WorkloadFolder(join(this.#options.state, 'workloads', id))
  }
  #workspace(id: string): string {
    return join(this.#options.state, 'workspaces', id)
  }
}

const ABORTED = Symbol('aborted')
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const aborted = Promise.withResolvers<typeof ABORTED>()
  const abort = (): void => aborted.resolve(ABORTED)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return signal.aborted ? ABORTED : await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Generated once for each state folder. */
async function instanceOf(state: string): Promise<string> {
  const file = join(state, 'instance')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known) return known
  const made = `process-${randomBytes(9).toString('hex')}`
  await writeWhole(file, `${made}\n`)
  return made
}

async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.tmp`, text, { mode: 0o600 })
  await rename(`${file}.tmp`, file)
}
