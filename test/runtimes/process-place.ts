import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IsolationOptions } from '../../src/families/pipelines/agents/process/bubblewrap.ts'
import { openProcessRuntime } from '../../src/families/pipelines/agents/process/process-runtime.ts'
import type { Runtime } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { killSupervisor, processesOf } from '../agents/process-place.ts'
import { type Place, URL, usualClones } from './place.ts'

const optionsOf = (state: string, isolation: IsolationOptions | null) => ({
  clone: usualClones(),
  ...{ state, isolation, url: URL, graceMs: 300 },
  env: { ...process.env, OTHERS_SECRET: 'x', PHASELINE_TOKEN: 'marker of the runtime' },
})
export const reopen = (state: string, isolation: string): Promise<Runtime> =>
  openProcessRuntime(optionsOf(state, JSON.parse(isolation)))

export async function processPlace(isolation: IsolationOptions | null): Promise<Place> {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-runtime-'))
  let current: Runtime | null = null
  const close = async (): Promise<void> => {
    await current?.[Symbol.asyncDispose]()
    current = null
  }
  const open: Place['open'] = async (options = {}) => {
    await close()
    current = await openProcessRuntime({ ...optionsOf(state, isolation), ...options })
    return current
  }
  return {
    open,
    close,
    program: ['process-place.ts', state, JSON.stringify(isolation)],
    base: {},
    // A kill of the workload itself counts as a failure by a signal; it cannot survive a kill of its supervisor.
    endFromOutside: () => killSupervisor(state),
    isRunning: async (id) => !existsSync(join(state, 'workloads', id, 'exit')) && processesOf(id).length > 0,
    // The processes of the workload itself are among them.
    services: async (id) => processesOf(id).map(String),
    async describe(id) {
      const listed = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout
      const files = ['state.json', 'pid'].map((name) => readFile(join(state, 'workloads', id, name), 'utf8'))
      return [id, listed, ...(await Promise.all(files))].join('\n')
    },
    leftovers: async () => [
      ...(await readdir(join(state, 'workloads'))),
      ...(await readdir(join(state, 'workspaces'))),
    ],
    async [Symbol.asyncDispose]() {
      // The end of a runtime waits for those who watch: they end with their workloads.
      const runtime = current ?? (await open())
      for (const { id } of await runtime.list()) await runtime.remove(id, id)
      await close()
      await rm(state, { recursive: true, force: true })
    },
  }
}
