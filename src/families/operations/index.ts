import { defineFamily } from '../define-family.ts'
import { machines } from './machines.ts'
import { rights } from './rights.ts'
import { words } from './words.ts'

/** Tasks and the jobs of their gadgets. */
export const operations = defineFamily({
  name: 'operations',
  title: 'Operations',
  machines,
  words,
  kinds: {
    TASK: { type: 'Task', noun: 'task' },
    GADGET_JOB: { type: 'GadgetJob', noun: 'gadget job', agents: ['GADGET_RUNNER'] },
  },
  rights: Object.values(rights),
  agents: [
    {
      name: 'built-in-runner',
      actor: 'GADGET_RUNNER',
      types: ['gadget-job'],
      purpose: 'phaseline built-in runner',
      // A runner without gadgets has nothing to run.
      processes: ({ gadgetFolders }) => (gadgetFolders.length > 0 ? [{ types: ['gadget-job'], gadgetFolders }] : []),
    },
  ],
  programs: {
    'gadget-job': {
      title: 'jobs of tasks, with the gadgets of PHASELINE_GADGETS',
      load: async () => (await import('./agents/index.ts')).gadgetJob,
    },
  },
  server: async () => (await import('./server.ts')).server,
  cli: async () => (await import('./cli/index.ts')).cli,
})
