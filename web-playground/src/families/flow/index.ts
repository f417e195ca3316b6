import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import type { DashboardFamily } from '../family.ts'

export const flow: DashboardFamily = {
  name: 'flow',
  pages: [
    {
      section: 'Fleet',
      label: 'Limits',
      path: '/limits',
      docs: 'limits-by-key',
      component: lazyPart(() => import('./limits-page.tsx')),
    },
  ],
  linksFor: () => [],
  forms: async () => [],
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
