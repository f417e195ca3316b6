import { finished } from 'node:stream/promises'
import Docker, {
  type ContainerCreateOptions,
  type ContainerInfo,
  type ContainerInspectInfo,
  type VolumeInspectInfo,
} from 'dockerode'
import { asError } from '../../client/as-error.ts'
import { pause } from '../../client/pause.ts'

const CHECK_PAUSE_MS = 25

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
  unpack(container: string, folder: string, archive: Buffer): Promise<unknown> {
    return this.docker.getContainer(container).putArchive(archive, { path: folder })
  }

  /**
   * Its output from the beginning, to be demultiplexed.
   * @param follow until the container ends. From then on Podman drops lines anywhere in what is not sent yet
   */
  output(container: string, follow: boolean, signal: AbortSignal): Promise<NodeJS.ReadableStream> {
    // `Container.logs` would collect in memory what is not followed.
    const call = {
      path: `/containers/${container}/logs?`,
      method: 'GET',
      isStream: true,
      abortSignal: signal,
      statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
      options: { stdout: true, stderr: true, follow },
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

  /** A volume that is in use stays. */
  removeVolume(name: string): Promise<unknown> {
    return unless([404, 409], this.docker.getVolume(name).remove())
  }

  /** All volumes that have the label. */
  async volumes(): Promise<readonly VolumeInspectInfo[]> {
    const { Volumes } = await this.docker.listVolumes({ filters: JSON.stringify({ label: [this.#label] }) })
    return Volumes ?? []
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
  // Podman answers so about what was removed after it had found it.
  return status === 500 && /\bno such (container|volume)\b/.test(reasonOf(error)) ? 404 : status
}

const MAX_REASON = 1_000
/** The engine's error message, in one line. */
export function reasonOf(error: unknown): string {
  const { json, reason, message } = error as { json?: { message?: unknown }; reason?: unknown; message?: unknown }
  const text = String(json?.message ?? reason ?? message).replace(/\s+/g, ' ')
  return text.trim().slice(0, MAX_REASON)
}
