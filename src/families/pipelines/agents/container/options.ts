import { UsageError } from '../../../../agents/arguments.ts'

/** How the containers of a runtime are made. */
export interface ContainerOptions {
  /** The unix socket of the engine. */
  readonly socket: string
  /** The API's URL as containers reach it. */
  readonly url: string
  readonly pull: PullPolicy
  /** `none`, `bridge`, `host`, or the name of a network of the engine. */
  readonly network: string
  /** Bytes; null: no limit. */
  readonly memory: number | null
  /** Cores, also parts of one; null: no limit. */
  readonly cpus: number | null
  readonly pids: number
  /** `uid` or `uid:gid`; null: the image's own. */
  readonly user: string | null
  readonly writableRoot: boolean
  /** A file like Docker's `config.json`, with the credentials of registries; null: none. */
  readonly registries: string | null
}
export type PullPolicy = 'missing' | 'always' | 'never'

type Given = Readonly<Partial<Record<string, string>>>

const DEFAULT_PIDS = 1_024
const SIZE = /^(\d+)(k|m|g)?$/
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 }

/** @throws UsageError */
export function readContainerOptions(given: Given, env: Given, url: string): ContainerOptions {
  const { pull = 'missing', network = 'bridge', user = null, root = 'read-only', registries = null } = given
  if (pull !== 'missing' && pull !== 'always' && pull !== 'never')
    throw new UsageError('--pull must be missing, always or never.')
  if (root !== 'read-only' && root !== 'writable') throw new UsageError('--root must be read-only or writable.')
  if (user !== null && !/^\d{1,9}(:\d{1,9})?$/.test(user))
    throw new UsageError('--user must be like 1000 or 1000:1000.')
  if (!/^[\w.-]{1,128}$/.test(network))
    throw new UsageError('--network must be none, bridge, host, or a network’s name.')
  return {
    socket: readSocket(given.engine ?? env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'),
    url: given['workload-url'] ?? url,
    ...{ pull, network, user, registries },
    writableRoot: root === 'writable',
    memory: readSize(given.memory),
    cpus: readPositive('--cpus', given.cpus),
    pids: readPids(given.pids),
  }
}

/** Secrets are handed over as files of this machine, so that the engine must be on it. */
function readSocket(engine: string): string {
  if (engine.startsWith('unix:///')) return engine.slice('unix://'.length)
  throw new UsageError('--engine (or DOCKER_HOST) must be a socket of this machine, like unix:///var/run/docker.sock.')
}

function readSize(text: string | undefined): number | null {
  if (text === undefined) return null
  const [, number, unit = ''] = SIZE.exec(text.toLowerCase()) ?? []
  if (!Number(number)) throw new UsageError('--memory must be like 512m or 2g.')
  return Number(number) * (UNITS[unit] ?? 1)
}

function readPositive(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const number = Number(text)
  if (!Number.isFinite(number) || number <= 0) throw new UsageError(`${option} must be a positive number.`)
  return number
}

function readPids(text: string | undefined): number {
  const number = readPositive('--pids', text) ?? DEFAULT_PIDS
  if (!Number.isInteger(number)) throw new UsageError('--pids must be a whole number.')
  return number
}
