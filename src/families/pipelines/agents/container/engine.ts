import Docker, { type ContainerCreateOptions, type ContainerInfo, type ContainerInspectInfo } from 'dockerode'
import { asError } from '../../../../client/as-error.ts'
import { pause } from '../../../../client/pause.ts'
import { containerName, PLACE_LABEL, volumeName, WORKER_LABEL } from './container-of.ts'

const CHECK_PAUSE_MS = 25

/** The calls of the Docker Engine API that the runtime makes, for the containers of one place. */
export class Engine {
  readonly docker: Docker
  readonly #place: string
  #isPodman: Promise<boolean> | null = null
  #lastCheck: Promise<unknown> = Promise.resolve()

  constructor(socketPath: string, place: string) {
    this.docker = new Docker({ socketPath })
    this.#place = place
  }

  /** All containers of the place, whether they run or not. */
  list(): Promise<readonly ContainerInfo[]> {
    return this.docker.listContainers({ all: true, filters: this.#ofPlace })
  }

  /** Null: there is none. */
  inspect(id: string): Promise<ContainerInspectInfo | null> {
    return unless([404], this.#container(id).inspect())
  }

  /** Checks run one after the other with a pause between, so that many workloads with output leave the engine time. */
  isRunning(id: string): Promise<boolean> {
    const checked = this.#lastCheck.then(() => this.inspect(id)).then((found) => found?.State.Running === true)
    this.#lastCheck = checked.catch(() => {}).then(() => pause(CHECK_PAUSE_MS))
    return checked
  }

  isPodman(): Promise<boolean> {
    this.#isPodman ??= this.#findPodman()
    return this.#isPodman
  }

  /** False: the object has a container already, or is about to have one. */
  async create(options: ContainerCreateOptions): Promise<boolean> {
    try {
      await this.docker.createContainer(options)
      return true
    } catch (error) {
      // Podman answers with 500 while another request creates the container.
      if (statusOf(error) === 409 || /name.* already in use/.test(reasonOf(error))) return false
      throw error
    }
  }

  start(id: string): Promise<unknown> {
    return unless([304], this.#container(id).start())
  }

  /** SIGTERM, and SIGKILL after the grace. Resolves when it has ended. */
  stop(id: string, graceMs: number): Promise<unknown> {
    return unless([304, 404], this.#container(id).stop({ t: Math.ceil(graceMs / 1_000) }))
  }

  /** @param force also a running one; without it a running one is an error */
  remove(id: string, force: boolean): Promise<unknown> {
    return unless([404], this.#container(id).remove({ v: true, force }))
  }

  /** Unpacks a tar archive into a folder of a container that need not run. */
  unpack(id: string, folder: string, archive: Buffer): Promise<unknown> {
    return this.#container(id).putArchive(archive, { path: folder })
  }

  /**
   * Its output from the beginning, to be demultiplexed.
   * @param follow until the container ends. From then on Podman drops lines anywhere in what is not sent yet
   */
  output(id: string, follow: boolean, signal: AbortSignal): Promise<NodeJS.ReadableStream> {
    // `Container.logs` would collect in memory what is not followed.
    const call = {
      path: `/containers/${containerName(id)}/logs?`,
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

  /** Ends of the place's containers from now on, one JSON object after the other. */
  events(signal: AbortSignal): Promise<NodeJS.ReadableStream> {
    const filters = { ...this.#ofPlace, type: ['container' as const], event: ['die', 'died', 'destroy', 'remove'] }
    return this.docker.getEvents({ filters, abortSignal: signal })
  }

  createVolume(workerId: string): Promise<unknown> {
    const Labels = { [PLACE_LABEL]: this.#place, [WORKER_LABEL]: workerId }
    return this.docker.createVolume({ Name: volumeName(workerId), Labels })
  }

  /** A volume that is in use stays. */
  removeVolume(workerId: string): Promise<unknown> {
    return unless([404, 409], this.docker.getVolume(volumeName(workerId)).remove())
  }

  /** The workers that have a workspace at the place. */
  async workspaces(): Promise<readonly string[]> {
    const { Volumes } = await this.docker.listVolumes({ filters: JSON.stringify(this.#ofPlace) })
    return (Volumes ?? []).flatMap(({ Labels }) => Labels?.[WORKER_LABEL] ?? [])
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
  get #ofPlace(): { label: string[] } {
    return { label: [`${PLACE_LABEL}=${this.#place}`] }
  }
  #container(id: string): Docker.Container {
    return this.docker.getContainer(containerName(id))
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
export const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0

const MAX_REASON = 1_000
/** What the engine says in its answer, in one line. */
export function reasonOf(error: unknown): string {
  const { json, reason, message } = error as { json?: { message?: unknown }; reason?: unknown; message?: unknown }
  const text = String(json?.message ?? reason ?? message).replace(/\s+/g, ' ')
  return text.trim().slice(0, MAX_REASON)
}
