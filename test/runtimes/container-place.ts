import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { containerName, PLACE_LABEL } from '../../src/families/pipelines/agents/container/container-of.ts'
import {
  type ContainerRuntimeOptions,
  openContainerRuntime,
} from '../../src/families/pipelines/agents/container/container-runtime.ts'
import { BESIDE_LABEL } from '../../src/families/pipelines/agents/container/services.ts'
import type { Runtime } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { IMAGE } from '../testkit/container-engine.ts'
import { type Place, URL, usualClones } from './place.ts'

const optionsOf = (socket: string, state: string): ContainerRuntimeOptions => ({
  ...{ socket, state, url: URL, pull: 'missing', network: 'none', registries: null, user: null },
  clone: usualClones(),
  ...{ memory: 64 * 1024 ** 2, cpus: null, pids: 64, writableRoot: false, graceMs: 1_000 },
  onProblem() {},
})
export const reopen = (socket: string, state: string): Promise<Runtime> =>
  openContainerRuntime(optionsOf(socket, state))

export async function containerPlace(
  socketPath: string,
  changed: Partial<ContainerRuntimeOptions> = {},
): Promise<Place & { readonly state: string }> {
  const docker = new Docker({ socketPath })
  const state = await mkdtemp(join(tmpdir(), 'phaseline-containers-'))
  let current: Runtime | null = null
  let instance = ''
  const close = async (): Promise<void> => {
    await current?.[Symbol.asyncDispose]()
    current = null
  }
  const open: Place['open'] = async (options = {}) => {
    await close()
    current = await openContainerRuntime({ ...optionsOf(socketPath, state), ...changed, ...options })
    instance = current.instance
    return current
  }
  const label = () => ({ label: [`${PLACE_LABEL}=${instance}`] })
  const containerOf = (id: string) => docker.getContainer(containerName(id))
  return {
    state,
    open,
    close,
    program: ['container-place.ts', socketPath, state],
    base: { image: IMAGE },
    endFromOutside: (id) => containerOf(id).remove({ force: true }),
    async isRunning(id) {
      const found = await containerOf(id)
        .inspect()
        .catch(() => null)
      return found?.State.Running ?? false
    },
    async services(id) {
      const found = await docker.listContainers({ all: true, filters: { label: [`${BESIDE_LABEL}=${id}`] } })
      return found.flatMap(({ Names }) => Names)
    },
    describe: async (id) =>
      JSON.stringify([await containerOf(id).inspect(), await docker.listContainers({ all: true, filters: label() })]),
    async leftovers() {
      const containers = await docker.listContainers({ all: true, filters: label() })
      const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(label()) })
      const networks = await docker.listNetworks({ filters: label() })
      const inputs = await readdir(join('/dev/shm', `phaseline-${process.getuid?.()}`, instance)).catch(() => [])
      const records = await readdir(join(state, 'workloads'))
      return [
        ...containers.flatMap(({ Names }) => Names),
        ...[...(Volumes ?? []), ...networks].map(({ Name }) => Name),
        ...inputs,
        ...records,
      ]
    },
    async [Symbol.asyncDispose]() {
      // The end of a runtime waits for those who watch: they end with their workloads.
      const runtime = current ?? (await open())
      for (const { id } of await runtime.list()) await runtime.remove(id, id)
      await close()
      await rm(state, { recursive: true, force: true })
      await rm(join('/dev/shm', `phaseline-${process.getuid?.()}`, instance), { recursive: true, force: true })
    },
  }
}
