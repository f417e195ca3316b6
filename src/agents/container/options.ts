import { type GivenOptions, UsageError } from '../arguments.ts'

/** The engine of an agent, and how it gets images. */
export interface EngineOptions {
  /** The unix socket of the engine. */
  readonly socket: string
  readonly pull: PullPolicy
  /** A file like Docker's `config.json`, with the credentials of registries; null: none. */
  readonly registries: string | null
}
type PullPolicy = 'missing' | 'always' | 'never'

const SIZE = /^(\d+)(k|m|g)?$/
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 }

/** @throws UsageError */
export function readEngineOptions(given: GivenOptions, env: GivenOptions): EngineOptions {
  const { pull = 'missing', registries = null } = given
  if (pull !== 'missing' && pull !== 'always' && pull !== 'never')
    throw new UsageError('--pull must be missing, always or never.')
  return { socket: readSocket(given.engine ?? env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'), pull, registries }
}

/** Secrets are handed over as files of this machine, so that the engine must be on it. */
function readSocket(engine: string): string {
  if (engine.startsWith('unix:///')) return engine.slice('unix://'.length)
  throw new UsageError('--engine (or DOCKER_HOST) must be a socket of this machine, like unix:///var/run/docker.sock.')
}

/** Bytes of a size like `512m`; null: it is none. */
export function readSize(text: string): number | null {
  const [, number, unit = ''] = SIZE.exec(text.toLowerCase()) ?? []
  return Number(number) ? Number(number) * (UNITS[unit] ?? 1) : null
}
