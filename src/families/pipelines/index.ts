import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

declare module '../../core/tree.ts' {
  interface TimeoutDefaults {
    /** How long a runtime that is missed may take to come back. */
    readonly runtimeLostMs: number
    /** From the end of a workload until its resources are removed. */
    readonly cleanupMs: number
  }
}

const CONTAINER_OPTIONS = [
  ...['engine', 'workload-url', 'pull', 'registries', 'network'],
  ...['memory', 'cpus', 'pids', 'user', 'root'],
]

/** Events, their workers and jobs. */
export const pipelines = defineFamily({
  name: 'pipelines',
  title: 'Pipelines',
  machines,
  words,
  kinds: {
    EVENT: { type: 'Event', noun: 'event' },
    WORKER: { type: 'Worker', noun: 'worker', agents: ['RUNTIME'] },
    JOB: { type: 'Job', noun: 'job', agents: ['RUNTIME'] },
  },
  timeouts: [
    { name: 'runtimeLostMs', setting: 'PHASELINE_RUNTIME_LOST_TIMEOUT_MS', defaultMs: 300_000 },
    { name: 'cleanupMs', setting: 'PHASELINE_CLEANUP_DELAY_MS', defaultMs: 60_000 },
  ],
  rights: Object.values(rights),
  agents: [
    {
      name: 'built-in-runtime',
      actor: 'RUNTIME',
      types: ['process'],
      purpose: 'phaseline built-in runtime',
      async processes({ workloads, dataDir, announce }) {
        const { chooseLevel } = await import('./agents/process/isolation.ts')
        const { options, reason, isWarning } = await chooseLevel(workloads, dataDir)
        announce(`the process runtime is ${reason}`, isWarning)
        return options ? [{ types: ['process'], state: `${dataDir}/runtime`, options }] : []
      },
    },
  ],
  programs: {
    process: {
      options: ['isolation', 'network', 'folders'],
      load: async () => (await import('./agents.ts')).processes,
    },
    container: {
      options: CONTAINER_OPTIONS,
      load: async () => (await import('./agents/container/program.ts')).containers,
    },
    kubernetes: {
      options: ['namespace', 'replica', 'pods', 'workload-url'],
      load: async () => (await import('./agents/kubernetes/program.ts')).kubernetes,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli.ts')).cli,
})
