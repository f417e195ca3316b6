import { defineFamily } from '../define-family.ts'
import { rights } from './rights.ts'

/** Notifications tell phase changes to people and other systems. The family has no objects of its own. */
export const notifications = defineFamily({
  name: 'notifications',
  title: 'Notifications',
  machines: [],
  words: {},
  kinds: {},
  rights: Object.values(rights),
  agents: [],
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
