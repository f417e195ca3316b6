import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

declare module '../../core/tree.ts' {
  interface TimeoutDefaults {
    /** How long a missing runtime may take to come back. */
    readonly runtimeLostMs: number
    /** From the end of a workload until its resources are removed. */
    readonly cleanupMs: number
  }
}

const CLONE_OPTIONS = {
  'clone-hosts': 'hosts that it clones from, comma-separated, or * (otherwise any, if workloads have a network)',
  'clone-size': 'size of a clone at most (2g)',
  'clone-seconds': 'duration of a clone at most (600)',
} as const

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
      title: 'runtime of workers and jobs as processes of this machine',
      options: {
        isolation: 'isolated (the default) or trusted',
        network: 'what isolated ones reach: api (the default) or host',
        folders: 'further folders that isolated ones may read, with colons between',
        ...CLONE_OPTIONS,
      },
      load: async () => (await import('./agents/index.ts')).processes,
    },
    container: {
      title: 'runtime of workers and jobs as containers of Docker or Podman',
      options: {
        engine: 'socket of the engine (otherwise DOCKER_HOST)',
        'workload-url': 'the API as containers reach it (otherwise --url)',
        pull: 'missing (the default), always or never',
        registries: 'file like Docker’s config.json, with credentials',
        network: 'none, bridge (the default), host, or a network of the engine',
        memory: 'limit of each container, such as 512m',
        cpus: 'limit of each container, such as 1.5',
        pids: 'how many processes each may have (1024)',
        user: 'uid or uid:gid (otherwise the image’s)',
        root: 'read-only (the default) or writable',
        ...CLONE_OPTIONS,
      },
      load: async () => (await import('./agents/container/program.ts')).containers,
    },
    kubernetes: {
      title: 'runtime of workers and jobs as pods of a cluster',
      options: {
        namespace: 'where the pods are (otherwise that of the kubeconfig)',
        replica: 'name of this replica, the same after a restart (otherwise the host’s)',
        pods: 'file with the settings of pods',
        'workload-url': 'the API as pods reach it (otherwise --url)',
        'clone-image': 'image with git and a shell that clones (otherwise that of the worker or job)',
        'artifact-image': 'image with sh, tar and dd that hands artifacts over (otherwise that of the worker or job)',
        ...CLONE_OPTIONS,
      },
      load: async () => (await import('./agents/kubernetes/program.ts')).kubernetes,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
