import type { ContainerLimits } from '../../../../agents/container/hardened-host.ts'
import { readSize } from '../../../../agents/container/options.ts'
import { CONTAINER_SCHEMA, type ContainerConfig, type PublishedPort } from '../../../../core/deployers/container.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import { DeployError } from '../deploy-error.ts'

/** The config of an item, with its defaults. Holds secrets: never log it. */
export interface Config extends ContainerLimits {
  readonly mode: 'job' | 'service'
  readonly image: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** Null: the image's own. */
  readonly user: string | null
  readonly graceMs: number
  readonly output: 'protocol' | 'text'
  /** Null: nothing runs when the item is deleted. */
  readonly delete: readonly string[] | null
  readonly ports: readonly PublishedPort[]
  readonly health: Health
}
export interface Health {
  /** `port` is the container's. */
  readonly http: { readonly path: string; readonly port: number } | null
  readonly command: readonly string[] | null
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly retries: number
}

const CHECK = new ConfigCheck(CONTAINER_SCHEMA)
const MOST_PROBLEMS = 10
export const DEFAULT_GRACE_MS = 10_000
const DEFAULT_PIDS = 1_024

/** @throws DeployError */
export function readConfig(config: unknown): Config {
  const problems = CHECK.problemsOf(config, 'config').slice(0, MOST_PROBLEMS)
  if (problems.length > 0)
    throw new DeployError('CONTAINER_CONFIG', problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const given = config as ContainerConfig
  const { mode = 'job', image, command = [], args = [], env = {}, secrets = {} } = given
  return {
    ...{ mode, image, secrets },
    command: command.map(String),
    args: args.map(String),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    user: given.user === undefined ? null : String(given.user),
    network: given.network ?? (mode === 'job' ? 'none' : 'bridge'),
    memory: given.memory === undefined ? null : readSize(given.memory),
    cpus: given.cpus ?? null,
    pids: given.pids ?? DEFAULT_PIDS,
    writableRoot: given.writableRoot ?? false,
    graceMs: given.graceMs ?? DEFAULT_GRACE_MS,
    output: given.output ?? 'protocol',
    delete: given.delete?.map(String) ?? null,
    ports: given.ports ?? [],
    health: readHealth(given),
  }
}

function readHealth({ health = {}, ports = [] }: ContainerConfig): Health {
  const { http, command, intervalMs = 1_000, timeoutMs = 5_000, retries = 30 } = health
  const times = { intervalMs, timeoutMs, retries, command: command?.map(String) ?? null }
  if (!http) return { ...times, http: null }
  const port = http.port ?? ports[0]?.container
  if (port === undefined || ports.every(({ container }) => container !== port))
    throw new DeployError('CONTAINER_CONFIG', 'config.health.http.port: it must be one of the published ports')
  return { ...times, http: { path: http.path ?? '/', port } }
}
