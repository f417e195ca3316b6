import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

/** Schedules and bulk operations, which start and ask what other families run. */
export const automation = defineFamily({
  name: 'automation',
  title: 'Automation',
  machines,
  words,
  kinds: {
    SCHEDULE: { type: 'Schedule', noun: 'schedule' },
    BULK_OPERATION: { type: 'BulkOperation', noun: 'bulk operation' },
  },
  rights: Object.values(rights),
  agents: [],
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
