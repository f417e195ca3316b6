import { defineMachine, type Machine } from '../../core/machine.ts'
import { DELETE_TEXT } from '../../core/verb.ts'

/** A schedule has no job: all its phases are final, and lateness is a blocker. */
export const schedule = defineMachine({
  name: 'schedule',
  kinds: ['SCHEDULE'],
  initial: 'ACTIVE',
  final: ['ACTIVE', 'PAUSED', 'FINISHED'],
  recordsSelf: true,
  rows: [
    ['ACTIVE', 'USER', 'PAUSED', 'paused: nothing fires until it is resumed'],
    ['PAUSED', 'USER', 'ACTIVE', 'resumed'],
    ['ACTIVE', 'CONTROLLER', 'ACTIVE', 'a time has come'],
    ['ACTIVE', 'USER', 'ACTIVE', 'edited, fired by hand, or backfilled'],
    ['PAUSED', 'USER', 'PAUSED', 'edited, or backfilled'],
    ['PAUSED', 'CONTROLLER', 'PAUSED', 'a firing that waited is skipped or refused'],
    ['FINISHED', 'CONTROLLER', 'FINISHED', 'a firing that waited is skipped or refused'],
    [['ACTIVE', 'PAUSED'], 'CONTROLLER', 'FINISHED', 'no time is to come'],
    [['ACTIVE', 'PAUSED'], 'USER', 'FINISHED', 'edited: no time is to come'],
    ['FINISHED', 'USER', ['ACTIVE', 'PAUSED'], 'edited: a time is to come again'],
    [['ACTIVE', 'PAUSED', 'FINISHED'], 'USER', 'GONE', 'deleted'],
  ],
  classes: { WAITING: ['ACTIVE'], STOPPED: ['PAUSED'], DONE: ['FINISHED'] },
  verbs: [
    { name: 'fire', label: 'Fire now', mutation: 'fireSchedule', phases: ['ACTIVE'] },
    { name: 'pause', label: 'Pause', mutation: 'pauseSchedule', to: ['PAUSED'] },
    { name: 'resume', label: 'Resume', mutation: 'resumeSchedule', phases: ['PAUSED'] },
    { name: 'delete', label: 'Delete', mutation: 'deleteSchedule', to: ['GONE'], confirm: DELETE_TEXT, danger: true },
  ],
})

/** Its phase moves with what it has asked; the outcomes are rows beside it. */
export const bulkOperation = defineMachine({
  name: 'bulkOperation',
  kinds: ['BULK_OPERATION'],
  initial: 'PENDING',
  final: ['SUCCEEDED', 'FAILED', 'ABORTED'],
  rows: [
    ['PENDING', 'CONTROLLER', 'RUNNING', 'its targets are asked'],
    ['RUNNING', 'CONTROLLER', 'SUCCEEDED', 'each target has its outcome, and none was refused'],
    ['RUNNING', 'CONTROLLER', 'FAILED', 'each target has its outcome, and some were refused'],
    [['PENDING', 'RUNNING'], 'USER', 'ABORTED', 'cancelled: targets that were not asked yet are left as they are'],
    [['SUCCEEDED', 'FAILED', 'ABORTED'], 'USER', 'GONE', 'deleted, with its outcomes'],
  ],
  classes: { WAITING: ['PENDING'], ACTIVE: ['RUNNING'], DONE: ['SUCCEEDED'], FAILED: ['FAILED'], STOPPED: ['ABORTED'] },
  verbs: [
    {
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelBulkOperation',
      to: ['ABORTED'],
      confirm: 'Cancel {name}: objects that it has not asked yet are left as they are.',
    },
    {
      name: 'delete',
      label: 'Delete',
      mutation: 'deleteBulkOperation',
      to: ['GONE'],
      confirm: 'Delete {name} with its outcomes. Finished targets stay as they are.',
      danger: true,
      otherwise: 'it still runs: cancel it before it is deleted',
    },
  ],
})

export const machines: readonly Machine[] = [schedule, bulkOperation]
