import type { DashboardFamily } from '../family.ts'

export const pipelines: DashboardFamily = {
  name: 'pipelines',
  pages: [],
  firstForm: 'event',
  linksFor: () => [],
  forms: async () => (await import('./create/index.ts')).forms,
  examples: async () => (await import('./examples.ts')).examples,
}
