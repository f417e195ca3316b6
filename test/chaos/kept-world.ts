import { chainHash } from '../../src/chain-hash.ts'
import type { ChainedEvent } from '../../src/core/audit.ts'
import type { Actor, ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import { BY_TIME } from '../../src/families/automation/rules/plan-firings.ts'
import type { AnyType } from '../../src/store/column-types.ts'
import {
  columnsOf,
  type Evidence,
  type FlowChange,
  type LimitBounds,
  type LoggedChange,
  type Row,
  type Tables,
  type UserMutation,
  WATCHED,
  type WatchedTable,
} from './evidence.ts'
import { GATE, LIMITS, SOURCE } from './load.ts'
import { PRINTED } from './promises/agents.ts'

/** Evidence of a small run in which every promise was kept: something in each table, and of each family. */

export const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
const BLANK: Readonly<Record<string, unknown>> = {
  boolean: false,
  integer: 0,
  smallint: 0,
  bigint: 0,
  jsonb: {},
  timestamptz: at(0),
  bytea: Buffer.alloc(0),
}
/** A row with all its columns. */
export function row<T extends WatchedTable>(table: T, given: Partial<Row<T>>): Row<T> {
  const columns = Object.entries<AnyType>(columnsOf(table))
  const blank = ({ sql, nullable }: AnyType) => (nullable ? null : sql.endsWith('[]') ? [] : (BLANK[sql] ?? ''))
  return { ...Object.fromEntries(columns.map(([name, type]) => [name, blank(type)])), ...given } as Row<T>
}

interface Known {
  readonly id: string
  readonly root: string
  readonly parent: string | null
  readonly kind: ObjectKind
  readonly machine: string
}
const known = (
  id: string,
  kind: ObjectKind,
  machine: string,
  parent: string | null = null,
  root = parent ?? id,
): Known => ({
  id,
  root,
  parent,
  kind,
  machine,
})
const TREE = known('tree', 'INSTALLATION', 'installation')
const NESTED = known('nested', 'INSTALLATION', 'installation', 'tree')
const EXECUTION = known('execution', 'EXECUTION', 'execution', 'tree')
const ITEM_A = known('item-a', 'DEPLOY_ITEM', 'deployItem', 'execution', 'tree')
const ITEM_B = known('item-b', 'DEPLOY_ITEM', 'deployItem', 'execution', 'tree')
const FOLLOWER = known('follower', 'INSTALLATION', 'installation')
const DELETED = known('deleted', 'INSTALLATION', 'installation')
const EVENTS = (['a', 'b'] as const).map((name) => known(`event-${name}`, 'EVENT', 'worker'))
const WORKERS = (['a', 'b'] as const).map((name) => known(`worker-${name}`, 'WORKER', 'worker', `event-${name}`))
const TASK = known('task', 'TASK', 'task')
const JOBS = (['a', 'b'] as const).map((name) => known(`job-${name}`, 'GADGET_JOB', 'gadgetJob', 'task'))
const CLOUDLET = known('cloudlet', 'CLOUDLET', 'cloudlet')
const CLUSTER = known('c0', 'CLUSTER_INST', 'instance', 'cloudlet')
const NIGHTLY = known('nightly', 'SCHEDULE', 'schedule')
const GATED = known('gated', 'INSTALLATION', 'installation')
const GATED_ITEMS = known('gated-items', 'EXECUTION', 'execution', 'gated')
const GO = known(GATE, 'DEPLOY_ITEM', 'deployItem', 'gated-items', 'gated')
export const OBJECTS = [
  ...[TREE, NESTED, EXECUTION, ITEM_A, ITEM_B, FOLLOWER, DELETED],
  ...[...EVENTS, ...WORKERS, TASK, ...JOBS, CLOUDLET, CLUSTER, NIGHTLY],
  ...[GATED, GATED_ITEMS, GO],
]

type Said = Pick<LoggedChange, 'by' | 'message'>
/** With what is said, a step that stays in its phase is a request. */
type Step = readonly [object: Known, from: Phase | null, to: Phase, actor: Actor, job: string | null, said?: Said]
const path = (one: Known, job: string | null, actor: Actor, phases: readonly (Phase | null)[]): readonly Step[] =>
  phases.slice(1).map((to, i) => [one, phases[i] ?? null, to ?? 'GONE', actor, job])
const begin = (one: Known, actor: Actor = 'CONTROLLER'): Step => [
  one,
  null,
  ({ CLOUDLET: 'OFFLINE', CLUSTER_INST: 'NOT_PRESENT', SCHEDULE: 'ACTIVE' } as const)[one.kind as string] ?? 'PENDING',
  actor,
  null,
]
const item = (one: Known, from: Phase, job: string): readonly Step[] => [
  [one, from, 'INIT', 'CONTROLLER', job],
  [one, 'INIT', 'PROGRESSING', 'DEPLOYER', job],
  [one, 'PROGRESSING', 'SUCCEEDED', 'DEPLOYER', job],
]
/** The first attempt fails. */
const itemAgain = (one: Known, from: Phase, job: string): readonly Step[] => [
  [one, from, 'INIT', 'CONTROLLER', job],
  [one, 'INIT', 'PROGRESSING', 'DEPLOYER', job],
  [one, 'PROGRESSING', 'INIT', 'CONTROLLER', job],
  ...item(one, 'INIT', job).slice(1),
]
const installing = (from: Phase) => [from, 'INIT', 'CLEANUP_ORPHANED', 'OBJECTS_CREATED', 'PROGRESSING'] as const
const job = (id: string, from: Phase): readonly Step[] => [
  ...path(TREE, id, 'CONTROLLER', installing(from)),
  ...path(NESTED, id, 'CONTROLLER', [...installing(from), 'COMPLETING', 'SUCCEEDED']),
  ...path(EXECUTION, id, 'CONTROLLER', [from, 'INIT', 'PROGRESSING']),
  ...(from === 'PENDING' ? item : itemAgain)(ITEM_A, from, id),
  ...item(ITEM_B, from, id),
  ...path(EXECUTION, id, 'CONTROLLER', ['PROGRESSING', 'COMPLETING', 'SUCCEEDED']),
  ...path(TREE, id, 'CONTROLLER', ['PROGRESSING', 'COMPLETING', 'SUCCEEDED']),
]
const running = (one: Known): readonly Step[] => [
  [one, 'PENDING', 'DECLARING', 'CONTROLLER', 'task-1'],
  [one, 'DECLARING', 'WAITING', 'GADGET_RUNNER', 'task-1'],
  [one, 'WAITING', 'RUNNING', 'CONTROLLER', 'task-1'],
]
const failing = (one: Known): readonly Step[] => [
  [one, 'RUNNING', 'UNDOING', 'GADGET_RUNNER', 'task-1'],
  [one, 'UNDOING', 'PENDING', 'GADGET_RUNNER', 'task-1'],
]
export const STEPS: readonly Step[] = [
  begin(TREE, 'USER'),
  ...[NESTED, EXECUTION, ITEM_A, ITEM_B].map((one) => begin(one)),
  ...job('tree-1', 'PENDING'),
  ...job('tree-2', 'SUCCEEDED'),
  begin(FOLLOWER, 'USER'),
  ...path(FOLLOWER, 'follower-1', 'CONTROLLER', [...installing('PENDING'), 'COMPLETING', 'SUCCEEDED']),
  begin(DELETED, 'USER'),
  ...path(DELETED, 'deleted-1', 'CONTROLLER', ['PENDING', 'INIT_DELETE', 'TRIGGER_DELETE', 'DELETING', 'GONE']),
  ...EVENTS.flatMap((event, i): readonly Step[] => {
    const worker = WORKERS[i] as Known
    const both = [worker, event]
    return [
      begin(event, 'USER'),
      begin(worker),
      ...both.map((one): Step => [one, 'PENDING', 'STARTING', 'CONTROLLER', `${event.id}-1`]),
      ...both.map((one): Step => [one, 'STARTING', 'RUNNING', 'RUNTIME', `${event.id}-1`]),
      ...both.map((one): Step => [one, 'RUNNING', 'SUCCEEDED', 'RUNTIME', `${event.id}-1`]),
    ]
  }),
  begin(TASK, 'USER'),
  ...JOBS.map((one) => begin(one)),
  [TASK, 'PENDING', 'RUNNING', 'CONTROLLER', 'task-1'],
  ...JOBS.flatMap((one): readonly Step[] => [
    ...(one.id === 'job-b' ? [...running(one), ...failing(one)] : []),
    ...running(one),
    [one, 'RUNNING', 'DONE', 'GADGET_RUNNER', 'task-1'],
  ]),
  [TASK, 'RUNNING', 'SUCCEEDED', 'CONTROLLER', 'task-1'],
  begin(CLOUDLET, 'USER'),
  [CLOUDLET, 'OFFLINE', 'INIT', 'USER', null],
  [CLOUDLET, 'INIT', 'INIT_OK', 'CONTROLLER', null],
  [CLOUDLET, 'INIT_OK', 'READY', 'CRM', null],
  begin(CLUSTER),
  [CLUSTER, 'NOT_PRESENT', 'CREATE_REQUESTED', 'USER', 'c0-1'],
  [CLUSTER, 'CREATE_REQUESTED', 'READY', 'CRM', 'c0-1'],
  [CLUSTER, 'READY', 'UPDATE_REQUESTED', 'USER', 'c0-2'],
  [CLUSTER, 'UPDATE_REQUESTED', 'READY', 'CRM', 'c0-2'],
  begin(NIGHTLY, 'USER'),
  [NIGHTLY, 'ACTIVE', 'ACTIVE', 'CONTROLLER', null],
  [NIGHTLY, 'ACTIVE', 'ACTIVE', 'CONTROLLER', null],
  [NIGHTLY, 'ACTIVE', 'PAUSED', 'USER', null],
  begin(GATED, 'USER'),
  ...[GATED_ITEMS, GO].map((one) => begin(one)),
  ...path(GATED, 'gated-1', 'CONTROLLER', installing('PENDING')),
  ...path(GATED_ITEMS, 'gated-1', 'CONTROLLER', ['PENDING', 'INIT', 'PROGRESSING']),
  [GO, 'PENDING', 'INIT', 'CONTROLLER', 'gated-1'],
  [GO, 'INIT', 'INIT', 'USER', 'gated-1', { by: 'ann', message: 'Approval 1 of 2.' }],
  [GO, 'INIT', 'SUCCEEDED', 'USER', 'gated-1', { by: 'ben', message: 'Approved by ann, ben.' }],
  ...[GATED_ITEMS, GATED].flatMap((one) =>
    path(one, 'gated-1', 'CONTROLLER', ['PROGRESSING', 'COMPLETING', 'SUCCEEDED']),
  ),
]
/** The log of these steps. */
export function logOf(steps: readonly Step[]): readonly LoggedChange[] {
  const revisions = new Map<string, number>()
  return steps.map(([{ id, root, kind, machine }, from, to, actor, jobId, said], i) => {
    const isRequest = said !== undefined && from === to
    const revision = isRequest ? null : (revisions.get(id) ?? 0) + 1
    if (revision !== null) revisions.set(id, revision)
    const sequence = i + 1
    const change = { objectId: id, rootId: root, kind, name: id, machine, from, to, actor, revision, jobId }
    const { by, message } = said ?? { by: null, message: null }
    return {
      ...change,
      sequence,
      rejected: false,
      reason: isRequest ? 'approved' : null,
      at: at(sequence),
      by,
      message,
    }
  })
}
const LOG = logOf(STEPS)
const last = (id: string) => LOG.findLast(({ objectId, revision }) => objectId === id && revision !== null)
const present = OBJECTS.filter(({ id }) => last(id)?.to !== 'GONE')
const sequenceOf = (id: string, to: Phase, jobId: string): number =>
  LOG.find((one) => one.objectId === id && one.to === to && one.jobId === jobId)?.sequence ?? 0

const RATE_MS = 500_000
export const boundsOf = (given: Partial<LimitBounds> & Partial<LimitBounds['usual']> = {}): LimitBounds => {
  const { maxPerKey = null, rateCount = null, rateMs = null, ...bounds } = given
  return { max: null, isPaused: false, weights: {}, overridden: {}, usual: { maxPerKey, rateCount, rateMs }, ...bounds }
}
const BOUNDS: Readonly<Record<string, LimitBounds>> = {
  builds: boundsOf({ max: 5, maxPerKey: 3, overridden: { a: { maxPerKey: 4, rateCount: null, rateMs: null } } }),
  deploys: boundsOf({ max: 3, maxPerKey: 2 }),
  paced: boundsOf({ rateCount: 4, rateMs: RATE_MS }),
  fleet: boundsOf({ max: 5 }),
}
/** A ticket of an object. */
export const ticket = (
  did: 'ASK' | 'GRANT' | 'RELEASE',
  limitId: string,
  objectId: string,
  second: number,
  given: Partial<Extract<FlowChange, { objectId: string }>> = {},
): FlowChange => ({
  ...{ did, limitId, objectId, kind: 'DEPLOY_ITEM', key: 'a', priority: 0, at: at(second) },
  ...{ bounds: did === 'GRANT' ? (BOUNDS[limitId] ?? null) : null, ...given },
})
/** Each time from the start to the end. */
const flowOf = ({ id, kind }: Known, limits: readonly string[]): readonly FlowChange[] =>
  LOG.filter((one) => one.objectId === id && (one.to === 'PROGRESSING' || one.to === 'STARTING')).flatMap(
    ({ sequence }) => {
      const end =
        LOG.find((one) => one.objectId === id && one.sequence > sequence && one.to !== 'RUNNING')?.sequence ?? 0
      const each = (did: 'ASK' | 'GRANT' | 'RELEASE', second: number) =>
        limits.map((limit) => ticket(did, limit, id, second, { kind }))
      return [...each('ASK', sequence), ...each('GRANT', sequence), ...each('RELEASE', end)]
    },
  )
/** Somebody has given a key of it other bounds. */
export const OVERRIDE: Extract<FlowChange, { did: 'OVERRIDE' | 'OVERRIDE_ENDS' }> = {
  ...{ did: 'OVERRIDE', limitId: 'builds', key: 'a', at: at(0), until: at(400) },
  bounds: { maxPerKey: 4, rateCount: null, rateMs: null },
}
const FLOW: readonly FlowChange[] = [
  OVERRIDE,
  ...flowOf(ITEM_A, ['deploys']),
  ...flowOf(ITEM_B, ['deploys', 'paced', 'fleet']),
  ...WORKERS.flatMap((one) => flowOf(one, ['builds'])),
].toSorted((one, other) => one.at.getTime() - other.at.getTime())

const TREE_SPEC = {
  deployItems: [{ name: 'item-a' }, { name: 'item-b' }],
  exports: [{ name: 'tree-url' }],
  imports: [],
}
const FORMER_SPEC = { ...TREE_SPEC, deployItems: [{ name: 'item-a' }] }
const FOLLOWER_SPEC = { deployItems: [], exports: [], imports: [{ name: 'url', from: 'tree-url' }] }
const GATED_SPEC = { deployItems: [{ name: GATE, config: { approval: { count: 2 } } }], exports: [], imports: [] }
/** Between two seconds: the log has one change each second. */
const NIGHTLY_SPEC = { every: { ms: 1_000, offsetMs: 500 }, overlap: 'SKIP', catchUp: 'ALL' }
const CREATED_AT = LOG.find(({ objectId }) => objectId === 'nightly')?.sequence ?? 0
export const dueAt = (n: number): Date => new Date(at(CREATED_AT).getTime() + n * 1_000 + 500)
const POLICY = { attempts: 2, on: [], not: [], attemptTimeoutMs: null }
const retryOf = (initialMs: number) => ({
  policy: { ...POLICY, backoff: { initialMs, factor: 2, maxMs: 60_000, jitter: 0 } },
  attempts: [{ error: {} }, { error: null }],
})
const SPECS: Readonly<Record<string, object>> = {
  nightly: NIGHTLY_SPEC,
  'item-a': { type: 'chaos', dependsOn: [], limits: [{ limit: 'deploys', key: 'a' }] },
  'item-b': {
    type: 'chaos',
    dependsOn: ['item-a'],
    limits: ['deploys', 'paced', 'chaos/fleet'].map((limit) => ({ limit })),
  },
  'job-b': { dependsOn: ['job-a'] },
  tree: TREE_SPEC,
  follower: FOLLOWER_SPEC,
  gated: GATED_SPEC,
  [GATE]: { type: 'gate', dependsOn: [] },
  c0: { nodes: 2 },
}
const GENERATIONS: Readonly<Record<string, number>> = { tree: 2, c0: 2 }

let asked = 0
/** A user's mutation, which is answered before the next one is sent. */
export function mutation(name: string, given: Partial<UserMutation>): UserMutation {
  asked += 10
  const answer = {
    generation: null,
    jobId: null,
    key: null,
    value: null,
    kind: 'INSTALLATION',
    name: '',
    id: null,
    by: null,
  } as const
  return { mutation: name, ...answer, askedMs: asked, answeredMs: asked + 5, ...given }
}
const secret = (value: string) => mutation('setSecret', { kind: 'SECRET', name: 'VERSION', value })
const MUTATIONS: readonly UserMutation[] = [
  mutation('createInstallation', { id: 'tree', name: 'tree', key: 'tree', generation: 1, value: FORMER_SPEC }),
  mutation('createInstallation', { id: 'tree', name: 'tree', key: 'tree', generation: 1, value: FORMER_SPEC }),
  mutation('updateInstallation', { id: 'tree', name: 'tree', generation: 2, value: TREE_SPEC }),
  mutation('createInstallation', { id: 'follower', name: 'follower', key: 'follower', generation: 1 }),
  mutation('createInstallation', { id: 'deleted', name: 'deleted', key: 'deleted', generation: 1 }),
  mutation('deleteInstallation', { id: 'deleted', name: 'deleted', generation: 1 }),
  secret('v1'),
  mutation('createEvent', { id: 'event-a', kind: 'EVENT', name: 'event-a', key: 'event-a' }),
  secret('v2'),
  mutation('createEvent', { id: 'event-b', kind: 'EVENT', name: 'event-b', key: 'event-b' }),
  mutation('createTask', { id: 'task', kind: 'TASK', name: 'task', key: 'task' }),
  mutation('createClusterInst', { id: 'c0', kind: 'CLUSTER_INST', name: 'c0', generation: 1, value: { nodes: 1 } }),
  mutation('updateClusterInst', { id: 'c0', kind: 'CLUSTER_INST', name: 'c0', generation: 2, value: { nodes: 2 } }),
  mutation('setDataObject', { kind: 'DATA_OBJECT', name: 'setting', value: 'v1' }),
  mutation('setDataObject', { kind: 'DATA_OBJECT', name: 'setting', value: 'v2' }),
  mutation('createToken', { id: 'token-1', kind: 'TOKEN', name: 'reader-1' }),
  mutation('createToken', { id: 'token-2', kind: 'TOKEN', name: 'reader-2' }),
  mutation('updatePrincipal', { id: 'reader-2', kind: 'PRINCIPAL', name: 'reader-2', value: ['EDITOR'] }),
  mutation('updatePrincipal', { id: 'reader-2', kind: 'PRINCIPAL', name: 'reader-2', value: ['AUTHOR'] }),
  mutation('fireSchedule', { id: 'nightly', kind: 'SCHEDULE', name: 'nightly', key: 'by-hand' }),
  mutation('updateLimit', { id: 'paced', kind: 'LIMIT', name: 'paced', value: { rate: { count: 4, perMs: RATE_MS } } }),
  mutation('overrideLimit', {
    id: 'builds',
    kind: 'LIMIT',
    name: 'builds',
    value: { key: 'a', maxPerKey: 4, ttlMs: 400_000 },
  }),
  mutation('createInstallation', { id: 'gated', name: 'gated', key: 'gated', generation: 1, value: GATED_SPEC }),
  ...['ann', 'ben'].map((by) =>
    mutation('approve', { id: GATE, kind: 'DEPLOY_ITEM', name: 'gated', key: `gated/${by}`, by }),
  ),
  mutation('revokeToken', { id: 'token-1', kind: 'TOKEN', name: 'reader-1' }),
]
/** The audit of what has happened, chained. */
export function auditOf(done: readonly UserMutation[]): readonly Row<'auditEvent'>[] {
  const keys = new Set<string>()
  let hash: Buffer = Buffer.alloc(0)
  return done
    .filter(({ key, mutation: name }) => key === null || (!keys.has(`${name} ${key}`) && keys.add(`${name} ${key}`)))
    .map(({ mutation: operation, id, name }, i) => {
      const event = row('auditEvent', { id: `audit-${i}`, operation, objectId: id, objectName: name, outcome: 'DONE' })
      const chained = { ...event, count: 1, sequence: i + 1 }
      hash = chainHash(hash, chained as unknown as ChainedEvent)
      return { ...chained, hash }
    })
}

const runOf = (number: number, objectId: string, jobId: string, generation: number, exports: object | null) =>
  row('run', {
    ...{ number, objectId, jobId, generation, exports, phase: 'SUCCEEDED' },
    startedAt: at(sequenceOf(objectId, 'INIT', jobId)),
    endedAt: at(sequenceOf(objectId, 'SUCCEEDED', jobId)),
  })
const TOLD = LOG.filter(({ kind }) => kind === 'TASK')
const DETAILS: Partial<Tables> = {
  installation: [
    row('installation', {
      objectId: 'tree',
      imports: {},
      exports: { 'tree-url': 'item-a' },
      origin: { jobId: 'tree-2' },
    }),
    row('installation', { objectId: 'nested', imports: {}, exports: {} }),
    row('installation', {
      objectId: 'follower',
      imports: { url: 'item-a' },
      exports: {},
      origin: { jobId: 'follower-1' },
    }),
    row('installation', { objectId: 'gated', imports: {}, exports: {}, origin: { jobId: 'gated-1' } }),
  ],
  run: [
    runOf(1, 'tree', 'tree-1', 1, { 'tree-url': 'item-a' }),
    runOf(2, 'tree', 'tree-2', 2, { 'tree-url': 'item-a' }),
    runOf(1, 'follower', 'follower-1', 1, null),
    runOf(1, 'gated', 'gated-1', 1, null),
  ],
  specGeneration: [row('specGeneration', { objectId: 'tree', generation: 1, spec: FORMER_SPEC })],
  deployItem: [
    row('deployItem', {
      ...{ objectId: 'item-a', type: 'chaos', exports: { url: 'item-a', span: '1-1' }, retry: retryOf(2_000) },
    }),
    row('deployItem', { objectId: 'item-b', type: 'chaos', exports: { url: 'item-b', span: '2-1' } }),
    row('deployItem', { objectId: GATE, type: 'gate', exports: { approvedBy: ['ann', 'ben'] } }),
  ],
  tally: [
    row('tally', { objectId: 'execution', total: 2 }),
    row('tally', { objectId: 'tree', total: 2 }),
    row('tally', { objectId: 'task', total: 2 }),
    ...['gated', 'gated-items'].map((objectId) => row('tally', { objectId, total: 1 })),
  ],
  edge: [row('edge', { fromId: 'item-b', toId: 'item-a' }), row('edge', { fromId: 'job-b', toId: 'job-a' })],
  rootExport: [row('rootExport', { name: 'tree-url', exporterId: 'tree' })],
  rootImport: [row('rootImport', { name: 'tree-url', importerId: 'follower' })],
  exportPin: [row('exportPin', { exporterId: 'tree', importerId: 'follower' })],
  dataObject: [
    row('dataObject', { name: 'tree-url', value: 'item-a', exporterId: 'tree' }),
    row('dataObject', { name: 'setting', value: 'v2' }),
  ],
  event: [
    row('event', { objectId: 'event-a', source: SOURCE.schedule, payload: `nightly ${dueAt(0).toISOString()}` }),
    row('event', { objectId: 'event-b', source: SOURCE.hook, payload: 'delivery' }),
  ],
  schedule: [row('schedule', { objectId: 'nightly', lastDue: at(CREATED_AT + 3), firedCount: 2 })],
  firing: [
    ...[
      { id: 'first', outcome: 'FIRED', startedId: 'event-a', endedAt: at(250) },
      { id: 'second', outcome: 'SKIPPED', reason: 'OVERLAP' },
      { id: 'third', outcome: 'SKIPPED', reason: 'PAUSED' },
    ].map((firing, i) =>
      row('firing', {
        ...{ scheduleId: 'nightly', cause: BY_TIME, due: dueAt(i), at: at(CREATED_AT + 1 + i), count: 1 },
        ...firing,
      }),
    ),
    row('firing', {
      ...{ id: 'by-hand', scheduleId: 'nightly', cause: 'by-hand', due: at(CREATED_AT + 2), at: at(CREATED_AT + 2) },
      count: 1,
      ...{ outcome: 'SKIPPED', reason: 'OVERLAP' },
    }),
  ],
  hook: [row('hook', { id: 'hook', name: 'sent' })],
  hookDelivery: [
    row('hookDelivery', { hookId: 'hook', outcome: 'ACCEPTED', deliveryId: 'delivery', eventId: 'event-b' }),
  ],
  notificationRule: [row('notificationRule', { id: 'rule', name: 'tasks', spec: { changes: { kinds: ['TASK'] } } })],
  notification: TOLD.map(({ sequence, objectId, to }) =>
    row('notification', {
      ...{ id: `message-${sequence}`, ruleId: 'rule', subjectId: objectId, state: 'DELIVERED', attempts: 1 },
      ...{ told: { type: 'CHANGE', change: { sequence, objectId, to } }, endedAt: at(260) },
    }),
  ),
  eventSecret: EVENTS.map(({ id }) => row('eventSecret', { eventId: id, name: 'VERSION' })),
  workload: WORKERS.map(({ id }) =>
    row('workload', { objectId: id, state: 2, endedAt: at(90), exitCode: 0, removeAt: at(91), removedAt: at(92) }),
  ),
  logLine: WORKERS.flatMap(({ id }, worker) =>
    PRINTED.map((text, i) => row('logLine', { objectId: id, n: i + 1, text, seq: worker * 100 + i })),
  ),
  logTail: WORKERS.map(({ id }) =>
    row('logTail', {
      objectId: id,
      nextN: PRINTED.length + 1,
      keptLines: PRINTED.length,
      keptBytes: PRINTED.join('').length,
    }),
  ),
  capacity: [row('capacity', { maxWorkers: 1, maxJobs: 1 })],
  task: [row('task', { objectId: 'task' })],
  gadgetJob: JOBS.map(({ id }) =>
    row('gadgetJob', {
      objectId: id,
      ...{ gadget: 'take', args: [`task/${id}`, '1', `disk=${id === 'job-a' ? 'X' : 'S'}`], locks: [{}], exports: {} },
      ...{ startedAt: at(100), endedAt: at(101), retry: id === 'job-b' ? retryOf(2_000) : null },
    }),
  ),
  journal: JOBS.flatMap(({ id }) =>
    [...(id === 'job-b' ? ['START', 'UNDO_STARTED', 'UNDO', 'RETRY'] : []), 'START', 'DONE'].map((entry, i) =>
      row('journal', { objectId: id, n: i + 1, entry, at: at(100 + i) }),
    ),
  ),
  cloudlet: [row('cloudlet', { objectId: 'cloudlet', epoch: 2, upgradePhase: 'READY', orphans: [] })],
  crmLease: [row('crmLease', { cloudletId: 'cloudlet', epoch: 2 })],
  edgeInst: [row('edgeInst', { objectId: 'c0', specRevision: 2, lastRevision: 2 })],
  work: [ITEM_A, ITEM_B, ...WORKERS, ...JOBS, CLUSTER].map(({ id, root }) =>
    row('work', {
      objectId: id,
      rootId: root,
      state: 2,
      type: 'chaos',
      action: 'RECONCILE',
      attempt: 1,
      doneAt: at(200),
      jobId: last(id)?.jobId ?? null,
    }),
  ),
  principal: [1, 2].map((n) => row('principal', { id: `reader-${n}` })),
  principalGrant: [
    row('principalGrant', { principalId: 'reader-1', role: 'VIEWER' }),
    row('principalGrant', { principalId: 'reader-2', role: 'AUTHOR' }),
  ],
  token: [
    row('token', { id: 'token-1', principalId: 'reader-1', name: 'reader-1', revokedAt: at(1) }),
    row('token', { id: 'token-2', principalId: 'reader-2', name: 'reader-2' }),
  ],
  idempotencyKey: MUTATIONS.filter(
    ({ key }, i) => key !== null && MUTATIONS.findIndex((one) => one.key === key) === i,
  ).map(({ mutation: name, key, id }) => row('idempotencyKey', { mutation: name, key: key ?? '', objectId: id ?? '' })),
  auditEvent: auditOf(MUTATIONS),
  flowLimit: Object.entries(LIMITS).map(([name]) => {
    const { max, usual } = BOUNDS[name] ?? boundsOf()
    return row('flowLimit', {
      id: name,
      name,
      max,
      ...usual,
      weights: {},
      strategy: 'QUEUE',
      debounceMs: null,
      isShared: name === 'fleet',
    })
  }),
  limitGrant: FLOW.flatMap((one) => {
    if (one.did !== 'GRANT' || one.limitId !== 'paced') return []
    const { limitId, key, at: granted, objectId } = one
    return [row('limitGrant', { limitId, key, at: granted, objectId, until: new Date(granted.getTime() + RATE_MS) })]
  }),
}
/** One transaction for each change. */
export const numberedBy = (log: readonly LoggedChange[]): Pick<Tables, 'logBatch' | 'logObject'> => ({
  logBatch: log.map((_, i) => row('logBatch', { id: i + 1, n: 1, firstSeq: i + 1 })),
  logObject: log.map(({ objectId }, i) => row('logObject', { objectId, batchId: i + 1 })),
})
const TABLES: Tables = {
  ...(Object.fromEntries(WATCHED.map((table) => [table, []])) as unknown as Tables),
  ...numberedBy(LOG),
  object: present.map(({ id, root, parent, kind }) => {
    const generation = GENERATIONS[id] ?? 1
    const { to: phase, revision, at: phaseSince } = last(id) as LoggedChange
    const jobId = LOG.findLast((one) => one.objectId === id && one.jobId !== null)?.jobId ?? null
    const lifecycle = { phaseSince, generation, observedGeneration: generation, jobId, finishedJobId: jobId }
    return row('object', {
      ...(id === 'nightly' && { createdAt: at(CREATED_AT) }),
      id,
      rootId: root,
      parentId: parent,
      kind,
      name: id,
      phase,
      revision: revision ?? 0,
      ...lifecycle,
    })
  }),
  objectSpec: present.map(({ id }) => row('objectSpec', { objectId: id, spec: SPECS[id] ?? {} })),
  logMeta: [row('logMeta', { epoch: 1 })],
  rootQueue: [
    row('rootQueue', { rootId: 'tree', wakeAt: at(500) }),
    row('rootQueue', { rootId: 'cloudlet', wakeAt: at(305) }),
  ],
  ...DETAILS,
  clock: [row('clock', { objectId: 'cloudlet', rootId: 'cloudlet', dueAt: at(310) })],
}
const span = (process: number, objectId: string, jobId: string, n: number) => ({
  ...{ span: `${process}-${n}`, pid: process, process: `deployer-${process}`, action: 'RECONCILE' },
  ...{ objectId, jobId, fromMs: 1_000 * process + n * 100, toMs: 1_000 * process + n * 100 + 50 },
})
export const KEPT: Evidence = {
  log: LOG,
  flow: FLOW,
  tables: TABLES,
  secrets: [{ name: 'VERSION', value: 'v2' }],
  copies: EVENTS.map(({ id }, i) => ({ eventId: id, value: `v${i + 1}` })),
  databaseNow: at(300),
  mutations: MUTATIONS,
  probes: [
    { tokenId: 'token-1', askedMs: 1, isValid: true },
    { tokenId: 'token-1', askedMs: 9_000, isValid: false },
    { tokenId: 'token-2', askedMs: 9_000, isValid: true },
  ],
  readers: [{ name: 'reader', parts: [LOG] }],
  spans: [
    span(1, 'item-a', 'tree-1', 0),
    span(1, 'item-a', 'tree-2', 1),
    span(2, 'item-b', 'tree-1', 0),
    span(2, 'item-b', 'tree-2', 1),
  ],
  deliveries: [{ id: 'delivery', askedMs: 1, answeredMs: 2, status: 202, eventId: 'event-b' }],
  answered: new Set(),
  messages: TOLD.map(({ sequence, objectId, to }) => ({
    ...{ id: `message-${sequence}`, rule: 'tasks', sequence, objectId, to, atMs: sequence, isTaken: true },
  })),
  gadgets: JOBS.flatMap(({ id }, i) => [
    ...(id === 'job-b' ? (['RUN', 'UNDO'] as const).map((did) => ({ did, job: `task/${id}`, atMs: 10 * i })) : []),
    { did: 'RUN', job: `task/${id}`, atMs: 10 * i },
    { did: 'END', job: `task/${id}`, atMs: 10 * i + 5 },
  ]),
  starts: WORKERS.map(({ id }, i) => ({ id, atMs: 1_000 + i, secret: `v${i + 1}` })),
  maxWorkers: 1,
  installed: ['item-a', 'item-b'],
  leftovers: [],
  edge: { recorded: ['c0 2'], found: ['c0 2'] },
  faults: [],
  deaths: [],
}
