import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode'
import { demultiplex } from '../../../../agents/container/demultiplex.ts'
import { type Engine, reasonOf, statusOf } from '../../../../agents/container/engine.ts'
import { commandOf, hardenedHost } from '../../../../agents/container/hardened-host.ts'
import { ImageProblem, type Images } from '../../../../agents/container/images.ts'
import { exitOf } from '../../../../agents/exit-of.ts'
import { Mask } from '../../../../agents/mask.ts'
import { orAborted } from '../../../../agents/or-aborted.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import { type Service, StartProblem, type Watcher, type Workload } from '../runtime/runtime.ts'
import {
  cannotStart,
  howItEnded,
  notReady,
  secretsOf,
  serviceEnv,
  serviceProblem,
  TAIL_LINES,
  tellEnded,
} from '../runtime/services.ts'
import { containerName, PLACE_LABEL, SECRETS } from './container-of.ts'
import type { InputFolders } from './input-folders.ts'
import type { ContainerOptions } from './options.ts'

/** The workload that a container or a network is beside. */
export const BESIDE_LABEL = 'io.phaseline.beside'
export const SERVICE_LABEL = 'io.phaseline.service'

export const serviceContainer = (id: string, name: string): string => `${containerName(id)}-${name}`
/** The network of a workload and its services. */
export const networkName = (id: string): string => `${containerName(id)}-services`

/** The networks of the engine that a workload can do without: that of its services leads to the same. */
const REPLACED = ['bridge', 'none']

/** A container that finds services by their names. */
export function besideServices(
  container: ContainerCreateOptions,
  id: string,
  hosts: readonly Host[],
): ContainerCreateOptions {
  const { HostConfig = {} } = container
  if (hosts.length === 0) return container
  const NetworkMode = REPLACED.includes(HostConfig.NetworkMode ?? '') ? networkName(id) : HostConfig.NetworkMode
  return { ...container, HostConfig: { ...HostConfig, NetworkMode, ExtraHosts: [...hosts] } }
}

const LOG_SIZE = '16m'
const POLL_MS = 100
const PROBE_MS = 10_000
const CREATE_RETRIES = 8

export interface ServicesParts {
  readonly engine: Engine
  readonly instance: string
  readonly inputs: InputFolders
  readonly images: Images
  readonly options: ContainerOptions
}

/** A service that is ready, as a line of /etc/hosts. */
export type Host = `${string}:${string}`

/**
 * The services of the workloads of a place: each is a container in a network of its workload. None outlives it: whoever sees the end of the
 * workload, or that it never runs, removes them.
 */
export class ContainerServices {
  readonly #parts: ServicesParts
  constructor(parts: ServicesParts) {
    this.#parts = parts
  }

  /** Provides the images of services. @throws StartProblem */
  async provideImages({ services = [] }: Workload, signal: AbortSignal): Promise<void> {
    await untilSettled(
      services.map(async ({ name, image }) => {
        if (image === null) throw serviceProblem(name, 'has no image: the container runtime runs images')
        try {
          await this.#parts.images.provide(image, signal)
        } catch (error) {
          throw error instanceof ImageProblem ? cannotStart(name, error.message) : error
        }
      }),
    )
  }

  /** Starts the services of a workload, each when those before it are ready. @throws StartProblem */
  async start(workload: Workload, signal: AbortSignal): Promise<readonly Host[]> {
    const { engine, options } = this.#parts
    const { id, services = [] } = workload
    if (services.length === 0) return []
    if (options.network === 'host')
      throw new StartProblem(
        'It has services, and its runtime has --network host: they need a network of their own.',
        'SERVICES_REFUSED',
      )
    await this.remove(
      id,
      services.map(({ name }) => name),
    )
    await engine.provideNetwork(networkName(id), this.#labels(id), options.network !== 'bridge')
    const hosts: Host[] = []
    for (const service of services) hosts.push(await this.#startOne(workload, service, hosts, signal))
    return hosts
  }

  async #startOne(workload: Workload, service: Service, hosts: readonly Host[], signal: AbortSignal): Promise<Host> {
    const { engine, inputs } = this.#parts
    const container = serviceContainer(workload.id, service.name)
    await inputs.writeService(workload.id, service.name, secretsOf(workload, service))
    const wanted = this.#containerOf(workload, service, hosts)
    try {
      await this.#create(wanted)
      await engine.start(container)
    } catch (error) {
      throw statusOf(error) === 0 ? error : cannotStart(service.name, reasonOf(error))
    }
    const { NetworkSettings } = await this.#untilReady(workload, service, signal)
    return `${service.name}:${NetworkSettings.Networks[networkName(workload.id)]?.IPAddress}`
  }

  /** The engine may still create the one of a process that was killed. */
  async #create(container: ContainerCreateOptions & { readonly name: string }): Promise<void> {
    const { engine } = this.#parts
    for (let failures = 0; (await engine.create(container)) === null; failures += 1) {
      if (failures === CREATE_RETRIES) throw new Error(`The engine keeps the name ${container.name}.`)
      await engine.remove(container.name, true)
      await pause(retryDelay(failures))
    }
  }

  #labels(id: string) {
    return { [PLACE_LABEL]: this.#parts.instance, [BESIDE_LABEL]: id }
  }

  #containerOf(workload: Workload, service: Service, hosts: readonly Host[]) {
    const { inputs, options } = this.#parts
    const { id } = workload
    const { name, image } = service
    const env = serviceEnv(workload, service, { secretsFolder: SECRETS, hidesSecrets: true })
    const user = options.user ?? service.user
    const network = networkName(id)
    // Databases write where their images have them: what they write goes with their container.
    const host = hardenedHost({ ...options, network, writableRoot: true }, LOG_SIZE)
    return {
      name: serviceContainer(id, name),
      Image: image ?? '',
      ...commandOf(service),
      Env: Object.entries(env).map((entry) => entry.join('=')),
      Labels: { ...this.#labels(id), [SERVICE_LABEL]: name },
      ...(user === null ? {} : { User: String(user) }),
      HostConfig: {
        ...host,
        ExtraHosts: [...hosts],
        RestartPolicy: { Name: 'no' },
        Mounts: [{ Type: 'bind' as const, Source: inputs.serviceSecrets(id, name), Target: SECRETS, ReadOnly: true }],
      },
      NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [name] } } },
    }
  }

  async #untilReady(workload: Workload, service: Service, signal: AbortSignal): Promise<ContainerInspectInfo> {
    const { engine } = this.#parts
    const { name, readiness } = service
    const container = serviceContainer(workload.id, name)
    const fail = async (why: string) => serviceProblem(name, why, await this.#tail(workload.id, name))
    for (const until = performance.now() + readiness.timeoutMs; ; await pause(POLL_MS, signal)) {
      signal.throwIfAborted()
      const found = await engine.inspect(container)
      if (!found?.State.Running) throw await fail(endOf(found))
      if (await this.#isReady(found, readiness, until - performance.now())) return found
      if (performance.now() > until) throw await fail(notReady(service))
    }
  }

  async #isReady(found: ContainerInspectInfo, { port, command }: Service['readiness'], ms: number): Promise<boolean> {
    const { engine } = this.#parts
    if (command.length > 0)
      // A command that is not there may be refused: the reason is that it does not end with exit code 0.
      return (await engine.execute(found.Id, command, Math.max(1, Math.min(ms, PROBE_MS))).catch(() => null)) === 0
    return port === null || (await listens(found, port))
  }

  /** Connects the container of a workload that keeps a network of its own. */
  async join({ id, services = [] }: Workload): Promise<void> {
    const { engine, options } = this.#parts
    if (services.length > 0 && !REPLACED.includes(options.network))
      await engine.connect(networkName(id), containerName(id), {})
  }

  /** Tells of services that end while their workload runs, until the signal aborts. */
  async watch(id: string, names: readonly string[], watcher: Pick<Watcher, 'onLine' | 'signal'>): Promise<void> {
    await Promise.all(names.map((name) => this.#watchOne(id, name, watcher)))
  }

  async #watchOne(id: string, name: string, { onLine, signal }: Pick<Watcher, 'onLine' | 'signal'>): Promise<void> {
    const { engine } = this.#parts
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        // A container that has ended already is waited for no longer.
        await orAborted(engine.untilEnded(serviceContainer(id, name), signal), signal)
        if (signal.aborted) return
        const found = await engine.inspect(serviceContainer(id, name))
        if (found?.State.Running) continue
        const output = await this.#tail(id, name)
        if (!signal.aborted) tellEnded({ onLine }, name, endOf(found), output)
        return
      } catch {
        await pause(retryDelay(failures), signal)
      }
    }
  }

  /** Its last lines, without secrets. */
  async #tail(id: string, name: string): Promise<readonly string[]> {
    const { engine, inputs } = this.#parts
    const mask = new Mask(await inputs.masked(id))
    const chunks: Buffer[] = []
    const take = demultiplex((_, chunk) => chunks.push(Buffer.from(chunk)))
    try {
      const signal = AbortSignal.timeout(PROBE_MS)
      for await (const chunk of await engine.output(serviceContainer(id, name), false, signal, TAIL_LINES))
        take(chunk as Buffer)
    } catch {
      // It is gone, and its output with it.
    }
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n')
    return lines.filter((line) => line !== '').map((line) => mask.apply(line.trimEnd(), false))
  }

  /** Ends and removes services. Their network goes with their workload, whose container holds it. */
  async remove(id: string, names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#parts.engine.remove(serviceContainer(id, name), true)))
  }

  async removeNetwork(id: string): Promise<void> {
    await this.#parts.engine.removeNetwork(networkName(id))
  }
}

const endOf = (found: ContainerInspectInfo | null): string =>
  found ? howItEnded(exitOf(found.State.ExitCode)) : 'was removed from outside'

const LISTENS = '0A'
const LOOPBACK = /^(.{6}7F|0{24}01000000)$/

/**
 * A container listens on a port where others reach it. Its own table of connections says so: this machine need not have a way into the
 * network of the container, as without root.
 */
async function listens({ State: { Pid }, NetworkSettings }: ContainerInspectInfo, port: number): Promise<boolean> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/${Pid}/net/${table}`, 'latin1').catch(() => null)),
  )
  if (tables.every((table) => table === null))
    return await accepts(Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '', port)
  return tables.some((table) =>
    table?.split('\n').some((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      const [address = '', at = ''] = local.split(':')
      return state === LISTENS && Number.parseInt(at, 16) === port && !LOOPBACK.test(address)
    }),
  )
}

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: POLL_MS * 10 })
    const end = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
