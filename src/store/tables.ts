import type { Actor, ObjectKind, Phase, WorkAction } from '../core/vocabulary.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  enumeration,
  integer,
  jsonb,
  nullable,
  smallint,
  text,
  timestamptz,
  uuid,
} from './column-types.ts'

/** The columns of each table by Prisma's names. Written by `scripts/print-tables.ts` from prisma/schema.prisma. */

export const objectKind = enumeration<ObjectKind>('object_kind')

export const actor = enumeration<Actor>('actor')

export const phase = enumeration<Phase>('phase')

export const workAction = enumeration<WorkAction>('work_action')

export const reconcileMode = enumeration<'STANDARD' | 'IF_CHANGED' | 'FORCE'>('reconcile_mode')

export const projectStrategy = enumeration<'QUEUE' | 'LATEST_ONLY'>('project_strategy')

export const lockMode = enumeration<'SHARED' | 'EXCLUSIVE'>('lock_mode')

export const project = {
  id: uuid,
  name: text,
  createdAt: timestamptz,
  updatedAt: timestamptz,
  workerTemplate: nullable(jsonb),
  maxWorkers: nullable(integer),
  maxJobs: nullable(integer),
  strategy: projectStrategy,
  eventCount: integer,
  generation: integer,
  promotesTo: nullable(text),
  hasInvariants: boolean,
}

export const subscription = {
  projectId: uuid,
  ordinal: integer,
  source: text,
  types: array(text),
  qualifiers: jsonb,
  labels: jsonb,
  task: nullable(jsonb),
}

export const secret = {
  projectId: uuid,
  name: text,
  sealed: bytea,
  updatedAt: timestamptz,
}

export const target = {
  id: uuid,
  projectId: uuid,
  name: text,
  type: text,
  labels: jsonb,
  description: text,
  sealed: nullable(bytea),
  generation: integer,
  createdAt: timestamptz,
  updatedAt: timestamptz,
}

export const hook = {
  id: uuid,
  projectId: uuid,
  name: text,
  format: text,
  description: text,
  disabled: boolean,
  spec: jsonb,
  editor: jsonb,
  generation: integer,
  createdAt: timestamptz,
  updatedAt: timestamptz,
  checkedAt: nullable(timestamptz),
  checkProblem: nullable(text),
}

export const hookSecret = {
  hookId: uuid,
  name: text,
  sealed: bytea,
  createdAt: timestamptz,
}

export const hookDelivery = {
  id: uuid,
  hookId: uuid,
  at: timestamptz,
  outcome: text,
  reason: nullable(text),
  deliveryId: nullable(text),
  onceKey: nullable(text),
  eventId: nullable(uuid),
  headers: jsonb,
  body: nullable(bytea),
  bodyBytes: integer,
  secretName: nullable(text),
  hops: integer,
  replayOf: nullable(uuid),
}

export const hold = {
  id: uuid,
  projectId: nullable(uuid),
  reason: text,
  by: text,
  at: timestamptz,
}

export const flowLimit = {
  id: uuid,
  projectId: uuid,
  name: text,
  description: text,
  max: nullable(integer),
  maxPerKey: nullable(integer),
  rateCount: nullable(integer),
  rateMs: nullable(integer),
  weights: jsonb,
  pause: nullable(jsonb),
  strategy: text,
  debounceMs: nullable(integer),
  isShared: boolean,
  generation: integer,
  createdAt: timestamptz,
  updatedAt: timestamptz,
}

export const invariant = {
  id: uuid,
  projectId: uuid,
  name: text,
  description: text,
  afterProjectId: uuid,
  afterProject: text,
  afterName: nullable(text),
  sameValues: array(text),
  generation: integer,
  createdAt: timestamptz,
  updatedAt: timestamptz,
}

export const invariantWait = {
  rootId: uuid,
  invariantId: uuid,
  projectId: uuid,
  name: text,
}

export const limitTicket = {
  objectId: uuid,
  limitId: uuid,
  key: text,
  kind: text,
  seq: bigint,
  askedAt: timestamptz,
  grantedAt: nullable(timestamptz),
  priority: integer,
  place: nullable(bigint),
  dueAt: nullable(timestamptz),
  notBefore: nullable(timestamptz),
}

export const limitOverride = {
  limitId: uuid,
  key: text,
  maxPerKey: nullable(integer),
  rateCount: nullable(integer),
  rateMs: nullable(integer),
  until: timestamptz,
  by: text,
}

export const limitGrant = {
  limitId: uuid,
  key: text,
  at: timestamptz,
  objectId: uuid,
  until: timestamptz,
}

export const notificationRule = {
  id: uuid,
  projectId: uuid,
  name: text,
  description: text,
  spec: jsonb,
  isEnabled: boolean,
  editor: jsonb,
  generation: integer,
  afterSequence: bigint,
  behindSequence: nullable(bigint),
  behindMark: nullable(text),
  createdAt: timestamptz,
  updatedAt: timestamptz,
}

export const notification = {
  id: uuid,
  ruleId: uuid,
  seq: bigint,
  subjectId: uuid,
  told: jsonb,
  state: text,
  due: nullable(timestamptz),
  attempts: integer,
  isLate: boolean,
  problem: nullable(text),
  createdAt: timestamptz,
  firstSentAt: nullable(timestamptz),
  notBefore: nullable(timestamptz),
  endedAt: nullable(timestamptz),
}

export const notificationCursor = {
  one: boolean,
  sequence: nullable(bigint),
  mark: nullable(text),
}

export const object = {
  id: uuid,
  rootId: uuid,
  parentId: nullable(uuid),
  projectId: uuid,
  kind: objectKind,
  name: text,
  ordinal: integer,
  phase: phase,
  phaseSince: timestamptz,
  revision: integer,
  generation: integer,
  observedGeneration: integer,
  jobId: nullable(uuid),
  finishedJobId: nullable(uuid),
  deletionRequestedAt: nullable(timestamptz),
  waitingFor: integer,
  createdAt: timestamptz,
  updatedAt: timestamptz,
}

export const objectSpec = {
  objectId: uuid,
  spec: jsonb,
  labels: jsonb,
}

export const objectStatus = {
  objectId: uuid,
  error: nullable(jsonb),
  progress: nullable(jsonb),
}

export const tally = {
  objectId: uuid,
  total: integer,
  untriggered: integer,
  open: integer,
  failed: integer,
  cursor: integer,
}

export const edge = {
  fromId: uuid,
  toId: uuid,
}

export const installation = {
  objectId: uuid,
  description: text,
  ignored: boolean,
  mode: reconcileMode,
  nextMode: nullable(reconcileMode),
  nextDeletion: boolean,
  forceDeletion: boolean,
  withoutUninstall: boolean,
  cancelRequestedAt: nullable(timestamptz),
  cancelBy: nullable(text),
  imports: nullable(jsonb),
  exports: nullable(jsonb),
  origin: nullable(jsonb),
  nextOrigin: nullable(jsonb),
  automaticReconcile: nullable(jsonb),
  editorId: nullable(uuid),
}

export const specSnapshot = {
  objectId: uuid,
  generation: integer,
  spec: jsonb,
}

export const run = {
  objectId: uuid,
  number: integer,
  jobId: uuid,
  mode: reconcileMode,
  cause: text,
  by: nullable(text),
  generation: integer,
  startedAt: timestamptz,
  endedAt: timestamptz,
  phase: phase,
  error: nullable(jsonb),
  exports: nullable(jsonb),
}

export const specGeneration = {
  objectId: uuid,
  generation: integer,
  spec: jsonb,
  replacedAt: timestamptz,
  replacedBy: text,
}

export const dryRun = {
  id: uuid,
  projectId: uuid,
  name: text,
  rootId: nullable(uuid),
  requestedBy: text,
  createdAt: timestamptz,
}

export const dryRunItem = {
  id: uuid,
  dryRunId: uuid,
  ordinal: integer,
  path: array(text),
  action: text,
  objectId: uuid,
  type: text,
  target: nullable(text),
  config: nullable(jsonb),
  state: smallint,
  reason: nullable(text),
  errorCode: nullable(text),
  errorMessage: nullable(text),
  changes: nullable(jsonb),
  truncated: boolean,
  attempt: integer,
  fenceHash: nullable(bytea),
  principalId: nullable(uuid),
  instance: nullable(text),
  leaseUntil: nullable(timestamptz),
}

export const deployItem = {
  objectId: uuid,
  type: text,
  target: nullable(text),
  exports: nullable(jsonb),
  retry: nullable(jsonb),
  gate: nullable(jsonb),
  limits: nullable(jsonb),
}

export const gatePoll = {
  objectId: uuid,
  id: uuid,
  rootId: uuid,
  projectId: uuid,
  host: text,
  http: jsonb,
  nextAt: timestamptz,
  busyUntil: nullable(timestamptz),
  failures: integer,
  answer: nullable(text),
  answeredAt: nullable(timestamptz),
}

export const event = {
  objectId: uuid,
  source: text,
  type: text,
  qualifiers: jsonb,
  payload: nullable(text),
  subscribed: boolean,
  retryOf: nullable(uuid),
  cloneOf: nullable(uuid),
  hops: integer,
}

export const eventSecret = {
  eventId: uuid,
  name: text,
  sealed: bytea,
}

export const workload = {
  objectId: uuid,
  projectId: uuid,
  pool: text,
  state: smallint,
  seq: bigint,
  runtime: text,
  usesWorkspace: boolean,
  timeoutMs: nullable(bigint),
  inheritedFrom: nullable(uuid),
  startedAt: nullable(timestamptz),
  endedAt: nullable(timestamptz),
  exitCode: nullable(integer),
  signal: nullable(text),
  removeAt: nullable(timestamptz),
  removedAt: nullable(timestamptz),
  targetLabels: nullable(jsonb),
  placeId: nullable(uuid),
  commit: nullable(text),
  retry: nullable(jsonb),
  workerAttempt: integer,
  limits: nullable(jsonb),
  gate: nullable(jsonb),
}

export const artifact = {
  id: uuid,
  objectId: nullable(uuid),
  eventId: uuid,
  projectId: uuid,
  name: text,
  isFolder: boolean,
  createdAt: timestamptz,
  completedAt: nullable(timestamptz),
  expiresAt: nullable(timestamptz),
  size: bigint,
  sha256: nullable(bytea),
  usedAt: nullable(timestamptz),
}

export const artifactChunk = {
  artifactId: uuid,
  ordinal: integer,
  content: bytea,
}

export const capacity = {
  one: boolean,
  maxWorkers: integer,
  maxJobs: integer,
}

export const task = {
  objectId: uuid,
  cancelBy: nullable(text),
  retryOf: nullable(uuid),
}

export const gadgetJob = {
  objectId: uuid,
  gadget: text,
  args: nullable(jsonb),
  env: nullable(jsonb),
  locks: nullable(jsonb),
  exports: nullable(jsonb),
  startedAt: nullable(timestamptz),
  endedAt: nullable(timestamptz),
  undoAfter: nullable(text),
  keptError: nullable(jsonb),
  retry: nullable(jsonb),
  gate: nullable(jsonb),
}

export const schedule = {
  objectId: uuid,
  due: nullable(timestamptz),
  lastDue: nullable(timestamptz),
  firedCount: integer,
  editor: nullable(jsonb),
  pausedBecause: nullable(text),
  overdueAt: nullable(timestamptz),
}

export const firing = {
  id: uuid,
  scheduleId: uuid,
  cause: text,
  due: timestamptz,
  lastDue: nullable(timestamptz),
  count: nullable(integer),
  at: timestamptz,
  outcome: text,
  reason: nullable(text),
  startedId: nullable(uuid),
  endedAt: nullable(timestamptz),
  backfillId: nullable(uuid),
}

export const backfill = {
  id: uuid,
  scheduleId: uuid,
  first: timestamptz,
  last: timestamptz,
  overlap: text,
  refire: boolean,
  by: text,
  at: timestamptz,
  cancelledBy: nullable(text),
  endedAt: nullable(timestamptz),
}

export const bulkOperation = {
  objectId: uuid,
  editor: nullable(jsonb),
  endedAt: nullable(timestamptz),
}

export const bulkTarget = {
  operationId: uuid,
  targetId: uuid,
  kind: nullable(text),
  name: nullable(text),
  outcome: text,
  code: nullable(text),
  message: nullable(text),
  causedId: nullable(uuid),
  at: nullable(timestamptz),
}

export const journal = {
  objectId: uuid,
  n: integer,
  entry: text,
  at: timestamptz,
}

export const lock = {
  objectId: uuid,
  resource: text,
  mode: lockMode,
  ticket: bigint,
  held: boolean,
  declaredAt: timestamptz,
  grantedAt: nullable(timestamptz),
}

export const cloudlet = {
  objectId: uuid,
  version: nullable(text),
  wantedVersion: nullable(text),
  epoch: integer,
  sessions: jsonb,
  replaced: jsonb,
  upgradePhase: phase,
  upgradeSince: nullable(timestamptz),
  upgradeDue: nullable(timestamptz),
  connectDue: nullable(timestamptz),
  orphans: jsonb,
  resyncedAt: nullable(timestamptz),
}

export const edgeInst = {
  objectId: uuid,
  specRevision: integer,
  lastRevision: integer,
  keptSpec: nullable(jsonb),
  keptRevision: nullable(integer),
  drifted: boolean,
  undoing: boolean,
}

export const crmLease = {
  cloudletId: uuid,
  epoch: integer,
  fenceHash: bytea,
  leaseUntil: timestamptz,
  stream: nullable(uuid),
  principalId: uuid,
}

export const work = {
  objectId: uuid,
  rootId: uuid,
  type: text,
  target: nullable(text),
  action: workAction,
  state: smallint,
  seq: bigint,
  config: nullable(jsonb),
  handedConfig: nullable(jsonb),
  handed: boolean,
  fenceHash: nullable(bytea),
  jobId: nullable(uuid),
  instance: nullable(text),
  attempt: integer,
  leaseUntil: nullable(timestamptz),
  offerAfter: nullable(timestamptz),
  triggeredAt: timestamptz,
  pickedUpAt: nullable(timestamptz),
  abortRequestedAt: nullable(timestamptz),
  abortCode: nullable(text),
  progressingMs: nullable(bigint),
  abortingMs: nullable(bigint),
  dueAt: nullable(timestamptz),
  doneAt: nullable(timestamptz),
  leaseWatched: boolean,
  principalId: nullable(uuid),
  targetLabels: nullable(jsonb),
  traceparent: nullable(text),
}

export const clock = {
  objectId: uuid,
  rootId: uuid,
  dueAt: timestamptz,
}

export const wake = {
  id: bigint,
  rootId: uuid,
  objectIds: array(uuid),
  reason: nullable(text),
  traceparent: nullable(text),
}

export const rootQueue = {
  rootId: uuid,
  wakeAt: timestamptz,
  failures: integer,
}

export const rootPause = {
  rootId: uuid,
  at: timestamptz,
  by: text,
  reason: nullable(text),
}

export const rootExport = {
  projectId: uuid,
  name: text,
  exporterId: uuid,
}

export const rootImport = {
  projectId: uuid,
  name: text,
  importerId: uuid,
}

export const dataObject = {
  projectId: uuid,
  name: text,
  value: jsonb,
  exporterId: nullable(uuid),
  updatedAt: timestamptz,
}

export const exportPin = {
  exporterId: uuid,
  importerId: uuid,
}

export const logText = {
  firstSeq: bigint,
  lastSeq: bigint,
  text: nullable(text),
}

export const logSeal = {
  size: bigint,
  lastSeq: bigint,
  line: text,
}

export const logContent = {
  batchId: bigint,
  rootId: uuid,
  objectIds: array(uuid),
  parentIds: array(uuid),
  names: array(text),
  revisions: array(integer),
  messages: array(text),
  steps: array(integer),
  counts: array(integer),
  projectNames: array(text),
  kinds: array(objectKind),
  machines: array(text),
  from: array(phase),
  to: array(phase),
  actors: array(actor),
  by: array(text),
  reasons: array(text),
  jobIds: array(uuid),
  rejected: array(boolean),
  at: array(timestamptz),
  projectId: nullable(uuid),
  byIds: array(uuid),
  parentPaths: array(text),
}

export const logObject = {
  objectId: uuid,
  batchId: bigint,
}

export const logBatch = {
  id: bigint,
  n: integer,
  firstSeq: nullable(bigint),
}

export const logMeta = {
  one: boolean,
  logId: uuid,
  floorSeq: bigint,
  epoch: integer,
  epochBase: bigint,
  server: nullable(text),
  instance: nullable(text),
  floorMark: nullable(text),
  announceKey: bytea,
}

export const floorState = {
  objectId: uuid,
  rootId: uuid,
  parentId: nullable(uuid),
  kind: objectKind,
  name: text,
  phase: phase,
  phaseSince: timestamptz,
  revision: nullable(integer),
}

export const logLine = {
  objectId: uuid,
  n: bigint,
  at: timestamptz,
  stream: text,
  text: text,
  seq: bigint,
}

export const logLineText = {
  firstSeq: bigint,
  lastSeq: bigint,
  lines: integer,
  fromAt: timestamptz,
  toAt: timestamptz,
  roots: array(uuid),
  projects: array(uuid),
  text: nullable(text),
  checkedAt: timestamptz,
}

export const logTail = {
  objectId: uuid,
  nextN: bigint,
  keptLines: integer,
  keptBytes: bigint,
  dropped: bigint,
}

export const idempotencyKey = {
  projectId: uuid,
  mutation: text,
  key: text,
  inputHash: text,
  objectId: uuid,
  createdAt: timestamptz,
  principalId: uuid,
}

export const principal = {
  id: uuid,
  name: text,
  actor: actor,
  administrator: boolean,
  types: array(text),
  targets: array(text),
  createdAt: timestamptz,
  deletedAt: nullable(timestamptz),
  generation: integer,
  issuer: nullable(text),
  subject: nullable(text),
}

export const principalGrant = {
  principalId: uuid,
  ordinal: integer,
  role: text,
  projectId: nullable(uuid),
}

export const token = {
  id: uuid,
  hash: bytea,
  name: text,
  createdAt: timestamptz,
  expiresAt: nullable(timestamptz),
  principalId: uuid,
  derivedFrom: nullable(uuid),
  lastUsedAt: nullable(timestamptz),
  revokedAt: nullable(timestamptz),
}

export const agent = {
  id: uuid,
  name: text,
  instance: text,
  actor: actor,
  types: array(text),
  targets: array(text),
  connectedAt: timestamptz,
  seenAt: timestamptz,
  allTargets: boolean,
  principalId: uuid,
  targetSelector: nullable(jsonb),
  dryRuns: boolean,
}

export const place = {
  id: uuid,
  principalId: uuid,
  type: text,
  name: text,
  labels: jsonb,
  capacity: nullable(integer),
  registeredAt: timestamptz,
  drainedAt: nullable(timestamptz),
  drainedBy: nullable(text),
  drainReason: nullable(text),
}

export const auditEvent = {
  id: uuid,
  at: timestamptz,
  principalId: nullable(uuid),
  principalName: nullable(text),
  tokenId: nullable(text),
  actor: nullable(text),
  address: nullable(text),
  requestId: nullable(text),
  operation: text,
  projectId: nullable(uuid),
  projectName: nullable(text),
  objectId: nullable(uuid),
  objectKind: nullable(text),
  objectName: nullable(text),
  outcome: text,
  code: nullable(text),
  fields: array(text),
  count: integer,
  sequence: nullable(bigint),
  hash: nullable(bytea),
}

export const auditAnchor = {
  one: boolean,
  sequence: bigint,
  hash: bytea,
}

export const schemaRange = {
  one: boolean,
  oldest: text,
}
