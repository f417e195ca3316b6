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
    mock: { title: 'deploy items that only pretend', load: async () => (await import('./agents/index.ts')).mock },
    gadget: {
      title: 'deploy items by the gadgets of PHASELINE_GADGETS',
      load: async () => (await import('./agents/index.ts')).gadget,
    },
    // `container` is the runtime.
    'container-deployer': {
      title: 'deploy items of type container, on Docker or Podman',
      options: {
        engine: 'socket of the engine (otherwise DOCKER_HOST)',
        pull: 'missing (the default), always or never',
        registries: 'file like Docker’s config.json, with credentials',
      },
      load: async () => (await import('./agents/container/program.ts')).containers,
    },
    helm: {
      title: 'deploy items of charts of Helm',
      options: {
        helm: 'the program (otherwise helm in PATH)',
        charts: 'folder of charts, as folders and archives',
        repositories: 'from where charts may be fetched: beginnings of addresses, with commas between',
        registries: 'file like Docker’s config.json, with credentials',
        kubeconfigs: 'folder of the kubeconfigs of targets, each named like its target',
        namespace: 'where its inventories are, and objects that name none',
      },
      load: async () => (await import('./agents/helm/program.ts')).helmCharts,
    },
    'kubernetes-manifest': {
      title: 'deploy items of objects of Kubernetes',
      options: {
        kubeconfigs: 'folder of the kubeconfigs of targets, each named like its target',
        namespace: 'where its inventories are, and objects that name none',
      },
      load: async () => (await import('./agents/kubernetes/program.ts')).kubernetesManifest,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
