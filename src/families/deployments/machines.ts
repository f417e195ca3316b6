import { defineMachine } from '../../core/machine.ts'

const RUNNING = ['INIT', 'CLEANUP_ORPHANED', 'OBJECTS_CREATED', 'PROGRESSING', 'COMPLETING'] as const

export const installation = defineMachine({
  name: 'installation',
  kinds: ['INSTALLATION'],
  initial: 'PENDING',
  final: ['SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
  rows: [
    [
      ['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED'],
      'CONTROLLER',
      'PENDING_DEPENDENCIES',
      'job id received; a predecessor or an import is not ready',
    ],
    [['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED'], 'CONTROLLER', 'INIT', 'job id received, all ready'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'INIT', 'all ready, or mode FORCE and imports satisfied'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'FAILED', 'a predecessor ended this job without success'],
    ['PENDING_DEPENDENCIES', 'CONTROLLER', 'ABORTED', 'cancelled'],
    ['INIT', 'CONTROLLER', 'CLEANUP_ORPHANED', 'children written from the spec; orphans marked'],
    ['CLEANUP_ORPHANED', 'CONTROLLER', 'OBJECTS_CREATED', 'orphans gone'],
    ['OBJECTS_CREATED', 'CONTROLLER', 'PROGRESSING', 'job id handed to children and execution'],
    ['PROGRESSING', 'CONTROLLER', 'COMPLETING', 'combined phase of all children is SUCCEEDED, or there are none'],
    ['COMPLETING', 'CONTROLLER', 'SUCCEEDED', 'exports built and stored'],
    [RUNNING, 'CONTROLLER', 'FAILED', 'a fatal error, or a child failed'],
    [RUNNING, 'CONTROLLER', 'ABORTED', 'cancelled, and nothing below is running any more'],
    [
      ['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
      'CONTROLLER',
      'INIT_DELETE',
      'a new job, deletion requested',
    ],
    ['INIT_DELETE', 'CONTROLLER', 'TRIGGER_DELETE', 'no sibling imports from it any more; children marked deleted'],
    ['TRIGGER_DELETE', 'CONTROLLER', 'DELETING', 'job id handed to the children'],
    ['DELETING', 'CONTROLLER', 'GONE', 'nothing below is left'],
    [
      ['INIT_DELETE', 'TRIGGER_DELETE', 'DELETING'],
      'CONTROLLER',
      'DELETE_FAILED',
      'a fatal error, a sibling imports from it, or cancelled',
    ],
  ],
})

export const execution = defineMachine({
  name: 'execution',
  kinds: ['EXECUTION'],
  initial: 'PENDING',
  final: ['SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
  rows: [
    [['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED'], 'CONTROLLER', 'INIT', 'job id received'],
    ['INIT', 'CONTROLLER', 'PROGRESSING', 'items created or updated from the spec, orphans gone'],
    ['PROGRESSING', 'CONTROLLER', 'COMPLETING', 'all items in class A'],
    ['COMPLETING', 'CONTROLLER', 'SUCCEEDED', 'exports collected'],
    [
      ['INIT', 'PROGRESSING', 'COMPLETING'],
      'CONTROLLER',
      ['FAILED', 'ABORTED'],
      'a fatal error or a failed item; or cancelled',
    ],
    [
      ['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
      'CONTROLLER',
      'INIT_DELETE',
      'a new job, deletion requested',
    ],
    ['INIT_DELETE', 'CONTROLLER', 'DELETING', 'all items marked deleted'],
    ['DELETING', 'CONTROLLER', 'GONE', 'nothing below is left'],
    [['INIT_DELETE', 'DELETING'], 'CONTROLLER', 'DELETE_FAILED', 'a fatal error, a failed item, or cancelled'],
  ],
})

export const deployItem = defineMachine({
  name: 'deployItem',
  kinds: ['DEPLOY_ITEM'],
  initial: 'PENDING',
  final: ['SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
  rows: [
    [['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED'], 'CONTROLLER', 'INIT', 'triggered: job id set, trigger time set'],
    ['INIT', 'CONTROLLER', 'FAILED', 'its config cannot be resolved, or pickup timeout'],
    ['INIT', 'DEPLOYER', 'PROGRESSING', 'picked up: written by the claim itself'],
    ['INIT', 'DEPLOYER', ['SUCCEEDED', 'FAILED'], 'the Progressing message was missed'],
    ['PROGRESSING', 'DEPLOYER', ['SUCCEEDED', 'FAILED'], 'its deployer is done with it'],
    ['INIT', 'CONTROLLER', 'ABORTED', 'cancelled before pickup'],
    ['PROGRESSING', 'DEPLOYER', 'ABORTED', 'stopped on request'],
    ['PROGRESSING', 'CONTROLLER', 'FAILED', 'aborting timeout'],
    [
      ['PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED'],
      'CONTROLLER',
      'INIT_DELETE',
      'a new job, deletion requested',
    ],
    [
      'INIT_DELETE',
      'DEPLOYER',
      ['DELETING', 'GONE', 'DELETE_FAILED'],
      'picked up, or done with the Deleting message missed',
    ],
    ['DELETING', 'DEPLOYER', ['GONE', 'DELETE_FAILED'], 'its real counterpart is gone, or cannot be removed'],
    [['INIT_DELETE', 'DELETING'], 'CONTROLLER', 'DELETE_FAILED', 'the same timeouts, or cancelled'],
    [['PENDING', 'INIT_DELETE'], 'CONTROLLER', 'GONE', 'never deployed, or withoutUninstall'],
  ],
})

export const machines = [installation, execution, deployItem] as const
