import type { PhaseClass } from './machine.ts'
import type { WhileDeleting } from './verb.ts'
import type {
  ACTORS,
  BlockerReason,
  ErrorCode,
  FailureCode,
  LockMode,
  OBJECT_KINDS,
  PHASES,
  ReconcileMode,
  WORK_ACTIONS,
} from './vocabulary.ts'

/** What each word of the vocabulary means, as the API explains it. A word without a meaning does not compile. */

export const OBJECT_KIND_DESCRIPTIONS: Readonly<Record<(typeof OBJECT_KINDS)[number], string>> = {
  INSTALLATION: 'A unit of deployment with imports, exports, nested installations and deploy items.',
  EXECUTION: 'The part of an installation that runs its deploy items in the order of their dependencies.',
  DEPLOY_ITEM: 'One thing that a deployer installs and uninstalls.',
  EVENT: 'Something that has happened, as it was taken up by one project. Its phase is that of its worker.',
  WORKER: 'The process that an event starts. It may create jobs.',
  JOB: 'A process that a worker starts through the API.',
  TASK: 'A sequence or graph of gadget jobs.',
  GADGET_JOB: 'One run of a gadget within a task, under locks.',
  CLOUDLET:
    'An edge site whose instances a CRM (cloudlet resource manager) keeps. Its phase is that of its connection.',
  CLUSTER_INST: 'A cluster on a cloudlet.',
  APP_INST: 'An app in a cluster instance.',
}

export const ACTOR_DESCRIPTIONS: Readonly<Record<(typeof ACTORS)[number], string>> = {
  USER: 'A person or program that asks for changes through mutations.',
  CONTROLLER: "Phaseline's own engine: rules, deadlines and recovery.",
  DEPLOYER: 'An agent that installs and uninstalls deploy items.',
  RUNTIME: 'An agent that starts and watches the processes of workers and jobs.',
  WORKER: 'The process of a worker, which creates and cancels jobs of its own event.',
  GADGET_RUNNER: 'An agent that runs the gadgets of tasks.',
  CRM: 'The cloudlet resource manager, which keeps the instances of one cloudlet.',
  CRM_V1: 'The CRM that serves a cloudlet while an upgrade of that cloudlet runs.',
  CRM_V2: 'The CRM that an upgrade brings up to take over a cloudlet.',
}

export const PHASE_DESCRIPTIONS: Readonly<Record<(typeof PHASES)[number], string>> = {
  PENDING: 'The object exists and its work has not begun. A worker or job waits for a slot, a gadget job for its turn.',
  PENDING_DEPENDENCIES:
    'An installation waits for a predecessor or an import and goes on by itself; `blockedBy` names each one.',
  INIT: 'Installation: imports are read and validated. Execution: deploy items are written from the spec. Deploy item: it is offered to deployers. Cloudlet: it waits for its CRM, or the start of the CRM is not acknowledged yet.',
  CLEANUP_ORPHANED: 'An installation deletes the children that its spec no longer has.',
  OBJECTS_CREATED: 'The children of an installation are written and get the job next.',
  PROGRESSING: 'Installation, execution: the children run. Deploy item: a deployer has claimed it.',
  COMPLETING: 'All children have succeeded; exports are built and stored.',
  SUCCEEDED: 'The work ended with success. Final.',
  FAILED: 'The work ended without success; `error` says why. Final.',
  ABORTED: 'The work was stopped before its end, by a cancellation or from outside. Final.',
  INIT_DELETE:
    'The deletion has begun. An installation waits until no sibling imports from it; a deploy item is offered to deployers.',
  TRIGGER_DELETE: 'An installation hands the job of the deletion to its children.',
  DELETING:
    'Installation, execution: the children are deleted. Deploy item: a deployer uninstalls it. Instance: its CRM removes it.',
  DELETE_FAILED: 'The deletion ended without success; `error` says why. It can only be repeated. Final.',
  STARTING: 'A worker or job has a slot, and a runtime has to start it.',
  RUNNING:
    'Worker, job: its process runs. Task: its jobs take their turns. Gadget job: its gadget runs under its locks.',
  UNKNOWN:
    'The runtime of a worker or job has lost its lease, or cannot tell how the process is. It fails with RUNTIME_LOST if the runtime does not come back in time (5 minutes by default).',
  CANCELED: 'A worker or job was cancelled before it started. Final.',
  SCHEDULING_FAILED: 'A worker or job could not be started; `error` says why. Final.',
  TIMED_OUT: 'A worker or job took longer than its timeout and was stopped. Final.',
  DECLARING: 'The gadget of a job declares the locks that it needs (`--getlocks`).',
  WAITING: 'A gadget job waits in the queue for its locks. It holds none of them yet.',
  DONE: 'A gadget job succeeded, and its locks are released. Final.',
  UNDOING:
    'What a gadget job did is undone (`--undo`) after a failure or a crash, or its clean-up (`--abort`) is repeated. Its locks are held.',
  UNDO_FAILED:
    'A gadget job could not be undone or cleaned up. It keeps its locks until an operator decides with `resolveUndo`.',
  ABORTING:
    'Task: it is cancelled, nothing new starts and running jobs are aborted. Gadget job: its gadget is stopped and cleaned up (`--abort`).',
  SKIPPED: 'A gadget job did not run, since its condition is false or another job failed. Final.',
  NOT_PRESENT: 'An instance does not exist at its cloudlet. Its record goes next, and its name is free again.',
  CREATE_REQUESTED: 'The creation of an instance is requested, and the CRM has not acknowledged it.',
  CREATING: 'The CRM creates an instance.',
  CREATE_ERROR: 'The creation of an instance failed or was withdrawn, and is undone.',
  READY:
    'Instance: it exists; `drifted` says whether it differs from its record. Cloudlet: its CRM is connected. Upgrade: none runs. Final.',
  UPDATE_REQUESTED: 'The update of an instance, or the upgrade of a cloudlet, is requested and not acknowledged.',
  UPDATING: 'Instance: the CRM updates it. Upgrade: the serving CRM has started the new one.',
  UPDATE_ERROR:
    'Instance: the update failed or was withdrawn, and the previous spec is restored. Upgrade: it failed, and an administrator has to resolve it with `resolveCloudletUpgrade`.',
  DELETE_PREPARE: 'The deletion of an instance is requested, and what it contains is removed first.',
  DELETE_REQUESTED: 'The CRM is asked to remove an instance and has not acknowledged it.',
  DELETED: 'The CRM has removed an instance. Its record goes next.',
  DELETE_ERROR: 'The deletion of an instance failed or was withdrawn; it is READY again next.',
  OFFLINE: 'No CRM of the cloudlet is connected. Final.',
  INIT_OK:
    'Cloudlet: the start of its CRM is acknowledged, and the CRM gathers its data. Upgrade: the new CRM is connected and acknowledged.',
  GONE: 'The object no longer exists. Only the `to` of a phase change or a transition, and the report of a deployer, have this value.',
}

export const PHASE_CLASS_DESCRIPTIONS: Readonly<Record<PhaseClass, string>> = {
  FAILED: 'It ended, or an attempt ended, without success: somebody should look.',
  STOPPED: 'It ended before its work was done, since somebody wanted it to.',
  UNDOING: 'It is being stopped, or what it did is being undone.',
  ACTIVE: 'Work on it goes on.',
  REMOVING: 'It is being deleted.',
  WAITING: 'It exists, and nothing happens to it before something else does.',
  DONE: 'It is as it was wanted.',
  SKIPPED: 'It did not run, and need not.',
}

export const WHILE_DELETING_DESCRIPTIONS: Readonly<Record<WhileDeleting, string>> = {
  ALLOWED: 'The verb is there all the same.',
  ONCE_FINISHED: 'The verb is there again when the deletion has ended without success.',
  NEVER: 'The verb is not there any more.',
}

export const BLOCKER_REASON_DESCRIPTIONS: Readonly<Record<BlockerReason, string>> = {
  DEPENDENCY: 'Another object must be done first, or gone first in a deletion.',
  IMPORT: 'A required import has no value in the scope of the project.',
  LOCK: 'A lock is held by others, or others come earlier in its queue.',
  AGENT: 'An agent has to take the work, or to come back and report it.',
  CAPACITY: 'All slots of the project, or of all projects together, are taken.',
  BACKOFF: 'An attempt failed, and the next one is made later.',
  PARENT: 'The parent has not come far enough to start the object.',
  SIBLING_IMPORT: 'The object is to be deleted, and a sibling still imports from it.',
  CHILDREN: 'Children have not ended the running job.',
  CLOUDLET: 'The CRM of the cloudlet is not connected.',
  IGNORED: 'The object, or an installation below it, is ignored: nothing is started until `ignored` is false.',
}

export const WORK_ACTION_DESCRIPTIONS: Readonly<Record<(typeof WORK_ACTIONS)[number], string>> = {
  RECONCILE: 'For deployers: install the deploy item, or bring it up to date.',
  DELETE: 'For deployers: uninstall the deploy item.',
  START: 'For runtimes: start the worker or job, or adopt it when `attempt` is above 1.',
  STOP: 'For runtimes: stop the worker or job. No work has this action at present; the answers to reports and renewals say when to stop.',
  REMOVE: 'For runtimes: remove what is left of the worker or job, then report `done`.',
  GET_LOCKS: 'For gadget runners: ask the gadget for the locks that it needs (`--getlocks`).',
  RUN: 'For gadget runners: run the gadget.',
  UNDO: 'For gadget runners: undo the run (`--undo`).',
  ABORT: 'For gadget runners: clean up after a run that was stopped (`--abort`).',
}

export const RECONCILE_MODE_DESCRIPTIONS: Readonly<Record<ReconcileMode, string>> = {
  STANDARD: 'Every object runs again.',
  IF_CHANGED:
    'An object whose spec, imports and resolved config are those of its last success keeps its state, and its agent is not called.',
  FORCE:
    'Every object runs again, and neither a predecessor that has failed nor another root is waited for. What runs in this job is waited for, and imports must be satisfied. A deletion does not look for importers.',
}

export const LOCK_MODE_DESCRIPTIONS: Readonly<Record<LockMode, string>> = {
  SHARED: 'Any number of jobs hold the lock together.',
  EXCLUSIVE: 'One job holds the lock alone.',
}

export const ERROR_CODE_DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  INVALID_INPUT: 'A value of the input is malformed, out of bounds, or contradicts what exists.',
  NOT_FOUND: 'The object does not exist, or the viewer may not read it.',
  FORBIDDEN: 'The role, the projects or the types of the token do not allow the request.',
  ALREADY_EXISTS: 'Another object has this name already.',
  GENERATION_MISMATCH: 'The object is not at `expectedGeneration`: its spec was changed meanwhile.',
  TRANSITION: 'The state machine has no such transition for this actor from the present phase.',
  STALE_REPORT: 'The fence is not valid any more: the work was claimed again, started anew, or is gone.',
  BUSY: 'Another operation has to end first.',
  IN_USE: 'Something else uses the object or the name, such as children or an export.',
  CLOUDLET_UPGRADING: 'An upgrade of the cloudlet runs, and nothing beneath can be changed.',
  CLOUDLET_UPGRADE_FAILED:
    'The last upgrade of the cloudlet failed and is not resolved; nothing beneath can be changed.',
  NOT_READY: 'What the request builds on is not ready: a parent, a cloudlet or a worker.',
  LIMIT: 'A limit on the number or the size of something is reached.',
}

export const FAILURE_CODE_DESCRIPTIONS: Readonly<Record<FailureCode, string>> = {
  BAD_REQUEST: 'The body is not a GraphQL request.',
  GRAPHQL_PARSE_FAILED: 'The document has a syntax error.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  BAD_USER_INPUT: 'A variable or an argument is wrong, whatever the data.',
  UNAUTHENTICATED: 'The token is missing, unknown, revoked or expired.',
  FORBIDDEN: 'The token, or the page that calls, may not do that.',
  NOT_FOUND: 'There is no such object, or the token may not read it.',
  METHOD_NOT_ALLOWED: 'The path does not take this HTTP method.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json`.',
  TOO_LARGE: 'The request has too many bytes.',
  TOO_COMPLEX:
    'The request is nested too deep, has too many values, or would cost too much: ask for less, or for smaller pages.',
  TOO_MANY: 'Too many operations are open on the socket: end some, or open another socket.',
  ANSWER_TOO_LARGE: 'The answer would have too many bytes: ask for smaller pages, and for large values one at a time.',
  CURSOR_EXPIRED: 'The log has no such place any more; the error says where to resume.',
  INTERNAL_SERVER_ERROR: 'The server failed, and its log says why.',
}
