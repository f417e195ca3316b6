import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import Docker, {
  type ContainerCreateOptions,
  type ContainerInfo,
  type ContainerInspectInfo,
  type EndpointSettings,
  type VolumeInspectInfo,
} from 'dockerode'
import { asError } from '../../client/as-error.ts'
import { pause } from '../../client/pause.ts'

const CHECK_PAUSE_MS = 25
/** Otherwise the machine has an address in a network of Docker that is internal. */
const NO_GATEWAY = { 'com.docker.network.bridge.inhibit_ipv4': 'true' }

/** As the engines call it when a container has never run. */
export const NEVER_RAN: ReadonlySet<string> = new Set(['created', 'configured', 'initialized'])
export const hasRun = ({ State }: ContainerInspectInfo): boolean => !NEVER_RAN.has(State.Status)

/** The calls of the Docker Engine API that agents make. `container` is a container's name or its id. */
export class Engine {
  readonly docker: Docker
  readonly #label: string
  #isPodman: Promise<boolean> | null = null
  #lastCheck: Promise<unknown> = Promise.resolve()

  /** @param label `name` or `name=value`: what has it belongs to the agent */
  constructor(socketPath: string, label: string) {
    this.docker = new Docker({ socketPath })
    this.#label = label
  }

  /** All containers that have the label, whether they run or not. */
  list(label = this.#label): Promise<readonly ContainerInfo[]> {
    return this.docker.listContainers({ all: true, filters: { label: [label] } })
  }

  /** Null: there is none. */
  inspect(container: string): Promise<ContainerInspectInfo | null> {
    return unless([404], this.docker.getContainer(container).inspect())
  }

  /** Checks run one after the other with a pause between, so that many containers with output leave the engine time. */
  isRunning(container: string): Promise<boolean> {
    const checked = this.#lastCheck.then(() => this.inspect(container)).then((found) => found?.State.Running === true)
    this.#lastCheck = checked.catch(() => {}).then(() => pause(CHECK_PAUSE_MS))
    return checked
  }

  isPodman(): Promise<boolean> {
    this.#isPodman ??= this.#findPodman()
    return this.#isPodman
  }

  /** Its id. Null: there is a container of that name already, or about to be one. */
  async create(options: ContainerCreateOptions): Promise<string | null> {
    try {
      const { id } = await this.docker.createContainer(options)
      return id
    } catch (error) {
      // Podman answers with 500 while another request creates the container.
      if (statusOf(error) === 409 || /name.* already in use/.test(reasonOf(error))) return null
      throw error
    }
  }

  start(container: string): Promise<unknown> {
    return unless([304], this.docker.getContainer(container).start())
  }

  /** SIGTERM, and SIGKILL after the grace. Resolves when it has ended. */
  stop(container: string, graceMs: number): Promise<unknown> {
    return unless([304, 404], this.docker.getContainer(container).stop({ t: Math.ceil(graceMs / 1_000) }))
  }

  /** Resolves when a container does not run any more, or the signal aborts. */
  untilEnded(container: string, signal: AbortSignal): Promise<unknown> {
    return unless([404], this.docker.getContainer(container).wait({ abortSignal: signal }))
  }

  /** @param force also a running one; without it a running one is an error */
  remove(container: string, force: boolean): Promise<unknown> {
    return unless([404], this.docker.getContainer(container).remove({ v: true, force }))
  }

  /** Runs a command in a container that runs. Returns its exit code; null: it has not ended in time, and is left alone. */
  async execute(container: string, command: readonly string[], timeoutMs: number): Promise<number | null> {
    const execution = await this.docker
      .getContainer(container)
      .exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true })
    const output = await execution.start({})
    const late = setTimeout(() => output.destroy(), timeoutMs)
    // The output closes with the command.
    await finished(output.resume()).catch(() => {})
    clearTimeout(late)
    const { Running, ExitCode } = await execution.inspect()
    return Running ? null : ExitCode
  }

  /** Unpacks a tar archive into a folder of a container that need not run. */
  async unpack(container: string, folder: string, archive: Readable): Promise<void> {
    const broken = new AbortController()
    const failed = once(archive, 'error', { signal: broken.signal }).then(([error]) => {
      throw error
    })
    try {
      const options = { path: folder, abortSignal: broken.signal }
      await Promise.race([this.docker.getContainer(container).putArchive(archive, options), failed])
    } finally {
      failed.catch(() => {})
      broken.abort()
    }
  }

  /** A file or a folder of a container that need not run, as a tar archive of it alone. Null: there is none. */
  async pack(container: string, path: string): Promise<NodeJS.ReadableStream | null> {
    return await unless([404], this.docker.getContainer(container).getArchive({ path }))
  }

  /**
   * Its output from the beginning, to be demultiplexed.
   * @param follow until the container ends. From then on Podman drops lines anywhere in what is not sent yet
   * @param tail only so many of its last lines
   */
  output(container: string, follow: boolean, signal: AbortSignal, tail?: number): Promise<NodeJS.ReadableStream> {
    // `Container.logs` would collect in memory what is not followed.
    const call = {
      path: `/containers/${container}/logs?`,
      method: 'GET',
      isStream: true,
      abortSignal: signal,
      statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
      options: { stdout: true, stderr: true, follow, ...(tail === undefined ? {} : { tail }) },
    }
    return new Promise((resolve, reject) => {
      this.docker.modem.dial(call, (error: unknown, answer: unknown) => {
        if (error) reject(asError(error))
        else resolve(answer as NodeJS.ReadableStream)
      })
    })
  }

  /** Ends of containers that have the label, from now on: one JSON object after the other. */
  events(signal: AbortSignal): Promise<NodeJS.ReadableStream> {
    const filters = { label: [this.#label], type: ['container' as const], event: ['die', 'died', 'destroy', 'remove'] }
    return this.docker.getEvents({ filters, abortSignal: signal })
  }

  createVolume(Name: string, Labels: Readonly<Record<string, string>>): Promise<unknown> {
    return this.docker.createVolume({ Name, Labels })
  }

  /** A volume that is in use stays. Resolves to true when it is gone. */
  async removeVolume(name: string): Promise<boolean> {
    return (
      (await unless(
        [409],
        unless([404], this.docker.getVolume(name).remove()).then(() => true),
      )) ?? false
    )
  }

  /** All volumes that have the label. */
  async volumes(): Promise<readonly VolumeInspectInfo[]> {
    const { Volumes } = await this.docker.listVolumes({ filters: JSON.stringify({ label: [this.#label] }) })
    return Volumes ?? []
  }

  /** Connects a container that does not run yet with one more network. */
  connect(network: string, container: string, settings: EndpointSettings): Promise<unknown> {
    return this.docker.getNetwork(network).connect({ Container: container, EndpointConfig: settings })
  }

  /**
   * A bridge; one of that name that is there already stays as it is.
   * @param Internal it leads nowhere but to the containers in it
   */
  async provideNetwork(Name: string, Labels: Readonly<Record<string, string>>, Internal = false): Promise<void> {
    if (await unless([404], this.docker.getNetwork(Name).inspect())) return
    try {
      const Options = Internal && !(await this.isPodman()) ? NO_GATEWAY : {}
      const options = { Name, Driver: 'bridge', CheckDuplicate: true, Internal, Options, Labels: { ...Labels } }
      await this.docker.createNetwork(options)
    } catch (error) {
      if (statusOf(error) !== 409) throw error
    }
  }

  /** Names of the networks that have the label. */
  async networks(label = this.#label): Promise<readonly string[]> {
    const found = await this.docker.listNetworks({ filters: { label: [label] } })
    return found.map(({ Name }) => Name)
  }

  /** A network that is in use stays. */
  removeNetwork(name: string): Promise<unknown> {
    return unless([403, 404, 409], this.docker.getNetwork(name).remove())
  }

  async #findPodman(): Promise<boolean> {
    try {
      const { Components = [] } = await this.docker.version()
      return Components.some(({ Name }) => Name.startsWith('Podman'))
    } catch (error) {
      this.#isPodman = null
      throw error
    }
  }
}

/** Null: the engine answered with one of these codes. */
async function unless<T>(codes: readonly number[], answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (codes.includes(statusOf(error))) return null
    throw error
  }
}

/** 0: the engine has not answered. */
export function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0
  if (status !== 500) return status
  // Podman answers so about what was removed after it had found it, and about networks.
  if (/\bno such (container|volume)\b/.test(reasonOf(error))) return 404
  return /\bnetwork (already exists|is being used)\b/.test(reasonOf(error)) ? 409 : status
}

const MAX_REASON = 1_000
/** The engine's error message, in one line. */
export function reasonOf(error: unknown): string {
  const { json, reason, message } = error as { json?: { message?: unknown }; reason?: unknown; message?: unknown }
  const text = String(json?.message ?? reason ?? message).replace(/\s+/g, ' ')
  return text.trim().slice(0, MAX_REASON)
}
