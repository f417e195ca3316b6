import { IMPORT } from '../../../cli/import/import-group.ts'
import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'reconcile [options] [name...]',
      group: 'Change',
      description: 'ask for a job over the tree of a root installation',
      load: async () => (await import('./reconcile.ts')).addReconcile,
    },
    {
      usage: 'runs [options] <name>',
      group: 'See',
      description: 'list the jobs of a root installation, the newest first',
      load: async () => (await import('./runs.ts')).addRuns,
    },
    {
      usage: 'rollback [options] <name>',
      group: 'Change',
      description: 'bring back an earlier spec of a root installation',
      load: async () => (await import('./rollback.ts')).addRollback,
    },
    {
      usage: 'promote [options] <name>',
      group: 'Change',
      description: 'bring the spec of a root installation that has succeeded in one project to another project',
      load: async () => (await import('./promote.ts')).addPromote,
    },
    {
      usage: 'compare [options] <name>',
      group: 'See',
      description: 'show how the spec of a root installation differs between two projects',
      load: async () => (await import('./promote.ts')).addCompare,
    },
    {
      usage: 'diff [options] [name]',
      group: 'See',
      description: 'show what has changed in a tree since a time, between two runs, or what apply would change',
      load: async () => (await import('./diff.ts')).addDiff,
    },
    {
      usage: 'data',
      group: 'Around',
      description: 'set, delete or list data in the scope of a project',
      load: async () => (await import('./data.ts')).addData,
    },
    {
      usage: 'target',
      group: 'Around',
      description: 'set, import, list or delete targets of a project, such as clusters',
      load: async () => (await import('./target.ts')).addTarget,
    },
    { ...IMPORT, load: async () => (await import('./import/index.ts')).addImports },
  ],
  kinds: async () => [(await import('../../../cli/manifests/installations.ts')).installations],
  archives: async () => [(await import('./archived-runs.ts')).runStream],
}
