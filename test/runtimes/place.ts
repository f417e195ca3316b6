import { randomUUID } from 'node:crypto'
import type { CloneOptions } from '../../src/agents/git/clone-options.ts'
import type { OutputLimits, Runtime, Watcher, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'

/** The host of a runtime's workloads, as the conformance tests need it. Remaining workloads are removed at the end. */
export interface Place extends AsyncDisposable {
  /** Opens the runtime in this process; the one before is closed. */
  open(options?: OpenOptions): Promise<Runtime>
  close(): Promise<void>
  /** Arguments with which `runtime-process.ts` opens it in a process of its own. */
  readonly program: readonly string[]
  /** The common part of workloads, such as an image. */
  readonly base: Partial<Workload>
  /** The address of this machine as clones there reach it; loopback by default. */
  readonly gitAddress?: string
  /** Ends a workload without asking the runtime. */
  endFromOutside(id: string): Promise<void>
  isRunning(id: string): Promise<boolean>
  /** The services of a workload that are left. */
  services(id: string): Promise<readonly string[]>
  /** Everything about a workload that can be seen by those who may inspect the place, but not its secrets. */
  describe(id: string): Promise<string>
  /** Names of what is left there, of any workload. */
  leftovers(): Promise<readonly string[]>
}

export interface OpenOptions {
  readonly graceMs?: number
  readonly output?: OutputLimits
  readonly clone?: CloneOptions
}

/** Servers that a runtime in a process of its own clones from. */
export const CLONE_HOSTS = 'PHASELINE_TEST_CLONE_HOSTS'
export const clonesFrom = (...hosts: readonly string[]): CloneOptions => ({
  ...{ hosts, maxBytes: 8 * 1024 ** 2, seconds: 60 },
})
export const usualClones = (): CloneOptions => clonesFrom(process.env[CLONE_HOSTS] ?? 'git.invalid')

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
  const commits: unknown[] = []
  let running = 0
  const watcher: Watcher = {
    signal,
    onRunning: (commit) => {
      running += 1
      commits.push(commit)
    },
    onLine: (stream, text) => lines.push(`${stream} ${text}`),
  }
  return { lines, watcher, commits, timesRunning: () => running }
}
