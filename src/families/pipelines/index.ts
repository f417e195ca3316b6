import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'

/** Events, their workers and jobs. */
export const pipelines = defineFamily({
  name: 'pipelines',
  title: 'Pipelines',
  machines,
  kinds: {
    EVENT: { type: 'Event', noun: 'event' },
    WORKER: { type: 'Worker', noun: 'worker' },
    JOB: { type: 'Job', noun: 'job' },
  },
  agents: [
    {
      name: 'built-in-runtime',
      actor: 'RUNTIME',
      types: ['process'],
      purpose: 'phaseline built-in runtime',
      processes: ({ processRuntime, dataDir }) =>
        processRuntime ? [{ types: ['process'], state: `${dataDir}/runtime` }] : [],
    },
  ],
  server: async () => (await import('./server.ts')).server,
})
