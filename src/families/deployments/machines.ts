import { defineMachine, type Machine } from '../../core/machine.ts'
import { backoffVerbs, CANCEL_TEXT, gateVerbs, pauseVerbs } from '../../core/verb.ts'
import type { Phase } from '../../core/vocabulary.ts'

const ENDED = ['SUCCEEDED', 'FAILED', 'ABORTED'] as const
const FINAL = [...ENDED, 'DELETE_FAILED'] as const
/** Phases in which a reconcile job may begin. A deletion can be repeated, but not undone. */
const STARTABLE = ['PENDING', ...ENDED] as const
const DELETABLE = ['PENDING', ...FINAL] as const
/** Phases of an installation's job after its start. */
export const INSTALLING: readonly Phase[] = ['INIT', 'CLEANUP_ORPHANED', 'OBJECTS_CREATED', 'PROGRESSING', 'COMPLETING']
/** Classes of the phases; phases without one are ACTIVE. */
const CLASSES = {
  WAITING: ['PENDING'],
  DONE: ['SUCCEEDED'],
  FAILED: ['FAILED', 'DELETE_FAILED'],
  STOPPED: ['ABORTED'],
  REMOVING: ['INIT_DELETE', 'DELETING'],
} as const
const UNINSTALLING = ['INIT_DELETE', 'TRIGGER_DELETE', 'DELETING'] as const

export const installation = defineMachine({
  name: 'installation',
  kinds: ['INSTALLATION'],
  initial: 'PENDING',
  final: FINAL,
  jobSpansTree: true,
  rows: [
    [STARTABLE, 'CONTROLLER', 'PENDING_DEPENDENCIES', 'a predecessor or an import is not ready'],
    [STARTABLE, 'CONTROLLER', 'INIT', 'everything it needs is ready'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'INIT', 'everything it needs is ready'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'FAILED', 'a predecessor ended this job without success'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'ABORTED', 'cancelled, or its deletion was requested'],
    ['INIT', 'CONTROLLER', 'CLEANUP_ORPHANED', 'spec read'],
    ['CLEANUP_ORPHANED', 'CONTROLLER', 'OBJECTS_CREATED', 'children written'],
    ['OBJECTS_CREATED', 'CONTROLLER', 'PROGRESSING', 'children started'],
    ['PROGRESSING', 'CONTROLLER', 'COMPLETING', 'all children succeeded'],
    ['COMPLETING', 'CONTROLLER', 'SUCCEEDED', 'exports stored'],
    [INSTALLING, 'CONTROLLER', 'FAILED', 'a fatal error or a failed child, and nothing below is running any more'],
    [INSTALLING, 'CONTROLLER', 'ABORTED', 'cancelled, and nothing below is running any more'],
    [DELETABLE, 'CONTROLLER', 'INIT_DELETE', 'deletion requested'],
    ['INIT_DELETE', 'CONTROLLER', 'TRIGGER_DELETE', 'no sibling imports from it'],
    ['TRIGGER_DELETE', 'CONTROLLER', 'DELETING', 'deletion of its children started'],
    ['DELETING', 'CONTROLLER', 'GONE', 'nothing below is left'],
    [UNINSTALLING, 'CONTROLLER', 'DELETE_FAILED', 'a sibling imports from it, something below is left, or cancelled'],
  ],
  classes: {
    ...CLASSES,
    WAITING: ['PENDING', 'PENDING_DEPENDENCIES'],
    REMOVING: UNINSTALLING,
  },
  // Only the controller moves an installation, so the verbs of a user depend on its state instead of on transitions.
  verbs: [
    {
      name: 'reconcile',
      label: 'Reconcile',
      mutation: 'reconcileInstallation',
      rootsOnly: true,
      whileDeleting: 'NEVER',
    },
    {
      name: 'retry',
      label: 'Retry what failed',
      mutation: 'reconcileInstallation',
      phases: ['FAILED', 'ABORTED'],
      rootsOnly: true,
      finished: true,
      whileDeleting: 'NEVER',
      input: { mode: 'IF_CHANGED' },
    },
    {
      name: 'cancel',
      label: 'Cancel',
      mutation: 'cancelInstallation',
      rootsOnly: true,
      finished: false,
      confirm: CANCEL_TEXT,
    },
    ...pauseVerbs('INSTALLATION'),
    {
      name: 'delete',
      label: 'Delete',
      mutation: 'deleteInstallation',
      rootsOnly: true,
      whileDeleting: 'ONCE_FINISHED',
      confirm: 'Delete {name} and everything below it, in reverse order of its creation. This cannot be undone.',
      danger: true,
      flags: [
        { name: 'force', description: 'Even while a sibling imports from it.' },
        { name: 'withoutUninstall', description: 'Forget the items without asking their deployers.' },
      ],
    },
  ],
})

export const execution = defineMachine({
  name: 'execution',
  kinds: ['EXECUTION'],
  initial: 'PENDING',
  final: FINAL,
  rows: [
    [STARTABLE, 'CONTROLLER', 'INIT', 'started'],
    ['INIT', 'CONTROLLER', 'PROGRESSING', 'items written from the spec'],
    ['PROGRESSING', 'CONTROLLER', 'COMPLETING', 'all items succeeded'],
    ['COMPLETING', 'CONTROLLER', 'SUCCEEDED', 'exports collected'],
    [
      ['INIT', 'PROGRESSING', 'COMPLETING'],
      'CONTROLLER',
      'FAILED',
      'a fatal error, a failed item and none running, or stuck',
    ],
    [['INIT', 'PROGRESSING', 'COMPLETING'], 'CONTROLLER', 'ABORTED', 'cancelled, and no item is running any more'],
    [DELETABLE, 'CONTROLLER', 'INIT_DELETE', 'a new job, deletion requested; or an orphan'],
    ['INIT_DELETE', 'CONTROLLER', 'DELETING', 'deletion of its items started'],
    ['DELETING', 'CONTROLLER', 'GONE', 'no item is left'],
    [['INIT_DELETE', 'DELETING'], 'CONTROLLER', 'DELETE_FAILED', 'an item could not be deleted, stuck, or cancelled'],
  ],
  classes: CLASSES,
})

export const deployItem = defineMachine({
  name: 'deployItem',
  kinds: ['DEPLOY_ITEM'],
  initial: 'PENDING',
  final: FINAL,
  rows: [
    [STARTABLE, 'CONTROLLER', 'INIT', 'everything it depends on is done'],
    ['INIT', 'CONTROLLER', 'FAILED', 'its config cannot be resolved, or no deployer picked it up in time'],
    ['INIT', 'CONTROLLER', 'ABORTED', 'cancelled before pickup, or a gate behind which nothing would begin'],
    ['INIT', 'DEPLOYER', 'PROGRESSING', 'claimed'],
    ['INIT', 'DEPLOYER', ['SUCCEEDED', 'FAILED'], 'ended; the Progressing message was missed'],
    ['PROGRESSING', 'DEPLOYER', 'SUCCEEDED', 'deployed'],
    // Also records the ABORTED of a deployer that a progressing timeout had asked to stop.
    ['PROGRESSING', 'DEPLOYER', 'FAILED', 'could not be deployed, or stopped after the progressing timeout'],
    ['PROGRESSING', 'DEPLOYER', 'ABORTED', 'stopped on request'],
    ['PROGRESSING', 'CONTROLLER', 'FAILED', 'its deployer did not stop within the aborting timeout'],
    ['PROGRESSING', 'CONTROLLER', 'ABORTED', 'cancelled after the timeout of an attempt, and its deployer is lost'],
    ['PROGRESSING', 'CONTROLLER', 'INIT', 'retry: an attempt failed, and its policy has another one'],
    ['INIT', 'USER', 'FAILED', 'retry: a user has given up; or a gate was rejected'],
    ['INIT', 'USER', 'SUCCEEDED', 'a gate was approved, or got its signal'],
    ['INIT', 'CONTROLLER', 'SUCCEEDED', 'the time of a gate has come, or its address has answered'],
    [DELETABLE, 'CONTROLLER', 'INIT_DELETE', 'a new job, deletion requested; or an orphan'],
    ['INIT_DELETE', 'DEPLOYER', 'DELETING', 'claimed'],
    ['INIT_DELETE', 'DEPLOYER', ['GONE', 'DELETE_FAILED'], 'ended; the Deleting message was missed'],
    ['DELETING', 'DEPLOYER', 'GONE', 'removed'],
    ['DELETING', 'DEPLOYER', 'DELETE_FAILED', 'could not be removed'],
    [['INIT_DELETE', 'DELETING'], 'CONTROLLER', 'DELETE_FAILED', 'a pickup or aborting timeout, or cancelled'],
    [['PENDING', 'INIT_DELETE'], 'CONTROLLER', 'GONE', 'never deployed, or deleted without uninstalling'],
  ],
  classes: CLASSES,
  verbs: [...backoffVerbs(['INIT']), ...gateVerbs('INIT', 'it fails, and its job starts nothing more.')],
})

export const machines: readonly Machine[] = [installation, execution, deployItem]
