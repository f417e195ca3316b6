import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import type { DashboardFamily } from '../family.ts'

export const automation: DashboardFamily = {
  name: 'automation',
  pages: [
    {
      section: 'Trees',
      label: 'Schedules',
      path: '/schedules',
      docs: 'schedules',
      component: lazyPart(() => import('./schedules/schedules-page.tsx')),
    },
    { section: 'Trees', label: 'Bulk operations', path: '/objects', query: 'kind=BULK_OPERATION', docs: 'bulk' },
  ],
  linksFor: ({ kind, id }) => (kind === 'SCHEDULE' ? [['Calendar and backfill', `/schedules?id=${id}`]] : []),
  forms: async () => [],
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
