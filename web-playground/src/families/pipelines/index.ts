import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import type { DashboardFamily } from '../family.ts'

export const pipelines: DashboardFamily = {
  name: 'pipelines',
  pages: [
    {
      section: 'Fleet',
      label: 'Places',
      path: '/places',
      docs: 'runtimes',
      component: lazyPart(() => import('./places/places-page.tsx')),
    },
  ],
  firstForm: { name: 'event', example: 'push' },
  linksFor: () => [],
  forms: async () => (await loadPart(() => import('./create/index.ts'))).forms,
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
