import { lazy } from 'react'
import type { DashboardFamily } from '../family.ts'

export const pipelines: DashboardFamily = {
  name: 'pipelines',
  pages: [
    { path: '/places', label: 'Places', component: lazy(() => import('./places/places-page.tsx')), ofAgents: true },
  ],
  firstForm: 'event',
  linksFor: () => [],
  forms: async () => (await import('./create/index.ts')).forms,
  examples: async () => (await import('./examples.ts')).examples,
}
