import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

/** Installations, their executions and deploy items. */
export const deployments = defineFamily({
  name: 'deployments',
  title: 'Deployments',
  machines,
  words,
  kinds: {
    INSTALLATION: { type: 'Installation', noun: 'installation' },
    EXECUTION: { type: 'Execution', noun: 'execution' },
    DEPLOY_ITEM: { type: 'DeployItem', noun: 'deploy item', agents: ['DEPLOYER'] },
  },
  rights: Object.values(rights),
  agents: [
    {
      name: 'built-in',
      actor: 'DEPLOYER',
      types: ['mock', 'gadget'],
      purpose: 'phaseline built-in agents',
      // One process for each type, so that a mock that crashes on request does not stop gadgets.
      processes: ({ gadgetFolders }) => ['mock', 'gadget'].map((type) => ({ types: [type], gadgetFolders })),
    },
  ],
  programs: {
    mock: { load: async () => (await import('./agents.ts')).mock },
    gadget: { load: async () => (await import('./agents.ts')).gadget },
    // `container` is the runtime.
    'container-deployer': {
      options: ['engine', 'pull', 'registries'],
      load: async () => (await import('./agents/container/program.ts')).containers,
    },
    'kubernetes-manifest': {
      options: ['kubeconfigs', 'namespace'],
      load: async () => (await import('./agents/kubernetes/program.ts')).kubernetesManifest,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli.ts')).cli,
})
