import { randomUUID } from 'node:crypto'
import type { OutputLimits } from '../../src/families/pipelines/agents/runtime/output.ts'
import type { Runtime, Watcher, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'

/** Where a runtime runs workloads, as the conformance tests need it. What still runs there at the end is removed. */
export interface Place extends AsyncDisposable {
  /** Opens the runtime in this process; the one before is closed. */
  open(options?: OpenOptions): Promise<Runtime>
  close(): Promise<void>
  /** Arguments with which `runtime-process.ts` opens it in a process of its own. */
  readonly program: readonly string[]
  /** What workloads are made of, such as an image. */
  readonly base: Partial<Workload>
  /** Ends a workload without asking the runtime. */
  endFromOutside(id: string): Promise<void>
  isRunning(id: string): Promise<boolean>
  /** All that those can see of a workload who may look at the place, but not into its secrets. */
  describe(id: string): Promise<string>
  /** Names of what is left there, of any workload. */
  leftovers(): Promise<readonly string[]>
}

export interface OpenOptions {
  readonly graceMs?: number
  readonly output?: OutputLimits
}

export const URL = 'http://127.0.0.1:4000/graphql'

/** A workload that is a shell script. */
export function workload({ base }: Pick<Place, 'base'>, script: string, more: Partial<Workload> = {}): Workload {
  const id = more.id ?? randomUUID()
  return {
    id,
    eventId: 'event',
    workerId: id,
    project: 'shop',
    image: null,
    command: ['sh', '-c', script],
    args: [],
    env: {},
    files: [],
    secrets: {},
    event: { id: 'event', payload: 'the payload' },
    workspace: null,
    token: null,
    ...base,
    ...more,
  }
}

/** Takes down what it hears. */
export function listener(signal: AbortSignal = new AbortController().signal) {
  const lines: string[] = []
  let running = 0
  const watcher: Watcher = {
    signal,
    onRunning: () => {
      running += 1
    },
    onLine: (stream, text) => lines.push(`${stream} ${text}`),
  }
  return { lines, watcher, timesRunning: () => running }
}
