import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IsolationOptions } from '../../src/families/pipelines/agents/process/bubblewrap.ts'
import {
  openProcessRuntime,
  type ProcessRuntimeOptions,
} from '../../src/families/pipelines/agents/process/process-runtime.ts'
import type { Runtime, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { listener, workload as scriptOf, URL, usualClones } from '../runtimes/place.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'

/** A state folder of its own; whatever still runs in it at the end is ended. */
export interface Place extends AsyncDisposable {
  readonly state: string
  open(options?: Partial<ProcessRuntimeOptions>): Promise<Runtime>
}

export async function place(isolation: IsolationOptions | null = null): Promise<Place> {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-runtime-'))
  let current: Runtime | null = null
  const close = async (): Promise<void> => {
    await current?.[Symbol.asyncDispose]()
    current = null
  }
  const open: Place['open'] = async (options = {}) => {
    await close()
    current = await openProcessRuntime({
      state,
      url: URL,
      env: process.env,
      graceMs: 300,
      isolation,
      clone: usualClones(),
      ...options,
    })
    return current
  }
  return {
    state,
    open,
    async [Symbol.asyncDispose]() {
      const runtime = await open()
      for (const { id } of await runtime.list()) await runtime.remove(id, null)
      await close()
      await rm(state, { recursive: true, force: true })
    },
  }
}

export { listener, URL }

/** A workload that is a shell script. */
export const workload = (script: string, more: Partial<Workload> = {}): Workload => scriptOf({ base: {} }, script, more)

/** With -9. Resolves when it has ended. */
export async function killSupervisor(state: string): Promise<void> {
  const pid = Number((await readFile(join(state, 'supervisor.pid'), 'utf8')).split(' ')[0])
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid), { what: 'the supervisor has ended' })
}

/** Living processes of a workload, wherever they have gone. */
export function processesOf(id: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const ended = / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/\(.*\)/, ''))
        return !ended && readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`PHASELINE_WORKLOAD=${id}`)
      } catch {
        return false
      }
    })
    .map(Number)
    .toSorted((a, b) => startOf(a) - startOf(b))
}

/** In ticks since the machine has started: process ids begin anew when they have all been used. */
function startOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(fields[19])
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
