import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { ContainerInfo } from 'dockerode'
import { Endings } from '../../../../agents/container/endings.ts'
import { Engine, hasRun, reasonOf, statusOf } from '../../../../agents/container/engine.ts'
import { ImageProblem, Images } from '../../../../agents/container/images.ts'
import { lockStateFolder } from '../../../../agents/files/lock-state-folder.ts'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import { ArtifactProblem } from '../artifacts/artifact-problem.ts'
import { archiveOfTaken, leftIn } from '../artifacts/folder-archive.ts'
import { ActiveWatches } from '../runtime/active-watches.ts'
import { cloneRepository } from '../runtime/clone.ts'
import { readPlaceName } from '../runtime/place-name.ts'
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
import { isFileName, partsOf } from '../runtime/workload-files.ts'
import {
  containerName,
  containerOf,
  OBJECT_LABEL,
  OWN_FOLDER,
  PLACE_LABEL,
  RECEIPT_LABEL,
  volumeName,
  WORKER_LABEL,
  WORKSPACE,
  workingFolderOf,
} from './container-of.ts'
import { InputFolders } from './input-folders.ts'
import type { ContainerOptions } from './options.ts'
import { Records } from './records.ts'
import { BESIDE_LABEL, besideServices, ContainerServices, SERVICE_LABEL } from './services.ts'
import { sweep } from './sweep.ts'
import { watchContainer } from './watch-container.ts'
import { archiveOf, type Cloned, ownerOf } from './workspace-archive.ts'

export interface ContainerRuntimeOptions extends RuntimeOptions, ContainerOptions {
  /** The state folder; created, private to this user, when it is missing. */
  readonly state: string
  /** The engine's events cannot be followed, or something was found that nobody owns and is removed. */
  onProblem?(error: Error): void
}

const CREATE_RETRIES = 8
const SWEEP_MS = 3_600_000

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
  opening.use(await lockStateFolder(state))
  const instance = await readPlaceName('container', join(state, 'instance'))
  const [records, inputs] = await Promise.all([
    Records.open(join(state, 'workloads')),
    InputFolders.open(instance, join(state, 'input')),
  ])
  const clones = join(state, 'clones')
  // A process that was killed has left some.
  await removeTree(clones)
  await mkdir(clones, { mode: 0o700 })
  const engine = new Engine(options.socket, `${PLACE_LABEL}=${instance}`)
  const endings = opening.use(new Endings(engine, OBJECT_LABEL, (error) => options.onProblem?.(error)))
  const images = new Images(engine.docker, options)
  const services = new ContainerServices({ engine, instance, inputs, images, options })
  const parts = { instance, records, inputs, clones, engine, images, services, endings }
  return new ContainerRuntime(options, parts, opening.move())
}

interface Parts {
  readonly instance: string
  readonly records: Records
  readonly inputs: InputFolders
  /** The folder of clones that their containers do not have yet. */
  readonly clones: string
  readonly engine: Engine
  readonly images: Images
  readonly services: ContainerServices
  readonly endings: Endings
}

class ContainerRuntime implements Runtime {
  readonly instance: string
  readonly #options: ContainerRuntimeOptions
  readonly #parts: Parts
  readonly #owned: AsyncDisposableStack
  /** Workloads that this very process has started or adopted. */
  readonly #own = new Set<string>()
  readonly #watches = new ActiveWatches()
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
    const found = await engine.list()
    const containers = new Map(found.map((one) => [one.Labels[OBJECT_LABEL] ?? '', one]))
    for (const [id, container] of containers) {
      // The state folder was lost.
      if (isFileName(id) && !records.get(id))
        await records.set(id, { ...recordOf(container), services: servicesOf(found, id) })
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
    const { records, images, services } = this.#parts
    const names = workload.services?.map(({ name }) => name) ?? []
    if (![id, workspace ?? id, workerId].every(isFileName))
      throw new StartProblem('Its id cannot be the name of a container.')
    if (records.get(id)) throw new Error(`The workload ${id} exists already.`)
    await records.set(id, { ...NEW, receipt, workspace, workerId, services: names })
    try {
      const { inputs, instance: place } = { ...this.#parts }
      const plan = { workload, place, receipt, inputFolder: inputs.path(id), options: this.#options }
      const container = containerOf(plan)
      const [cloned] = await untilSettled([
        this.#clone(workload, signal),
        images.provide(container.Image ?? '', signal),
        inputs.write(workload),
        services.provideImages(workload, signal),
      ])
      const hosts = await services.start(workload, signal)
      await this.#create(workload, besideServices(container, id, hosts), cloned)
      await services.join(workload)
      await this.#run(id)
    } catch (error) {
      if (await this.#settle(id)) return
      if (error instanceof ImageProblem) throw new StartProblem(error.message)
      if (error instanceof StartProblem || error instanceof ArtifactProblem || statusOf(error) === 0) throw error
      throw new StartProblem(`It could not be started: ${reasonOf(error)}`)
    } finally {
      await removeTree(this.#cloneFolder(id))
    }
  }

  #cloneFolder(id: string): string {
    return join(this.#parts.clones, id)
  }

  /** Clones the repository of a workload on this machine; null: it has none. */
  async #clone({ id, clone }: Workload, signal: AbortSignal): Promise<Cloned | null> {
    if (!clone) return null
    const { inputs, records } = this.#parts
    const path = clone.path === null ? null : partsOf(clone.path).join('/')
    const folder = this.#cloneFolder(id)
    const place = { folder, scratch: inputs.scratch(id), options: this.#options.clone, signal }
    await records.update(id, { commit: await cloneRepository(clone, place) })
    return { folder, path }
  }

  async #create(workload: Workload, container: ReturnType<typeof containerOf>, cloned: Cloned | null): Promise<void> {
    const { engine } = this.#parts
    const { user } = this.#options
    const { id, workspace, files, takes = [] } = workload
    // Before anything is created: a path may be wrong.
    const archive = files.length > 0 || cloned || user !== null ? archiveOf(workload, user, cloned) : null
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
    const at = { base: user === null ? '' : `${OWN_FOLDER}/`, owner: ownerOf(user) }
    for (const take of takes) await engine.unpack(containerName(id), WORKSPACE, Readable.from(archiveOfTaken(take, at)))
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

  watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    const { engine, endings, records, inputs } = this.#parts
    return this.#watches.begin(id, async () => {
      const masked = await inputs.masked(id)
      const { output: limits } = this.#options
      const onAlive = (): void => this.#adopt(id, watcher)
      const options = { id, engine, endings, records, limits, masked, onAlive }
      const commit = records.get(id)?.commit ?? null
      const end = await this.#withServices(id, watcher, () =>
        tellingCommit(commit, watcher, (telling) => watchContainer(options, telling)),
      )
      // The removal of the workload tries again.
      if (end) await this.#removeServices(id).catch(() => {})
      return end
    })
  }

  /** Tells of services that end before the workload does. */
  async #withServices<T>(id: string, { onLine, signal }: Watcher, watch: () => Promise<T>): Promise<T> {
    const { services, records } = this.#parts
    const ended = new AbortController()
    const names = records.get(id)?.services ?? []
    const watching = services.watch(id, names, { onLine, signal: AbortSignal.any([signal, ended.signal]) })
    try {
      return await watch()
    } finally {
      ended.abort()
      await watching
    }
  }

  #removeServices(id: string): Promise<void> {
    const { services, records } = this.#parts
    return services.remove(id, records.get(id)?.services ?? [])
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
    await this.#watches.ended(id)
  }

  async readLeft(id: string, path: string): Promise<Left | null> {
    const at = `${workingFolderOf(this.#options.user)}/${partsOf(path).join('/')}`
    const archive = await this.#parts.engine.pack(containerName(id), at)
    return archive && (await leftIn(archive as AsyncIterable<unknown> as AsyncIterable<Uint8Array>, path))
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (!isFileName(id)) return
    const { engine, records } = this.#parts
    await this.stop(id)
    await engine.remove(containerName(id), true)
    const used = records.get(id)?.workspace ?? null
    await this.#forget(id)
    for (const worker of new Set([workspace, used])) {
      // The last of those who used it removes it: the engine keeps a volume that is in use.
      if (worker !== null && isFileName(worker) && !records.get(worker)) await engine.removeVolume(volumeName(worker))
    }
  }

  #sweep(): Promise<void> {
    const { engine, records } = this.#parts
    const onFound = (message: string): void => this.#options.onProblem?.(new Error(message))
    return sweep({ engine, records, onFound, remove: (id, workspace) => this.remove(id, workspace) })
  }

  async #forget(id: string): Promise<void> {
    this.#own.delete(id)
    if (this.#parts.records.get(id)?.services.length) {
      await this.#removeServices(id)
      await this.#parts.services.removeNetwork(id)
    }
    await Promise.all([this.#parts.inputs.remove(id), this.#parts.records.delete(id)])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.#watches.allEnded()
    await this.#owned.disposeAsync()
  }
}

const NEW = { isStarted: false, isStopped: false, commit: null, read: { STDOUT: 0, STDERR: 0 } } as const

const servicesOf = (found: readonly ContainerInfo[], id: string): string[] =>
  found.flatMap(({ Labels }) => (Labels[BESIDE_LABEL] === id ? [Labels[SERVICE_LABEL] ?? ''] : []))

const recordOf = ({ Labels }: ContainerInfo) => ({
  ...NEW,
  receipt: Labels[RECEIPT_LABEL] ?? '',
  workspace: null,
  workerId: Labels[WORKER_LABEL] ?? '',
})
