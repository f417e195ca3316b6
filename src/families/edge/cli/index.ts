import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'cloudlet',
      group: 'Work',
      description: 'cloudlets: edge sites whose instances a CRM keeps',
      load: async () => (await import('./commands.ts')).addCloudlet,
    },
    {
      usage: 'cluster',
      group: 'Work',
      description: 'clusters on cloudlets',
      load: async () => (await import('./commands.ts')).addCluster,
    },
    {
      usage: 'app',
      group: 'Work',
      description: 'apps in clusters on cloudlets',
      load: async () => (await import('./commands.ts')).addApp,
    },
  ],
  shows: {
    CLOUDLET: async () => (await import('./commands.ts')).getCloudlet,
    CLUSTER_INST: async () => (await import('./commands.ts')).getInstance,
    APP_INST: async () => (await import('./commands.ts')).getInstance,
  },
}
