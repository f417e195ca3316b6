import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import type { DashboardFamily } from '../family.ts'

export const notifications: DashboardFamily = {
  name: 'notifications',
  pages: [
    {
      section: 'Settings',
      label: 'Notifications',
      path: '/rules',
      docs: 'notifications',
      component: lazyPart(() => import('./rules-page.tsx')),
    },
  ],
  linksFor: () => [],
  forms: async () => [],
  projectParts: [lazyPart(() => import('./notifications.tsx'))],
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
