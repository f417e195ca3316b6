import { loadPart } from '../../data/load-part.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { createHref } from '../../ui/links.ts'
import type { DashboardFamily } from '../family.ts'

export const deployments: DashboardFamily = {
  name: 'deployments',
  pages: [],
  projectParts: [lazyPart(() => import('./targets/targets.tsx'))],
  firstForm: { name: 'installation', example: 'nested' },
  linksFor: ({ kind, id, parent }) =>
    kind === 'INSTALLATION' && parent === null
      ? [
          ['Edit', createHref('installation', { from: id })],
          ['Copy', createHref('installation', { from: id, copy: true })],
        ]
      : [],
  forms: async () => (await loadPart(() => import('./create/index.ts'))).forms,
  examples: async () => (await loadPart(() => import('./examples.ts'))).examples,
}
