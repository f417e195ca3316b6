import type { Obstacle } from './judge-verb.ts'
import type { PhaseClass } from './machine.ts'
import type { WhileDeleting } from './verb.ts'
import type { BlockerReason, ErrorCode, FamilyWords } from './vocabulary.ts'

/** The descriptions of words in the API. */

/** Words that all families share. */
export const SHARED_WORDS: FamilyWords = {
  actors: {
    USER: 'A person or program that requests changes through mutations.',
    CONTROLLER: "Phaseline's own engine: rules, deadlines and recovery.",
  },
  phases: {
    PENDING: 'The object exists and its work has not begun.',
    SUCCEEDED: 'The work ended with success. Final.',
    FAILED: 'The work ended without success; `error` says why. Final.',
    ABORTED: 'The work was stopped before its end, by a cancellation or from outside. Final.',
    GONE: 'The object no longer exists. Only the `to` of a phase change or a transition, and the report of a deployer, have this value.',
  },
  actions: {
    STOP: 'Stop the work. No work has this action at present; the answers to reports and renewals say when to stop.',
  },
}

export const PHASE_CLASS_DESCRIPTIONS: Readonly<Record<PhaseClass, string>> = {
  FAILED: 'It ended, or an attempt ended, without success: somebody should look.',
  STOPPED: 'It ended before its work was done, since somebody wanted it to.',
  UNDOING: 'It is being stopped, or what it did is being undone.',
  ACTIVE: 'Work on it continues.',
  REMOVING: 'It is being deleted.',
  WAITING: 'It exists, and nothing happens to it before something else does.',
  DONE: 'It is as it was wanted.',
  SKIPPED: 'It did not run, and need not.',
}

export const OBSTACLE_DESCRIPTIONS: Readonly<Record<Obstacle, string>> = {
  RIGHT: 'The viewer lacks the right.',
  NOT_ROOT: 'Only the root of the tree has the verb.',
  DELETION: 'The deletion of the object is requested.',
  PHASE: 'The object is in a phase in which the verb makes no sense.',
}

export const WHILE_DELETING_DESCRIPTIONS: Readonly<Record<WhileDeleting, string>> = {
  ALLOWED: 'The verb is there all the same.',
  ONCE_FINISHED: 'The verb is there again when the deletion has ended without success.',
  NEVER: 'The verb is not there any more.',
}

export const BLOCKER_REASON_DESCRIPTIONS: Readonly<Record<BlockerReason, string>> = {
  DEPENDENCY: 'Another object must be done first, or gone first in a deletion.',
  IMPORT: 'A required import has no value in the scope of the project.',
  INVARIANT: 'An invariant of the project lets the job begin only after a success of another root.',
  LOCK: 'A lock is held by others, or others come earlier in its queue.',
  AGENT: 'An agent has to take the work, or to come back and report it.',
  CAPACITY: 'All slots of the project, or of all projects together, are taken.',
  LIMIT: 'A limit of the project is used up, for the key of the object or for all keys together.',
  PLACE: 'No place of the runtime takes the worker or job: none has its labels, or those are drained, full or lost.',
  TARGET:
    'The selector of an item selects no target of the project, or several: only plans have it, since the item fails.',
  BACKOFF: 'An attempt failed, and the next one is made at the time in `until` of the blocker.',
  PAUSED: 'The tree is paused: nothing new is handed to agents, and no job begins, until it is resumed.',
  GATE: 'A gate waits for a signal, for its time, or for an address. One that waits for people is a DECISION.',
  PARENT: 'The parent has not come far enough to start the object.',
  SIBLING_IMPORT: 'The object is to be deleted, and a sibling still imports from it.',
  CHILDREN: 'Children have not ended the running job.',
  CLOUDLET: 'The CRM of the cloudlet is not connected.',
  IGNORED: 'The object, or an installation below it, is ignored: nothing is started until `ignored` is false.',
  NOT_IN_JOB: 'The running or last job will not reach the object: another one failed first, or the job was cancelled.',
  DECISION: 'Nothing more happens by itself: a person must decide, by one of the verbs of the blocker.',
  REQUEST: 'A request on the object waits until the running job has ended; `pendingRequests` has it.',
}

export const ERROR_CODE_DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  INVALID_INPUT: 'A value of the input is malformed, out of bounds, or contradicts what exists; `fields` has each.',
  NOT_FOUND: 'There is no such object, or the viewer may not read it.',
  FORBIDDEN: 'The role, the projects or the types of the token, or the page that calls, do not allow the request.',
  ALREADY_EXISTS: 'Another object has this name already.',
  GENERATION_MISMATCH: 'The object is not at `expectedGeneration`: its spec was changed meanwhile.',
  REVISION_MISMATCH:
    'An object of `ifUnchanged` has another revision or generation, or is gone: it has changed meanwhile.',
  TRANSITION: 'The state machine has no such transition for this actor from the present phase.',
  STALE_REPORT: 'The fence is not valid any more: the work was claimed again, started anew, or is gone.',
  BUSY: 'Something else has to end first, and nothing was written. In a result that is another operation on the object. In `errors` too many requests wait for the same tree, project or principal, this one has waited for 15 s, or the machine is too busy to judge expressions: send it again after `retryAfterMs`.',
  IN_USE: 'Something else uses the object or the name, such as children or an export.',
  CLOUDLET_UPGRADING: 'An upgrade of the cloudlet runs, and nothing beneath can be changed.',
  CLOUDLET_UPGRADE_FAILED:
    'The last upgrade of the cloudlet failed and is not resolved; nothing beneath can be changed.',
  PAUSED: 'The tree is paused, and takes no such request before it is resumed.',
  NOT_READY: 'A prerequisite of the request is not ready: a parent, a cloudlet or a worker.',
  LIMIT: 'A limit on the number or the size of something is reached.',
  BAD_REQUEST: 'The body is not a GraphQL request.',
  GRAPHQL_PARSE_FAILED: 'The document has a syntax error.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  OPERATION_RESOLUTION_FAILURE:
    'The document has several operations and `operationName` names none of them, or it names one that is not there.',
  BAD_USER_INPUT:
    'A variable or an argument is wrong, whatever the data. If a bound is exceeded `fields` has each value; a result of a mutation says INVALID_INPUT for it.',
  UNAUTHENTICATED: 'The token is missing, unknown, revoked or expired.',
  DOCUMENT_NOT_TRUSTED: 'The server runs only documents that its operator knows.',
  PERSISTED_QUERY_NOT_FOUND: 'The server knows no document of this id: send its text.',
  PERSISTED_QUERY_NOT_SUPPORTED:
    'The server knows no document of this hash and learns none: send the text, now and from now on. Clients with automatic persisted queries do so by themselves.',
  METHOD_NOT_ALLOWED: 'The path does not take this HTTP method.',
  NOT_ACCEPTABLE:
    'The `accept` header takes no form in which this can be answered: a query or a mutation is JSON or one event, a subscription is events.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or it is compressed.',
  TOO_LARGE: 'The request has too many bytes.',
  TOO_COMPLEX:
    'The request is nested too deep, has too many values, or would cost too much: ask for less, or for smaller pages.',
  RATE_LIMITED: 'The caller has sent too many requests lately: try again after `retryAfterMs`.',
  TOO_MANY:
    'The caller has too many operations, subscriptions or bytes of requests at a time: end some, or try again after `retryAfterMs`.',
  ANSWER_TOO_LARGE: 'The answer would have too many bytes: ask for smaller pages, and for large values one at a time.',
  TIMEOUT: 'The query took too long and was ended: ask for less, or for smaller pages, or try again later.',
  CURSOR_EXPIRED: 'The log has no such place any more; the error says where to resume.',
  SERVICE_UNAVAILABLE:
    'The database, a free connection to it, or the issuer of the token, is not available at the moment: try again after `retryAfterMs`, or `retry-after` seconds. A mutation that is answered so may have been done; its `idempotencyKey` makes it safe to repeat.',
  INTERNAL_SERVER_ERROR: 'The server failed, and its log says why.',
}
