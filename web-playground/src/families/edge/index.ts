import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { createHref } from '../../ui/links.ts'
import type { DashboardFamily } from '../family.ts'

export const edge: DashboardFamily = {
  name: 'edge',
  pages: [
    {
      section: 'Fleet',
      label: 'Edge',
      path: '/edge',
      docs: 'edge',
      component: lazyPart(() => import('./page/edge-page.tsx')),
      agents: 'CRMs',
    },
  ],
  firstForm: { name: 'cloudlet', example: 'north' },
  linksFor({ kind, id }) {
    if (kind === 'CLOUDLET') return [['Add a cluster', createHref('cluster', { on: id })]]
    return kind === 'CLUSTER_INST' ? [['Add an app', createHref('app', { on: id })]] : []
  },
  forms: async () => (await loadPart(() => import('./create/index.ts'))).forms,
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
