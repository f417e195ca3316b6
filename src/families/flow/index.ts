import { defineFamily } from '../define-family.ts'
import { invariantRights, rights } from './rights.ts'

/** Limits bound how much of a project runs at once, and invariants which jobs begin. The family has no objects of its own: those of other families ask. */
export const flow = defineFamily({
  name: 'flow',
  title: 'Flow',
  machines: [],
  words: {},
  kinds: {},
  rights: [...Object.values(rights), ...Object.values(invariantRights)],
  agents: [],
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
