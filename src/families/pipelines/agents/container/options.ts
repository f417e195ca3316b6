import { type GivenOptions, UsageError } from '../../../../agents/arguments.ts'
import type { ContainerLimits } from '../../../../agents/container/hardened-host.ts'
import { type EngineOptions, readEngineOptions, readSize } from '../../../../agents/container/options.ts'
import { type CloneOptions, readCloneOptions } from '../../../../agents/git/clone-options.ts'

/** Settings of a runtime's containers. */
export interface ContainerOptions extends EngineOptions, ContainerLimits {
  /** The API's URL as containers reach it. */
  readonly url: string
  /** `uid` or `uid:gid`; null: the image's own. */
  readonly user: string | null
  readonly clone: CloneOptions
}

const DEFAULT_PIDS = 1_024

/** @throws UsageError */
export function readContainerOptions(given: GivenOptions, env: GivenOptions, url: string): ContainerOptions {
  const { network = 'bridge', user = null, root = 'read-only' } = given
  if (root !== 'read-only' && root !== 'writable') throw new UsageError('--root must be read-only or writable.')
  if (user !== null && !/^\d{1,9}(:\d{1,9})?$/.test(user))
    throw new UsageError('--user must be like 1000 or 1000:1000.')
  if (!/^[\w.-]{1,128}$/.test(network))
    throw new UsageError('--network must be none, bridge, host, or a network’s name.')
  return {
    ...readEngineOptions(given, env),
    url: given['workload-url'] ?? url,
    ...{ network, user },
    writableRoot: root === 'writable',
    memory: readMemory(given.memory),
    cpus: readPositive('--cpus', given.cpus),
    pids: readPids(given.pids),
    // Containers without a network get none by a clone, either.
    clone: readCloneOptions(given, network === 'none' ? [] : ['*']),
  }
}

function readMemory(text: string | undefined): number | null {
  if (text === undefined) return null
  const size = readSize(text)
  if (size === null) throw new UsageError('--memory must be like 512m or 2g.')
  return size
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
