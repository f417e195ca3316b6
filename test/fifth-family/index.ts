import { defineFamily } from '../../src/families/define-family.ts'
import { backup } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

/** Copies of volumes: a family that is not the product's, as docs/adding-a-family.md has it. */
export const backups = defineFamily({
  name: 'backups',
  title: 'Backups',
  machines: [backup],
  kinds: { BACKUP: { type: 'Backup', noun: 'backup', agents: ['COPIER'] } },
  words,
  rights: Object.values(rights),
  agents: [],
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli.ts')).cli,
})
