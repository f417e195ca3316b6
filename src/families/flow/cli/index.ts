import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'limit',
      group: 'Around',
      description: 'limits on how much of a project runs at once, by key',
      load: async () => (await import('./limit.ts')).addLimit,
    },
  ],
  kinds: async () => [(await import('./apply.ts')).limits],
}
