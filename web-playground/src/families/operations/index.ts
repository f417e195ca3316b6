import { loadPart } from '../../data/load-part.ts'
import { rerunsFor } from '../../model/actions.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import type { DashboardFamily } from '../family.ts'

export const operations: DashboardFamily = {
  name: 'operations',
  pages: [
    {
      section: 'Fleet',
      label: 'Locks',
      path: '/locks',
      docs: 'tasks',
      component: lazyPart(() => import('./locks/locks-page.tsx')),
    },
  ],
  firstForm: { name: 'task', example: 'assets' },
  actionsFor: (object, root) => (object.kind === 'GADGET_JOB' ? rerunsFor(object, root) : []),
  linksFor: () => [],
  forms: async () => (await loadPart(() => import('./create/index.ts'))).forms,
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
