import { createHash } from 'node:crypto'
import type { ContainerCreateOptions, EndpointSettings } from 'dockerode'
import { commandOf, hardenedHost } from '../../../../agents/container/hardened-host.ts'
import type { WorkItem } from '../../../../client/index.ts'
import type { Config } from './read-config.ts'

/** An item as a container of the engine's API. Nothing in it is secret: whoever may ask the engine can read all of it. */

export const ITEM_LABEL = 'io.phaseline.item'
/** The job of the item for which a container was created. */
const JOB_LABEL = 'io.phaseline.job'
/** The project of a container, and of a network. */
export const PROJECT_LABEL = 'io.phaseline.project'
/** A digest of the config of a service, without its secrets. */
export const CONFIG_LABEL = 'io.phaseline.config'

/** One name for one item: to create its container twice is a conflict. */
export const containerName = (item: string): string => `phaseline-item-${item}`
/** The container that runs the `delete` command. */
export const deleterName = (item: string): string => `${containerName(item)}-delete`

/** The name of a volume or a network that the containers of a project share. */
export const sharedName = (project: string, name: string): string => `phaseline-${project}-${name}`

/** The address at which ports of services are published. */
export const LOOPBACK = '127.0.0.1'
/** The folder of a container's secrets. */
export const SECRETS = '/run/phaseline/secrets'
/** More than a job's output may have, so that the engine never drops what is still to be read. */
const LOG_SIZE = '128m'
const SERVICE_LOG_SIZE = '16m'
const TMPFS = 'rw,nosuid,nodev,size=256m'

type Identity = Pick<WorkItem, 'objectId' | 'jobId' | 'projectId' | 'name'>
interface Plan {
  readonly item: Identity
  readonly config: Config
  /** Its secrets and files on this machine, by their paths in the container. */
  readonly mounted: ReadonlyMap<string, string>
}
export interface NamedContainer extends ContainerCreateOptions {
  readonly name: string
}

export const jobContainer = (plan: Plan): NamedContainer => ({
  name: containerName(plan.item.objectId),
  ...commandOf(plan.config),
  ...common(plan),
})

export const deleterContainer = (plan: Plan, command: readonly string[]): NamedContainer => ({
  name: deleterName(plan.item.objectId),
  ...commandOf({ command, args: [] }),
  ...common(plan),
})

/** The engine starts it again when it ends by itself, and after its own restart. */
export function serviceContainer(plan: Plan): NamedContainer {
  const { config, item } = plan
  const { HostConfig, Labels, ...rest } = common(plan)
  const ports = config.ports.map(({ container, host }) => [`${container}/tcp`, host] as const)
  return {
    name: containerName(item.objectId),
    ...commandOf(config),
    ...rest,
    Labels: { ...Labels, [CONFIG_LABEL]: digestOf(config) },
    ExposedPorts: Object.fromEntries(ports.map(([port]) => [port, {}])),
    HostConfig: {
      ...HostConfig,
      LogConfig: { Type: 'json-file', Config: { 'max-size': SERVICE_LOG_SIZE, 'max-file': '1' } },
      RestartPolicy: { Name: config.restart },
      PortBindings: Object.fromEntries(
        ports.map(([port, host]) => [port, [{ HostIp: LOOPBACK, HostPort: host === undefined ? '' : String(host) }]]),
      ),
    },
  }
}

/**
 * Secrets and files are compared as files: a digest would let others guess short ones. The health check changes nothing of the
 * container. A setting that is not used is left out, so that a deployer that knows more settings replaces nothing.
 */
export function digestOf(config: Config): string {
  const { secrets: _secrets, health: _health, files: _files, restart: _restart, ...settings } = config
  const { env, workingDir, networks, aliases, volumes, tmpfs, capabilities, ...rest } = settings
  const sorted = Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1))
  const mounts = volumes.map(({ name, path, readOnly }) => ({ name, path, readOnly }))
  const used = Object.entries({ networks, aliases, mounts, tmpfs, capabilities, workingDir: workingDir ?? '' }).filter(
    ([, one]) => one.length > 0,
  )
  return createHash('sha256')
    .update(JSON.stringify([rest, sorted, ...used]))
    .digest('hex')
    .slice(0, 16)
}

/** It was created for this very job of the item. */
export const isOfJob = (labels: Readonly<Record<string, string>>, { objectId, jobId }: Identity): boolean =>
  labels[ITEM_LABEL] === objectId && labels[JOB_LABEL] === (jobId ?? '')

function common({ item, config, mounted }: Plan): Omit<ContainerCreateOptions, 'name'> {
  const { image, user, workingDir, volumes, tmpfs, capabilities } = config
  const project = item.projectId ?? ''
  const env = { HOME: '/tmp', ...config.env, ...(mounted.has(SECRETS) ? { PHASELINE_SECRETS: SECRETS } : {}) }
  const [first] = endpointsOf(item, config)
  const host = hardenedHost({ ...config, network: first?.network ?? config.network }, LOG_SIZE)
  return {
    Image: image,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [ITEM_LABEL]: item.objectId, [JOB_LABEL]: item.jobId ?? '', [PROJECT_LABEL]: project },
    ...(user === null ? {} : { User: user }),
    ...(workingDir === null ? {} : { WorkingDir: workingDir }),
    ...(first ? { NetworkingConfig: { EndpointsConfig: { [first.network]: first.settings } } } : {}),
    HostConfig: {
      ...host,
      // A volume may take the place of the one at /tmp.
      Tmpfs: Object.fromEntries(
        Object.entries({ ...Object.fromEntries(tmpfs.map((path) => [path, TMPFS])), ...host.Tmpfs }).filter(
          ([path]) => !volumes.some((volume) => volume.path === path),
        ),
      ),
      ...(capabilities.length > 0 ? { CapAdd: [...capabilities] } : {}),
      RestartPolicy: { Name: 'no' },
      Mounts: [
        ...[...mounted].map(([Target, Source]) => ({ Type: 'bind', Source, Target, ReadOnly: true }) as const),
        ...volumes.map(({ name, path, readOnly }) => {
          const Source = sharedName(project, name)
          return { Type: 'volume', Source, Target: path, ReadOnly: readOnly } as const
        }),
      ],
    },
  }
}

interface Endpoint {
  readonly network: string
  readonly settings: EndpointSettings
}
/** The project's networks that a container is in, and its names there. */
export const endpointsOf = ({ name, projectId }: Identity, config: Config): readonly Endpoint[] =>
  config.networks.map((network) => ({
    network: sharedName(projectId ?? '', network),
    settings: { Aliases: [name, ...config.aliases] },
  }))
