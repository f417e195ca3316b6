import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'task',
      group: 'Work',
      description: 'tasks: jobs of gadgets that never collide and always recover',
      load: async () => (await import('./task.ts')).addTask,
    },
    {
      usage: 'locks [options]',
      group: 'Around',
      description: 'show which jobs hold locks on resources, and which wait for them, in order',
      load: async () => (await import('./locks.ts')).addLocks,
    },
    {
      usage: 'undo',
      group: 'Around',
      description: 'jobs of tasks that could not be undone',
      load: async () => (await import('./undo.ts')).addUndo,
    },
  ],
  exports: async () => [(await import('./tasks/export.ts')).tasks],
  otherKinds: { Task: 'is run, not applied, each time anew: use phaseline task run -f FILE' },
  shows: {
    TASK: async () => (await import('./task.ts')).showTask,
    GADGET_JOB: async () => (await import('./task.ts')).showJob,
  },
}
