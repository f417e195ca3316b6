import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { allRights } from './rights.ts'
import { kinds } from './rules/kinds.ts'
import { words } from './words.ts'

declare module '../../core/tree.ts' {
  interface TimeoutDefaults {
    /** How long a request may stay without a message of its CRM. */
    readonly crmSilenceMs: number
  }
}

/** Cloudlets, their cluster instances and app instances. */
export const edge = defineFamily({
  name: 'edge',
  title: 'Edge',
  machines,
  words,
  kinds,
  timeouts: [{ name: 'crmSilenceMs', setting: 'PHASELINE_CRM_SILENCE_MS', defaultMs: 300_000 }],
  rights: allRights,
  // Users start a CRM for each cloudlet.
  agents: [],
  programs: {
    crm: {
      title: 'simulated CRM of a cloudlet',
      options: {
        cloudlet: 'id or name of the cloudlet that it serves',
        role: 'CRM (the default), or CRM_V2 when an upgrade starts it',
        'crm-version': 'version of a new state folder (1.0.0)',
      },
      load: async () => (await import('./agents/index.ts')).crm,
    },
    'kubernetes-crm': {
      title: 'CRM of cloudlets on Kubernetes',
      options: {
        cloudlets:
          'ids or names of the cloudlets that it serves, with commas between; NAME=CONTEXT for a context of KUBECONFIG',
        kubeconfigs: 'folder of the kubeconfigs of existing clusters, each named as specs name it',
        'pod-security': 'restricted (the default) or baseline, which allows images whose user is root',
        'look-seconds': 'interval of the search for drift (60)',
        'crm-version': 'version that the cloudlet shows (1.0.0)',
      },
      load: async () => (await import('./agents/kubernetes/program.ts')).kubernetesCrm,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
