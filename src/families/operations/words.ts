import type { FamilyWords } from '../../core/vocabulary.ts'

export const words: FamilyWords = {
  kinds: {
    TASK: 'A sequence or graph of gadget jobs.',
    GADGET_JOB: 'One run of a gadget within a task, under locks.',
  },
  actors: { GADGET_RUNNER: 'An agent that runs the gadgets of tasks.' },
  phases: {
    PENDING: 'A gadget job waits for its turn.',
    RUNNING: 'Task: its jobs take their turns. Gadget job: its gadget runs under its locks.',
    DECLARING: 'The gadget of a job declares the locks that it needs (`--getlocks`).',
    WAITING: 'A gadget job waits in the queue for its locks. It holds none of them yet.',
    DONE: 'A gadget job succeeded, and its locks are released. Final.',
    UNDOING:
      'A gadget job is undone (`--undo`) after a failure or a crash, or its clean-up (`--abort`) is repeated. Its locks are held.',
    UNDO_FAILED:
      'A gadget job could not be undone or cleaned up. It keeps its locks until an operator decides with `resolveUndo`.',
    ABORTING:
      'Task: it is cancelled, nothing new starts and running jobs are aborted. Gadget job: its gadget is stopped and cleaned up (`--abort`).',
    SKIPPED: 'A gadget job did not run, since its condition is false or another job failed. Final.',
  },
  actions: {
    GET_LOCKS: 'For gadget runners: ask the gadget for the locks that it needs (`--getlocks`).',
    RUN: 'For gadget runners: run the gadget.',
    UNDO: 'For gadget runners: undo the run (`--undo`).',
    ABORT: 'For gadget runners: clean up after a run that was stopped (`--abort`).',
  },
}
