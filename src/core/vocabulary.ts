/**
 * The vocabulary of the product: its database enums and published types. Each family describes its own words. A family
 * of another package adds words, with their types by declaration merging (`KindNames` and the like).
 */

/** Words of a family, each with its meaning there. Several families may have the same phase. */
export interface FamilyWords {
  readonly kinds?: Readonly<Partial<Record<ObjectKind, string>>>
  readonly phases?: Readonly<Partial<Record<Phase, string>>>
  readonly actors?: Readonly<Partial<Record<Actor, string>>>
  readonly actions?: Readonly<Partial<Record<WorkAction, string>>>
}
type Words<List extends readonly string[]> = Readonly<Record<List[number], true>>

export const OBJECT_KINDS = [
  'INSTALLATION',
  'EXECUTION',
  'DEPLOY_ITEM',
  'EVENT',
  'WORKER',
  'JOB',
  'TASK',
  'GADGET_JOB',
  'CLOUDLET',
  'CLUSTER_INST',
  'APP_INST',
  'SCHEDULE',
  'BULK_OPERATION',
] as const
export interface KindNames extends Words<typeof OBJECT_KINDS> {}
export type ObjectKind = keyof KindNames

export const ACTORS = [
  'USER',
  'CONTROLLER',
  'DEPLOYER',
  'RUNTIME',
  'WORKER',
  'GADGET_RUNNER',
  'CRM',
  'CRM_V1',
  'CRM_V2',
] as const
export interface ActorNames extends Words<typeof ACTORS> {}
/** The actors that move objects. An actor is derived from credentials, never from a request. */
export type Actor = keyof ActorNames

export const PHASES = [
  'PENDING',
  'PENDING_DEPENDENCIES',
  'INIT',
  'CLEANUP_ORPHANED',
  'OBJECTS_CREATED',
  'PROGRESSING',
  'COMPLETING',
  'SUCCEEDED',
  'FAILED',
  'ABORTED',
  'INIT_DELETE',
  'TRIGGER_DELETE',
  'DELETING',
  'DELETE_FAILED',
  'STARTING',
  'RUNNING',
  'UNKNOWN',
  'CANCELED',
  'SCHEDULING_FAILED',
  'TIMED_OUT',
  'DECLARING',
  'WAITING',
  'DONE',
  'UNDOING',
  'UNDO_FAILED',
  'ABORTING',
  'SKIPPED',
  'NOT_PRESENT',
  'CREATE_REQUESTED',
  'CREATING',
  'CREATE_ERROR',
  'READY',
  'UPDATE_REQUESTED',
  'UPDATING',
  'UPDATE_ERROR',
  'DELETE_PREPARE',
  'DELETE_REQUESTED',
  'DELETED',
  'DELETE_ERROR',
  'OFFLINE',
  'INIT_OK',
  'ACTIVE',
  'PAUSED',
  'FINISHED',
  'GONE',
] as const
/** The phases of objects. `GONE` exists only as the `to` of a phase change: the object no longer exists. */
export type Phase = keyof PhaseNames
export interface PhaseNames extends Words<typeof PHASES> {}

export const BLOCKER_REASONS = [
  'DEPENDENCY',
  'IMPORT',
  'INVARIANT',
  'LOCK',
  'AGENT',
  'CAPACITY',
  'LIMIT',
  'PLACE',
  'TARGET',
  'BACKOFF',
  'PARENT',
  'SIBLING_IMPORT',
  'CHILDREN',
  'CLOUDLET',
  'IGNORED',
  'NOT_IN_JOB',
  'DECISION',
  'REQUEST',
  'PAUSED',
  'GATE',
] as const
export type BlockerReason = (typeof BLOCKER_REASONS)[number]

export const WORK_ACTIONS = [
  'RECONCILE',
  'DELETE',
  'START',
  'STOP',
  'REMOVE',
  'GET_LOCKS',
  'RUN',
  'UNDO',
  'ABORT',
  'DRY_RUN',
] as const
export interface ActionNames extends Words<typeof WORK_ACTIONS> {}
export type WorkAction = keyof ActionNames

export const RECONCILE_MODES = ['STANDARD', 'IF_CHANGED', 'FORCE'] as const
export type ReconcileMode = (typeof RECONCILE_MODES)[number]

/** `code` of errors that are members of results. */
export const REFUSAL_CODES = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'FORBIDDEN',
  'ALREADY_EXISTS',
  'GENERATION_MISMATCH',
  'REVISION_MISMATCH',
  'TRANSITION',
  'STALE_REPORT',
  'BUSY',
  'IN_USE',
  'CLOUDLET_UPGRADING',
  'CLOUDLET_UPGRADE_FAILED',
  'PAUSED',
  'NOT_READY',
  'LIMIT',
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** `extensions.code` of entries in `errors`: why an operation, or a part of it, has no result. */
export const FAILURE_CODES = [
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'STALE_REPORT',
  'LIMIT',
  'DOCUMENT_NOT_TRUSTED',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'UNSUPPORTED_MEDIA_TYPE',
  'TOO_LARGE',
  'TOO_COMPLEX',
  'RATE_LIMITED',
  'TOO_MANY',
  'ANSWER_TOO_LARGE',
  'TIMEOUT',
  'BUSY',
  'CURSOR_EXPIRED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/**
 * One vocabulary, so that a client explains errors in one place, wherever they appear. A code has one meaning. Two pairs
 * of codes are close to each other: BAD_USER_INPUT is the word of GraphQL servers for what a result calls INVALID_INPUT,
 * and LIMIT is about things that are kept, where TOO_MANY, TOO_LARGE and RATE_LIMITED are about requests.
 */
export type ErrorCode = RefusalCode | FailureCode
