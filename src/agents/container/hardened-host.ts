import type { ContainerCreateOptions, HostConfig } from 'dockerode'

export interface ContainerLimits {
  /** `none`, `bridge`, `host`, or the name of a network of the engine. */
  readonly network: string
  /** Bytes; null: no limit. */
  readonly memory: number | null
  /** Cores, also parts of one; null: no limit. */
  readonly cpus: number | null
  readonly pids: number
  readonly writableRoot: boolean
}

/** Every container of an agent has no capabilities, no new privileges, a read-only root, and its limits. */
export const hardenedHost = (limits: ContainerLimits, logSize: string): HostConfig => {
  const { writableRoot, network, memory, cpus, pids } = limits
  return {
    NetworkMode: network,
    ReadonlyRootfs: !writableRoot,
    Tmpfs: { '/tmp': 'rw,nosuid,nodev,size=256m' },
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: pids,
    // Without swap, which would delay the end of a container that needs too much memory.
    ...(memory === null ? {} : { Memory: memory, MemorySwap: memory }),
    ...(cpus === null ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
    LogConfig: { Type: 'json-file', Config: { 'max-size': logSize, 'max-file': '1' } },
  }
}

interface Command {
  readonly command: readonly string[]
  readonly args: readonly string[]
}
/** Without a command the image's own runs, with `args` if there are any. */
export const commandOf = ({ command, args }: Command): Pick<ContainerCreateOptions, 'Entrypoint' | 'Cmd'> => ({
  ...(command.length > 0 ? { Entrypoint: [...command] } : {}),
  ...(args.length > 0 || command.length > 0 ? { Cmd: [...args] } : {}),
})
