import { lazy } from 'react'
import type { DashboardFamily } from '../family.ts'

export const operations: DashboardFamily = {
  name: 'operations',
  pages: [{ path: '/locks', label: 'Locks', component: lazy(() => import('./locks/locks-page.tsx')) }],
  firstForm: 'task',
  linksFor: () => [],
  forms: async () => (await import('./create/index.ts')).forms,
  examples: async () => (await import('./examples.ts')).examples,
}
