import { defineMachine, type Machine } from '../../core/machine.ts'
import { backoffVerbs, CANCEL_TEXT, DELETE_TEXT, gateVerbs, pauseVerbs } from '../../core/verb.ts'
import type { Phase } from '../../core/vocabulary.ts'

/** Phases in which its process may live. */
export const STARTED: readonly Phase[] = ['STARTING', 'RUNNING', 'UNKNOWN']
const TERMINAL = ['SUCCEEDED', 'FAILED', 'ABORTED', 'CANCELED', 'SCHEDULING_FAILED', 'TIMED_OUT'] as const

/** The machine of workers and jobs, and of events, which have their worker's phase and move with it. */
export const worker = defineMachine({
  name: 'worker',
  kinds: ['EVENT', 'WORKER', 'JOB'],
  initial: 'PENDING',
  final: TERMINAL,
  rows: [
    ['PENDING', 'CONTROLLER', 'STARTING', 'capacity found'],
    ['PENDING', 'CONTROLLER', 'SCHEDULING_FAILED', 'cannot be started'],
    // Needed by "Retry: a new event with the same worker spec, inheriting succeeded jobs": such a job never runs again.
    ['PENDING', 'CONTROLLER', 'SUCCEEDED', 'jobs only: inherited from the event that is retried'],
    ['PENDING', 'USER', 'CANCELED', 'cancelled before it started, or rejected at its gate'],
    [
      'PENDING',
      'CONTROLLER',
      'CANCELED',
      'its worker ended, another one has its place (LATEST_ONLY, or a limit by key), or its gate was not opened in time',
    ],
    ['PENDING', 'WORKER', 'CANCELED', 'jobs only: its worker cancels it'],
    ['STARTING', 'RUNTIME', 'RUNNING', 'its process runs'],
    ['STARTING', 'RUNTIME', ['SUCCEEDED', 'FAILED'], 'its process ended; the Running message was missed'],
    [['STARTING', 'RUNNING'], 'RUNTIME', 'UNKNOWN', 'its runtime cannot tell how it is'],
    ['STARTING', 'RUNTIME', 'SCHEDULING_FAILED', 'could not be started'],
    ['STARTING', 'CONTROLLER', 'SCHEDULING_FAILED', 'no runtime can start it'],
    [['RUNNING', 'UNKNOWN'], 'RUNTIME', 'SUCCEEDED', 'its process exited with 0'],
    [['RUNNING', 'UNKNOWN'], 'RUNTIME', 'FAILED', 'its process exited with another code or by a signal'],
    ['UNKNOWN', 'RUNTIME', 'RUNNING', 'its runtime is back and has adopted it'],
    [STARTED, 'RUNTIME', 'ABORTED', 'its workload was deleted from outside'],
    [STARTED, 'USER', 'ABORTED', 'cancelled while it ran'],
    [STARTED, 'CONTROLLER', 'ABORTED', 'its worker ended, or a newer one took its place at a limit (CANCEL_RUNNING)'],
    [STARTED, 'WORKER', 'ABORTED', 'jobs only: its worker cancels it'],
    [STARTED, 'WORKER', 'TIMED_OUT', 'jobs only: it took longer than its worker allows'],
    [STARTED, 'CONTROLLER', 'TIMED_OUT', 'it took longer than its timeout'],
    [['STARTING', 'RUNNING'], 'CONTROLLER', 'UNKNOWN', "its runtime's lease is lost"],
    ['UNKNOWN', 'CONTROLLER', 'FAILED', 'its runtime did not come back in time'],
    [STARTED, 'CONTROLLER', 'PENDING', 'retry: an attempt failed, and its policy has another one'],
    ['PENDING', 'USER', 'FAILED', 'retry: a user has given up'],
    ['PENDING', 'CONTROLLER', 'FAILED', 'retry: no runtime has removed what the last attempt has left'],
    ['PENDING', 'CONTROLLER', 'TIMED_OUT', 'retry: its timeout has passed before the next attempt'],
    [TERMINAL, 'CONTROLLER', 'GONE', 'jobs only: the next attempt of its worker creates another one of its name'],
    [['PENDING', ...STARTED, ...TERMINAL], 'USER', 'GONE', 'deleted'],
  ],
  classes: {
    WAITING: ['PENDING'],
    DONE: ['SUCCEEDED'],
    FAILED: ['FAILED', 'SCHEDULING_FAILED', 'TIMED_OUT'],
    STOPPED: ['ABORTED', 'CANCELED'],
  },
  verbs: [
    {
      kind: 'EVENT',
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelEvent',
      to: ['CANCELED', 'ABORTED'],
      finished: false,
      confirm: CANCEL_TEXT,
    },
    ...pauseVerbs('EVENT', { endsForGood: true }),
    { kind: 'EVENT', name: 'retry', label: 'Retry', mutation: 'retryEvent', finished: true },
    { kind: 'EVENT', name: 'clone', label: 'Run again as new', mutation: 'cloneEvent' },
    {
      kind: 'EVENT',
      name: 'delete',
      label: 'Delete',
      mutation: 'deleteEvent',
      to: ['GONE'],
      confirm: DELETE_TEXT,
      danger: true,
    },
    {
      kind: 'JOB',
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelJob',
      to: ['CANCELED', 'ABORTED'],
      finished: false,
      confirm: CANCEL_TEXT,
    },
    ...backoffVerbs(['PENDING'], 'WORKER'),
    ...backoffVerbs(['PENDING'], 'JOB'),
    ...gateVerbs('PENDING', 'it never starts.', 'WORKER'),
    ...gateVerbs('PENDING', 'it never starts.', 'JOB'),
  ],
})

export const machines: readonly Machine[] = [worker]
