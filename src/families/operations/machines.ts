import { defineMachine, type Machine } from '../../core/machine.ts'
import { backoffVerbs, CANCEL_TEXT, DELETE_TEXT, gateVerbs, pauseVerbs } from '../../core/verb.ts'

export const task = defineMachine({
  name: 'task',
  kinds: ['TASK'],
  initial: 'PENDING',
  final: ['SUCCEEDED', 'FAILED', 'ABORTED'],
  rows: [
    ['PENDING', 'CONTROLLER', 'RUNNING', 'its jobs take their turns'],
    ['RUNNING', 'CONTROLLER', 'SUCCEEDED', 'all jobs ended, each done or skipped by its condition'],
    ['RUNNING', 'CONTROLLER', 'FAILED', 'all jobs ended, and one failed'],
    [['PENDING', 'RUNNING'], 'USER', 'ABORTING', 'cancelled: nothing new starts, what runs is aborted'],
    ['ABORTING', 'CONTROLLER', 'ABORTED', 'all jobs ended'],
    [['SUCCEEDED', 'FAILED', 'ABORTED'], 'USER', 'GONE', 'deleted'],
  ],
  classes: {
    WAITING: ['PENDING'],
    DONE: ['SUCCEEDED'],
    FAILED: ['FAILED'],
    STOPPED: ['ABORTED'],
    UNDOING: ['ABORTING'],
  },
  verbs: [
    {
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelTask',
      to: ['ABORTING'],
      finished: false,
      confirm: CANCEL_TEXT,
    },
    ...pauseVerbs('TASK', { endsForGood: true }),
    {
      name: 'retry',
      label: 'Retry',
      mutation: 'retryTask',
      phases: ['FAILED', 'ABORTED'],
      input: { unsuccessful: true },
      finished: true,
    },
    { name: 'rerun', label: 'Run again', mutation: 'retryTask', finished: true },
    {
      name: 'delete',
      label: 'Delete',
      mutation: 'deleteTask',
      to: ['GONE'],
      confirm: DELETE_TEXT,
      danger: true,
      otherwise: 'not ended yet: cancel them first',
    },
  ],
})

/** UNDO_FAILED is not final: the job keeps its locks, and its task stays open, until an operator decides. */
export const gadgetJob = defineMachine({
  name: 'gadgetJob',
  kinds: ['GADGET_JOB'],
  initial: 'PENDING',
  final: ['DONE', 'FAILED', 'ABORTED', 'SKIPPED'],
  rows: [
    ['PENDING', 'CONTROLLER', 'DECLARING', 'its turn in the task'],
    ['PENDING', 'CONTROLLER', 'DONE', 'inherited from the task that is retried'],
    ['PENDING', 'CONTROLLER', 'SKIPPED', 'its condition is false, or an earlier job failed'],
    // Needed by its `when: ${…}`: one that cannot be resolved would hold the task for ever, and SKIPPED would let
    // the jobs that depend on it start.
    [
      'PENDING',
      'CONTROLLER',
      'FAILED',
      'its condition or its arguments cannot be resolved, or its gate was not opened in time',
    ],
    ['DECLARING', 'GADGET_RUNNER', 'WAITING', 'locks declared'],
    ['DECLARING', 'GADGET_RUNNER', 'FAILED', 'non-zero exit, or a malformed line, while declaring locks'],
    ['WAITING', 'CONTROLLER', 'RUNNING', 'all locks granted, START journalled'],
    // Needed by "after a failure nothing new starts": in a graph, another branch may fail while this one waits.
    ['WAITING', 'CONTROLLER', 'SKIPPED', 'another job failed while it waited for its locks'],
    ['RUNNING', 'GADGET_RUNNER', 'DONE', 'exit 0'],
    ['RUNNING', 'GADGET_RUNNER', 'UNDOING', 'non-zero exit, or a protocol error'],
    ['RUNNING', 'CONTROLLER', 'UNDOING', 'found running after a crash'],
    ['UNDOING', 'GADGET_RUNNER', 'FAILED', 'undone after a failure'],
    ['UNDOING', 'GADGET_RUNNER', 'PENDING', 'retry: undone after a failure, and its policy has another attempt'],
    ['PENDING', 'USER', 'FAILED', 'retry: a user has given up; or rejected at its gate'],
    ['WAITING', 'CONTROLLER', 'FAILED', 'retry: another job failed before its next attempt'],
    ['UNDOING', 'GADGET_RUNNER', 'RUNNING', 'undone after a crash: it runs again, locks held throughout'],
    ['UNDOING', 'GADGET_RUNNER', 'ABORTED', 'undone, and the task was cancelled meanwhile'],
    ['UNDOING', 'GADGET_RUNNER', 'UNDO_FAILED', 'could not be undone: locks kept, an operator must decide'],
    ['RUNNING', 'USER', 'ABORTING', 'cancelled: SIGINT, grace, SIGKILL, then the clean-up'],
    ['ABORTING', 'GADGET_RUNNER', 'ABORTED', 'cleaned up'],
    ['ABORTING', 'GADGET_RUNNER', 'UNDO_FAILED', 'could not be cleaned up: locks kept, an operator must decide'],
    [['PENDING', 'DECLARING', 'WAITING'], 'USER', 'ABORTED', 'cancelled before it ran'],
    ['UNDO_FAILED', 'USER', 'UNDOING', 'an operator has it undone again'],
    ['UNDO_FAILED', 'USER', 'FAILED', 'an operator gives up and releases its locks'],
    // Needed by the deletion of its task. Not the user's own row: a job cannot be deleted by itself.
    [['DONE', 'FAILED', 'ABORTED', 'SKIPPED'], 'CONTROLLER', 'GONE', 'deleted with its task'],
  ],
  classes: {
    WAITING: ['PENDING', 'WAITING'],
    DONE: ['DONE'],
    SKIPPED: ['SKIPPED'],
    FAILED: ['FAILED', 'UNDO_FAILED'],
    STOPPED: ['ABORTED'],
    UNDOING: ['UNDOING', 'ABORTING'],
  },
  verbs: [
    {
      name: 'retryUndo',
      label: 'Undo again',
      mutation: 'resolveUndo',
      to: ['UNDOING'],
      input: { decision: 'RETRY' },
    },
    {
      name: 'giveUpUndo',
      label: 'Give up',
      mutation: 'resolveUndo',
      // Other decisions lead there from PENDING.
      phases: ['UNDO_FAILED'],
      to: ['FAILED'],
      confirm: 'Leave {name} as it is: its locks are released, and nothing is undone any more.',
      danger: true,
      input: { decision: 'GIVE_UP' },
    },
    ...backoffVerbs(['PENDING']),
    ...gateVerbs('PENDING', 'it fails, and its task starts nothing more.'),
  ],
})

export const machines: readonly Machine[] = [task, gadgetJob]
