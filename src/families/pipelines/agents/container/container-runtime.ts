import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ContainerInfo } from 'dockerode'
import { Endings } from '../../../../agents/container/endings.ts'
import { Engine, hasRun, reasonOf, statusOf } from '../../../../agents/container/engine.ts'
import { ImageProblem, Images } from '../../../../agents/container/images.ts'
import { lockState } from '../../../../agents/files/lock-state.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import { OUTPUT_LIMITS, type OutputLimits } from '../runtime/output.ts'
import { readPlaceName } from '../runtime/place-name.ts'
import {
  type KnownWorkload,
  type Runtime,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import {
  containerName,
  containerOf,
  OBJECT_LABEL,
  PLACE_LABEL,
  RECEIPT_LABEL,
  volumeName,
  WORKER_LABEL,
  WORKSPACE,
} from './container-of.ts'
import { InputFolders } from './input-folders.ts'
import type { ContainerOptions } from './options.ts'
import { Records } from './records.ts'
import { sweep } from './sweep.ts'
import { watchContainer } from './watch-container.ts'
import { archiveOf } from './workspace-files.ts'

export interface ContainerRuntimeOptions extends ContainerOptions {
  /** The state folder; created, private to this user, when it is missing. */
  readonly state: string
  /** Milliseconds from SIGTERM to SIGKILL, in whole seconds; 10,000 by default. */
  readonly graceMs?: number | undefined
  readonly output?: OutputLimits | undefined
  /** The engine's events cannot be followed, or something was found that nobody owns and is removed. */
  onProblem?(error: Error): void
}

const GRACE_MS = 10_000
const CREATE_RETRIES = 8
const SWEEP_MS = 3_600_000
/** Ids are names of containers and of files. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

/**
 * The runtime of a Docker Engine or Podman on this machine: each workload is a container. The engine keeps the containers;
 * the state folder has what it cannot keep: receipts and how far output was read. Disposing releases the folder, and leaves
 * all containers running.
 * @throws FolderInUse, UnsafeFolder
 */
export async function openContainerRuntime(options: ContainerRuntimeOptions): Promise<Runtime> {
  await using opening = new AsyncDisposableStack()
  const state = resolve(options.state)
  await mkdir(state, { recursive: true, mode: 0o700 })
  opening.use(await lockState(state))
  const instance = await readPlaceName('container', join(state, 'instance'))
  const [records, inputs] = await Promise.all([
    Records.open(join(state, 'workloads')),
    InputFolders.open(instance, join(state, 'input')),
  ])
  const engine = new Engine(options.socket, `${PLACE_LABEL}=${instance}`)
  const endings = opening.use(new Endings(engine, OBJECT_LABEL, (error) => options.onProblem?.(error)))
  const images = new Images(engine.docker, options)
  return new ContainerRuntime(options, { instance, records, inputs, engine, images, endings }, opening.move())
}

interface Parts {
  readonly instance: string
  readonly records: Records
  readonly inputs: InputFolders
  readonly engine: Engine
  readonly images: Images
  readonly endings: Endings
}

class ContainerRuntime implements Runtime {
  readonly instance: string
  readonly #options: ContainerRuntimeOptions
  readonly #parts: Parts
  readonly #owned: AsyncDisposableStack
  /** Workloads that this very process has started or adopted. */
  readonly #own = new Set<string>()
  readonly #watching = new Map<string, Promise<WorkloadEnd | null>>()
  readonly #sweeper: NodeJS.Timeout

  constructor(options: ContainerRuntimeOptions, parts: Parts, owned: AsyncDisposableStack) {
    this.instance = parts.instance
    this.#options = options
    this.#parts = parts
    this.#owned = owned
    this.#sweeper = setInterval(() => void this.#sweep().catch(() => {}), SWEEP_MS)
    this.#sweeper.unref()
  }

  async list(): Promise<readonly KnownWorkload[]> {
    const { engine, records } = this.#parts
    const containers = new Map((await engine.list()).map((found) => [found.Labels[OBJECT_LABEL] ?? '', found]))
    for (const [id, container] of containers) {
      // The state folder was lost.
      if (ID.test(id) && !records.get(id)) await records.set(id, recordOf(container))
    }
    for (const id of records.ids) await this.#settle(id)
    await this.#sweep()
    return records.ids.flatMap((id) => {
      const record = records.get(id)
      return record ? [{ id, receipt: record.receipt }] : []
    })
  }

  async start(workload: Workload, receipt: string, signal = new AbortController().signal): Promise<void> {
    const { id, workspace, workerId } = workload
    const { records, images } = this.#parts
    if (![id, workspace ?? id, workerId].every((one) => ID.test(one)))
      throw new StartProblem('Its id cannot be the name of a container.')
    if (records.get(id)) throw new Error(`The workload ${id} exists already.`)
    const state = { isStarted: false, isStopped: false, read: { STDOUT: 0, STDERR: 0 } }
    await records.set(id, { receipt, workspace, workerId, ...state })
    try {
      const { inputs, instance: place } = { ...this.#parts }
      const plan = { workload, place, receipt, inputFolder: inputs.path(id), options: this.#options }
      const container = containerOf(plan)
      const files = workload.files.length > 0 || this.#options.user !== null ? workload.files : null
      const [archive] = await untilSettled([
        files && archiveOf(files, this.#options.user),
        images.provide(container.Image ?? '', signal),
        inputs.write(workload),
      ])
      await this.#create(workload, container, archive)
      await this.#run(id)
    } catch (error) {
      if (await this.#settle(id)) return
      if (error instanceof ImageProblem) throw new StartProblem(error.message)
      if (error instanceof StartProblem || statusOf(error) === 0) throw error
      throw new StartProblem(`It could not be started: ${reasonOf(error)}`)
    }
  }

  async #create(
    { id, workspace }: Workload,
    container: ReturnType<typeof containerOf>,
    archive: Buffer | null,
  ): Promise<void> {
    const { engine } = this.#parts
    if (workspace !== null) await this.#createVolume(workspace)
    for (let failures = 0; (await engine.create(container)) === null; failures += 1) {
      // A process that was killed has left it, or the engine still creates it for that one: nobody will start it.
      const found = await engine.inspect(containerName(id))
      if (found && hasRun(found)) throw new Error(`The workload ${id} runs already.`)
      if (found) await engine.remove(containerName(id), false)
      if (failures === CREATE_RETRIES) throw new Error(`The engine keeps the name of the container of ${id}.`)
      await pause(retryDelay(failures))
    }
    if (archive) await engine.unpack(containerName(id), WORKSPACE, archive)
  }

  #createVolume(workerId: string): Promise<unknown> {
    const { engine, instance } = this.#parts
    return engine.createVolume(volumeName(workerId), { [PLACE_LABEL]: instance, [WORKER_LABEL]: workerId })
  }

  async #run(id: string): Promise<void> {
    await this.#parts.engine.start(containerName(id))
    this.#own.add(id)
    await this.#parts.records.update(id, { isStarted: true })
  }

  /**
   * Returns true if an interrupted start has started its container; otherwise removes everything left of it. The engine
   * may still execute the request of a killed process first: a running container is not removed here.
   */
  async #settle(id: string): Promise<boolean> {
    const { engine, records } = this.#parts
    if (records.get(id)?.isStarted) return true
    const found = await engine.inspect(containerName(id))
    if (found && hasRun(found)) {
      await records.update(id, { isStarted: true })
      return true
    }
    if (found) await engine.remove(containerName(id), false)
    await this.#forget(id)
    return false
  }

  async updateReceipt(id: string, receipt: string): Promise<boolean> {
    const { records } = this.#parts
    if (!records.get(id) || !(await this.#settle(id))) return false
    await records.update(id, { receipt })
    return true
  }

  async watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    if (this.#watching.has(id)) throw new Error(`The workload ${id} is watched already.`)
    const { engine, endings, records, inputs } = this.#parts
    const watching = inputs.masked(id).then((masked) => {
      const limits = this.#options.output ?? OUTPUT_LIMITS
      const onAlive = (): void => this.#adopt(id, watcher)
      return watchContainer({ id, engine, endings, records, limits, masked, onAlive }, watcher)
    })
    this.#watching.set(id, watching)
    try {
      return await watching
    } finally {
      this.#watching.delete(id)
    }
  }

  #adopt(id: string, { onLine }: Watcher): void {
    if (!this.#own.has(id)) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
    this.#own.add(id)
  }

  async stop(id: string): Promise<void> {
    const { engine, records } = this.#parts
    if (!records.get(id) || !(await this.#settle(id))) return
    const found = await engine.inspect(containerName(id))
    if (!found?.State.Running) return
    await records.update(id, { isStopped: true })
    await engine.stop(containerName(id), this.#options.graceMs ?? GRACE_MS)
    await this.#watching.get(id)?.catch(() => {})
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (!ID.test(id)) return
    const { engine, records } = this.#parts
    await this.stop(id)
    await engine.remove(containerName(id), true)
    const used = records.get(id)?.workspace ?? null
    await this.#forget(id)
    for (const worker of new Set([workspace, used])) {
      // The last of those who used it removes it: the engine keeps a volume that is in use.
      if (worker !== null && ID.test(worker) && !records.get(worker)) await engine.removeVolume(volumeName(worker))
    }
  }

  #sweep(): Promise<void> {
    const { engine, records } = this.#parts
    const onFound = (message: string): void => this.#options.onProblem?.(new Error(message))
    return sweep({ engine, records, onFound, remove: (id, workspace) => this.remove(id, workspace) })
  }

  async #forget(id: string): Promise<void> {
    this.#own.delete(id)
    await Promise.all([this.#parts.inputs.remove(id), this.#parts.records.delete(id)])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.allSettled(this.#watching.values())
    await this.#owned.disposeAsync()
  }
}

const recordOf = ({ Labels }: ContainerInfo) => ({
  receipt: Labels[RECEIPT_LABEL] ?? '',
  workspace: null,
  workerId: Labels[WORKER_LABEL] ?? '',
  isStarted: false,
  isStopped: false,
  read: { STDOUT: 0, STDERR: 0 },
})
