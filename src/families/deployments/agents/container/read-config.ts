import type { ContainerLimits } from '../../../../agents/container/hardened-host.ts'
import { readSize } from '../../../../agents/container/options.ts'
import {
  CONTAINER_SCHEMA,
  type ContainerConfig,
  type PublishedPort,
  type Restart,
  type Volume,
} from '../../../../core/deployers/container.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import { DeployError, refuseProblems } from '../deploy-error.ts'

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
  /** Null: the image's own. */
  readonly workingDir: string | null
  readonly graceMs: number
  readonly output: 'protocol' | 'text'
  /** Null: nothing runs when the item is deleted. */
  readonly delete: readonly string[] | null
  readonly ports: readonly PublishedPort[]
  /** Null: the check of the image, if it has one. */
  readonly health: Health | null
  readonly restart: Restart
  /** Networks of its project; none: it is in `network`. */
  readonly networks: readonly string[]
  readonly aliases: readonly string[]
  readonly volumes: readonly Required<Volume>[]
  /** Text by path. */
  readonly files: Readonly<Record<string, string>>
  readonly tmpfs: readonly string[]
  readonly capabilities: readonly string[]
}
export interface Health {
  /** `port` is the container's. */
  readonly http: { readonly path: string; readonly port: number } | null
  readonly command: readonly string[] | null
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly retries: number
}

/** All expressions are resolved: a text that looks like one is judged as any other. */
const CHECK = new ConfigCheck(CONTAINER_SCHEMA, { hasExpressions: false })
export const DEFAULT_GRACE_MS = 10_000
const DEFAULT_PIDS = 1_024

/** @throws DeployError */
export function readConfig(config: unknown): Config {
  refuseProblems('CONTAINER_CONFIG', CHECK.problemsOf(config, 'config'))
  const given = config as ContainerConfig
  const { mode = 'job', image, command = [], args = [], env = {}, secrets = {} } = given
  const { networks = [], aliases = [], volumes = [], files = {}, tmpfs = [], capabilities = [] } = given
  requireOwnPaths([...volumes.map(({ path }) => path), ...Object.keys(files), ...tmpfs])
  return {
    ...{ mode, image, secrets },
    command: command.map(String),
    args: args.map(String),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    user: given.user === undefined ? null : String(given.user),
    workingDir: given.workingDir ?? null,
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
    restart: given.restart ?? 'unless-stopped',
    ...{ networks, aliases, files, tmpfs, capabilities },
    volumes: volumes.map(({ name, path, readOnly = false, onDelete = 'keep' }) => ({ name, path, readOnly, onDelete })),
  }
}

/** Two things at one path would hide each other. */
function requireOwnPaths(paths: readonly string[]): void {
  const twice = paths.find((path, i) => paths.indexOf(path) !== i)
  if (twice !== undefined)
    throw new DeployError('CONTAINER_CONFIG', `config: ${twice} is the path of more than one volume, file or tmpfs`)
}

/** It runs on for a moment. */
export const DEFAULT_HEALTH: Health = { http: null, command: null, intervalMs: 1_000, timeoutMs: 5_000, retries: 30 }

function readHealth({ health, ports = [] }: ContainerConfig): Health | null {
  if (!health) return null
  const { http, command, ...times } = { ...DEFAULT_HEALTH, ...health }
  const own = { ...times, command: command?.map(String) ?? null }
  if (!http) return { ...own, http: null }
  const port = http.port ?? ports[0]?.container
  if (port === undefined || ports.every(({ container }) => container !== port))
    throw new DeployError('CONTAINER_CONFIG', 'config.health.http.port: it must be one of the published ports')
  return { ...own, http: { path: http.path ?? '/', port } }
}
