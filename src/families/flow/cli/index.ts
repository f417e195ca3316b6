import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'limit',
      group: 'Around',
      description: 'limits on how much of a project runs at once, by key',
      load: async () => (await import('./limit.ts')).addLimit,
    },
    {
      usage: 'invariant',
      group: 'Around',
      description: 'rules of a project about what may begin, such as: only after staging',
      load: async () => (await import('./invariant.ts')).addInvariant,
    },
  ],
  kinds: async () => [(await import('./apply.ts')).limits, (await import('./invariant.ts')).invariants],
}
