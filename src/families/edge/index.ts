import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'

/** Cloudlets, their cluster instances and app instances. */
export const edge = defineFamily({
  name: 'edge',
  title: 'Edge',
  machines,
  kinds: {
    CLOUDLET: { type: 'Cloudlet', noun: 'cloudlet' },
    CLUSTER_INST: { type: 'ClusterInst', noun: 'cluster' },
    APP_INST: { type: 'AppInst', noun: 'app' },
  },
  // Users start a CRM for each cloudlet.
  agents: [],
  server: async () => (await import('./server.ts')).server,
})
