import { defineMachine } from '../../src/core/machine.ts'

const ENDED = ['KEPT', 'FAILED', 'ABORTED'] as const
/** From its pickup to its end. */
const CLAIMED = ['COPYING', 'ABORTING'] as const

export const backup = defineMachine({
  name: 'backup',
  kinds: ['BACKUP'],
  initial: 'PENDING',
  final: ENDED,
  rows: [
    ['PENDING', 'COPIER', 'COPYING', 'claimed'],
    ['COPYING', 'COPIER', 'KEPT', 'copied'],
    ['COPYING', 'COPIER', 'FAILED', 'could not be copied'],
    ['PENDING', 'USER', 'ABORTED', 'cancelled before a copier took it'],
    ['COPYING', 'USER', 'ABORTING', 'cancelled: its copier is asked to stop'],
    ['ABORTING', 'COPIER', 'ABORTED', 'stopped on request'],
    [CLAIMED, 'CONTROLLER', 'FAILED', "its copier's lease is lost"],
    [ENDED, 'USER', 'GONE', 'deleted'],
  ],
  classes: {
    WAITING: ['PENDING'],
    DONE: ['KEPT'],
    FAILED: ['FAILED'],
    STOPPED: ['ABORTED'],
    UNDOING: ['ABORTING'],
  },
  verbs: [
    {
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelBackup',
      to: ['ABORTED', 'ABORTING'],
      confirm: 'Cancel {name}: what is copied so far is thrown away.',
    },
    {
      name: 'delete',
      label: 'Delete',
      mutation: 'deleteBackup',
      to: ['GONE'],
      confirm: 'Delete {name} and its copy. This cannot be undone.',
      danger: true,
      otherwise: 'not ended yet: cancel them first',
    },
  ],
})
