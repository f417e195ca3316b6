import { defineMachine, type Machine } from '../../core/machine.ts'
import { CANCEL_TEXT, DELETE_TEXT, pauseVerbs, type VerbRow } from '../../core/verb.ts'
import { REQUESTED } from './rules/operations.ts'

const PRESENT = [
  'CREATE_REQUESTED',
  'CREATING',
  'CREATE_ERROR',
  'READY',
  'UPDATE_REQUESTED',
  'UPDATING',
  'UPDATE_ERROR',
  'DELETE_PREPARE',
  'DELETE_REQUESTED',
  'DELETING',
  'DELETED',
  'DELETE_ERROR',
] as const

const REMOVE: Omit<VerbRow, 'mutation'> = { name: 'delete', label: 'Delete', confirm: DELETE_TEXT, danger: true }
/** Deleting a cloudlet or cluster with instances on it needs `cascade`. */
const CASCADE = { name: 'cascade', description: 'With the instances on it.', confirmed: true }
const WITHDRAW: Omit<VerbRow, 'mutation'> = {
  name: 'cancel',
  label: 'Cancel',
  confirm: CANCEL_TEXT,
  phases: REQUESTED,
}

/** The machine of cluster and app instances. The reasons name the rows that only a resync takes. */
export const instance = defineMachine({
  name: 'instance',
  kinds: ['CLUSTER_INST', 'APP_INST'],
  initial: 'NOT_PRESENT',
  final: ['NOT_PRESENT', 'READY'],
  rows: [
    ['NOT_PRESENT', 'USER', 'CREATE_REQUESTED', 'creation requested'],
    ['CREATE_REQUESTED', 'CRM', 'CREATING', 'its CRM has begun'],
    ['CREATE_REQUESTED', 'CRM', 'READY', 'created; the Creating message was missed'],
    ['CREATING', 'CRM', 'READY', 'created'],
    [['CREATE_REQUESTED', 'CREATING'], 'CRM', 'CREATE_ERROR', 'could not be created, or is not there after a crash'],
    ['CREATE_ERROR', 'CONTROLLER', 'NOT_PRESENT', 'undone'],
    ['READY', 'USER', 'UPDATE_REQUESTED', 'update requested'],
    ['UPDATE_REQUESTED', 'CRM', 'UPDATING', 'its CRM has begun'],
    ['UPDATE_REQUESTED', 'CRM', 'READY', 'updated; the Updating message was missed'],
    ['UPDATING', 'CRM', 'READY', 'updated'],
    [
      ['UPDATE_REQUESTED', 'UPDATING'],
      'CRM',
      'UPDATE_ERROR',
      'could not be updated, or is not as wanted after a crash',
    ],
    ['UPDATE_ERROR', 'CONTROLLER', 'READY', 'undone: the previous spec is restored'],
    ['READY', 'USER', 'DELETE_PREPARE', 'deletion requested'],
    ['DELETE_PREPARE', 'CONTROLLER', 'DELETE_REQUESTED', 'what must go first is gone'],
    ['DELETE_PREPARE', 'CONTROLLER', 'READY', 'what must go first could not be removed'],
    ['DELETE_REQUESTED', 'CRM', 'DELETING', 'its CRM has begun'],
    ['DELETE_REQUESTED', 'CRM', 'DELETED', 'removed; the Deleting message was missed'],
    ['DELETING', 'CRM', 'NOT_PRESENT', 'removed'],
    [['DELETE_REQUESTED', 'DELETING'], 'CRM', 'DELETE_ERROR', 'could not be removed, or is still there after a crash'],
    ['DELETED', 'CONTROLLER', 'NOT_PRESENT', 'its removal is taken note of'],
    ['DELETE_ERROR', 'CONTROLLER', 'READY', 'undone'],

    // Needed by cancel, before the CRM has acknowledged the request, and by the inactivity deadline of every request.
    ['CREATE_REQUESTED', 'CONTROLLER', 'CREATE_ERROR', 'withdrawn, or timeout'],
    ['UPDATE_REQUESTED', 'CONTROLLER', 'UPDATE_ERROR', 'withdrawn, or timeout'],
    ['DELETE_REQUESTED', 'CONTROLLER', 'DELETE_ERROR', 'withdrawn, or timeout'],
    // Needed by the inactivity deadline alone: what the CRM has acknowledged cannot be withdrawn.
    ['CREATING', 'CONTROLLER', 'CREATE_ERROR', 'timeout'],
    ['UPDATING', 'CONTROLLER', 'UPDATE_ERROR', 'timeout'],
    ['DELETING', 'CONTROLLER', 'DELETE_ERROR', 'timeout'],
    // Needed by the resync table: DELETE_REQUESTED, and the reconnected CRM does not list it. Its other outcomes are
    // ordinary rows of the CRM, or none.
    ['DELETE_REQUESTED', 'CRM', 'NOT_PRESENT', 'resync'],
    // Needed by "NOT_PRESENT means the object does not exist: after it, the record is gone and its name is free again".
    ['NOT_PRESENT', 'CONTROLLER', 'GONE', 'its record is gone, its name is free again'],
    // Needed by deleting an offline cloudlet with cascade: no CRM is there that could remove anything. Not the user's
    // own row: an instance cannot be deleted this way by itself.
    [PRESENT, 'CONTROLLER', 'GONE', 'its offline cloudlet is deleted with all that is beneath it'],
  ],
  classes: {
    WAITING: ['NOT_PRESENT', 'CREATE_REQUESTED', 'UPDATE_REQUESTED'],
    DONE: ['READY', 'DELETED'],
    FAILED: ['CREATE_ERROR', 'UPDATE_ERROR', 'DELETE_ERROR'],
    REMOVING: ['DELETE_PREPARE', 'DELETE_REQUESTED', 'DELETING'],
  },
  verbs: [
    { ...WITHDRAW, kind: 'CLUSTER_INST', mutation: 'cancelClusterInst' },
    { ...REMOVE, kind: 'CLUSTER_INST', mutation: 'deleteClusterInst', to: ['DELETE_PREPARE'], flags: [CASCADE] },
    { ...WITHDRAW, kind: 'APP_INST', mutation: 'cancelAppInst' },
    { ...REMOVE, kind: 'APP_INST', mutation: 'deleteAppInst', to: ['DELETE_PREPARE'] },
  ],
})

/** A cloudlet's connection: its `phase`. */
export const cloudlet = defineMachine({
  name: 'cloudlet',
  kinds: ['CLOUDLET'],
  initial: 'OFFLINE',
  final: ['OFFLINE', 'READY'],
  rows: [
    ['OFFLINE', 'USER', 'INIT', 'a user creates it'],
    ['OFFLINE', 'CRM', 'INIT', 'a CRM was started by hand'],
    [['READY', 'INIT', 'INIT_OK'], 'CRM', 'INIT', 'a CRM starts up with a new notify epoch, also after its crash'],
    ['INIT', 'CONTROLLER', 'INIT_OK', 'the start is acknowledged'],
    ['INIT_OK', 'CRM', 'READY', 'the CRM has gathered its data and sends all its objects'],
    [
      ['INIT', 'INIT_OK', 'READY'],
      'CONTROLLER',
      'OFFLINE',
      'its CRM disconnected or lost its lease, and no newer one connected',
    ],
    ['OFFLINE', 'USER', 'GONE', 'deleted'],
  ],
  classes: { WAITING: ['OFFLINE'], DONE: ['READY'] },
  verbs: [
    ...pauseVerbs('CLOUDLET'),
    {
      ...REMOVE,
      mutation: 'deleteCloudlet',
      to: ['GONE'],
      flags: [CASCADE],
      otherwise: 'still connected: a cloudlet can be deleted once it is OFFLINE',
    },
  ],
})

/** A cloudlet's upgrade: its `upgradePhase`, READY when none runs. */
export const cloudletUpgrade = defineMachine({
  name: 'cloudletUpgrade',
  kinds: ['CLOUDLET'],
  column: { table: 'cloudlet', column: 'upgrade_phase' },
  initial: 'READY',
  final: ['READY', 'UPDATE_ERROR'],
  rows: [
    ['READY', 'USER', 'UPDATE_REQUESTED', 'upgrade requested'],
    ['UPDATE_REQUESTED', 'CRM_V1', 'UPDATING', 'acknowledged, and the new CRM started'],
    ['UPDATE_REQUESTED', 'CRM_V1', 'UPDATE_ERROR', 'the new CRM could not be started; cleaned up'],
    [['UPDATE_REQUESTED', 'UPDATING'], 'CONTROLLER', 'INIT_OK', 'the new CRM connected and is acknowledged'],
    [['UPDATING', 'INIT_OK'], 'CRM_V2', 'READY', 'the new CRM gathered its data and ended the old one'],
    [
      ['UPDATING', 'INIT_OK'],
      'CRM_V1',
      'UPDATE_ERROR',
      'the new CRM could not be brought up; the old one keeps serving',
    ],
    [['UPDATE_REQUESTED', 'UPDATING', 'INIT_OK'], 'CONTROLLER', 'UPDATE_ERROR', 'timeout'],
    ['UPDATE_ERROR', 'CRM_V1', 'UPDATE_ERROR', 'its Ready changes nothing'],
    ['UPDATE_ERROR', 'USER', 'READY', 'an administrator has put it right by hand'],
  ],
  classes: { WAITING: ['UPDATE_REQUESTED'], DONE: ['READY'], FAILED: ['UPDATE_ERROR'] },
  verbs: [
    {
      name: 'resolve',
      label: 'Upgrade is put right',
      mutation: 'resolveCloudletUpgrade',
      to: ['READY'],
      confirm: 'Say that the failed upgrade of {name} was put right by hand.',
    },
  ],
})

export const machines: readonly Machine[] = [cloudlet, cloudletUpgrade, instance]
