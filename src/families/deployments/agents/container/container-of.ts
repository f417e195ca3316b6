import { createHash } from 'node:crypto'
import type { ContainerCreateOptions } from 'dockerode'
import { hardenedHost } from '../../../../agents/container/hardened-host.ts'
import type { WorkItem } from '../../../../client/index.ts'
import type { Config } from './read-config.ts'

/** An item as a container of the engine's API. Nothing in it is secret: whoever may ask the engine can read all of it. */

export const ITEM_LABEL = 'io.phaseline.item'
/** The job of the item for which a container was created. */
const JOB_LABEL = 'io.phaseline.job'
/** A digest of the config of a service, without its secrets. */
export const CONFIG_LABEL = 'io.phaseline.config'

/** One name for one item: to create its container twice is a conflict. */
export const containerName = (item: string): string => `phaseline-item-${item}`
/** The container that runs the `delete` command. */
export const deleterName = (item: string): string => `${containerName(item)}-delete`

/** The address at which ports of services are published. */
export const LOOPBACK = '127.0.0.1'
/** The folder of a container's secrets. */
export const SECRETS = '/run/phaseline/secrets'
/** More than a job's output may have, so that the engine never drops what is still to be read. */
const LOG_SIZE = '128m'
const SERVICE_LOG_SIZE = '16m'

type Identity = Pick<WorkItem, 'objectId' | 'jobId'>
interface Plan {
  readonly item: Identity
  readonly config: Config
  /** The folder of this machine with its secrets; null: it has none. */
  readonly secretsFolder: string | null
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
      RestartPolicy: { Name: 'unless-stopped' },
      PortBindings: Object.fromEntries(
        ports.map(([port, host]) => [port, [{ HostIp: LOOPBACK, HostPort: host === undefined ? '' : String(host) }]]),
      ),
    },
  }
}

/**
 * Secrets are compared as files: a digest would let others guess short ones. The health check changes nothing of the
 * container.
 */
export function digestOf({ secrets: _secrets, health: _health, env, ...rest }: Config): string {
  const sorted = Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([rest, sorted]))
    .digest('hex')
    .slice(0, 16)
}

/** It was created for this very job of the item. */
export const isOfJob = (labels: Readonly<Record<string, string>>, { objectId, jobId }: Identity): boolean =>
  labels[ITEM_LABEL] === objectId && labels[JOB_LABEL] === (jobId ?? '')

const commandOf = ({ command, args }: Pick<Config, 'command' | 'args'>): Omit<ContainerCreateOptions, 'name'> => ({
  ...(command.length > 0 ? { Entrypoint: [...command] } : {}),
  ...(args.length > 0 || command.length > 0 ? { Cmd: [...args] } : {}),
})

function common({ item, config, secretsFolder }: Plan): Omit<ContainerCreateOptions, 'name'> {
  const { image, user } = config
  const env = { HOME: '/tmp', ...config.env, ...(secretsFolder === null ? {} : { PHASELINE_SECRETS: SECRETS }) }
  return {
    Image: image,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [ITEM_LABEL]: item.objectId, [JOB_LABEL]: item.jobId ?? '' },
    ...(user === null ? {} : { User: user }),
    HostConfig: {
      ...hardenedHost(config, LOG_SIZE),
      RestartPolicy: { Name: 'no' },
      ...(secretsFolder === null
        ? {}
        : { Mounts: [{ Type: 'bind', Source: secretsFolder, Target: SECRETS, ReadOnly: true }] }),
    },
  }
}
