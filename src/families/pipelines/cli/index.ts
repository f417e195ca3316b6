import { IMPORT } from '../../../cli/import/import-group.ts'
import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'event',
      group: 'Work',
      description: 'events: what has happened, and the workers and jobs it starts',
      load: async () => (await import('./event.ts')).addEvent,
    },
    {
      usage: 'artifact',
      group: 'Around',
      description: 'artifacts: files and folders that workers and jobs leave',
      load: async () => (await import('../artifacts/cli.ts')).addArtifact,
    },
    {
      usage: 'cache',
      group: 'Around',
      description: 'the cache of a project: files and folders that workloads keep for later ones',
      load: async () => (await import('../artifacts/cli.ts')).addCache,
    },
    {
      usage: 'places [options]',
      group: 'Around',
      description: 'list places of runtimes, with their state, labels and what runs there',
      load: async () => (await import('../placement/cli.ts')).addPlaces,
    },
    {
      usage: 'place',
      group: 'Around',
      description: 'drain a place of a runtime, or let it take work again',
      load: async () => (await import('../placement/cli.ts')).addPlace,
    },
    { ...IMPORT, load: async () => (await import('./import-brigade.ts')).addImportBrigade },
  ],
  shows: {
    EVENT: async () => (await import('./event.ts')).getEvent,
    WORKER: async () => (await import('./event.ts')).showWorkload,
    JOB: async () => (await import('./event.ts')).showWorkload,
  },
}
