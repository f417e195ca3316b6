import type { RetryPolicy } from '../../src/core/retry.ts'
import { BY_TIME } from '../../src/families/automation/rules/plan-firings.ts'
import type {
  Evidence,
  FlowChange,
  LoggedChange,
  PerformedFault,
  Row,
  Tables,
  UserMutation,
  WatchedTable,
} from './evidence.ts'
import {
  at,
  auditOf,
  boundsOf,
  dueAt,
  KEPT,
  logOf,
  mutation,
  numberedBy,
  OVERRIDE,
  row,
  STEPS,
  ticket,
} from './kept-world.ts'
import { GATE } from './load.ts'
import type { PromiseName } from './promises/index.ts'
import type { FaultKind } from './schedule.ts'

/** Faults that a product might have, planted into evidence of a run in which every promise was kept. */

export type Plant = Partial<Evidence>

const inTables = (tables: Partial<Tables>): Plant => ({ tables: { ...KEPT.tables, ...tables } })
type Which<T extends WatchedTable> = Partial<Row<T>>
const matches = (which: object) => (one: object) =>
  Object.entries(which).every(([name, value]) => (one as Readonly<Record<string, unknown>>)[name] === value)
const rowsOf = <T extends WatchedTable>(table: T): readonly Row<T>[] => KEPT.tables[table]
/** Some rows with other values. */
const changed = <T extends WatchedTable>(table: T, which: Which<T>, to: Partial<Row<T>>): Plant =>
  inTables({ [table]: rowsOf(table).map((one) => (matches(which)(one) ? { ...one, ...to } : one)) })
const lost = <T extends WatchedTable>(table: T, which: Which<T>): Plant =>
  inTables({ [table]: rowsOf(table).filter((one) => !matches(which)(one)) })
const added = <T extends WatchedTable>(table: T, given: Partial<Row<T>>): Plant =>
  inTables({ [table]: [...rowsOf(table), row(table, given)] })

export const fault = (kind: FaultKind, target: string, fromMs: number, toMs: number): PerformedFault => ({
  kind,
  target,
  fromMs,
  toMs,
})
const LOG = KEPT.log
/** Another log that everybody has read. */
const logged = (log: readonly LoggedChange[]): Plant => ({
  log,
  readers: [{ name: 'reader', parts: [log] }],
  ...inTables(numberedBy(log)),
})
const stepped = (order: (steps: typeof STEPS) => typeof STEPS): Plant => logged(logOf(order(STEPS)))
const isStep =
  (id: string, to: string, job?: string) =>
  ([object, , phase, , jobId]: (typeof STEPS)[number]): boolean =>
    object.id === id && phase === to && (job === undefined || job === jobId)
/** One of the steps comes after all others. */
const later = (id: string, to: string) =>
  stepped((steps) => [...steps.filter((one) => !isStep(id, to)(one)), ...steps.filter(isStep(id, to))])
/** One of them comes just before another one. */
const earlier = (moved: ReturnType<typeof isStep>, before: ReturnType<typeof isStep>) =>
  stepped((steps) => {
    const all = steps.filter((one) => !moved(one))
    const i = all.findIndex(before)
    return [...all.slice(0, i), ...steps.filter(moved), ...all.slice(i)]
  })
const isOf = (id: string, to: string) => (one: LoggedChange) => one.objectId === id && one.to === to
const withChange = (which: (one: LoggedChange) => boolean, to: Partial<LoggedChange>): readonly LoggedChange[] =>
  LOG.map((one) => (which(one) ? { ...one, ...to } : one))
const heard = (part: readonly LoggedChange[]): Plant => ({ readers: [{ name: 'reader', parts: [part] }] })
const spans = (to: (span: Evidence['spans'][number]) => object): Plant => ({
  spans: KEPT.spans.map((span) => ({ ...span, ...to(span) })),
})
const told = (...more: Evidence['mutations']): Plant => ({ mutations: [...KEPT.mutations, ...more] })
/** The user's own word, the audit of it, and nothing else. */
const heardAndNoted = (...more: Evidence['mutations']): Plant => {
  const mutations = [...KEPT.mutations, ...more]
  return { mutations, ...inTables({ auditEvent: auditOf(mutations) }) }
}
const AUDIT = KEPT.tables.auditEvent
const FLOW = KEPT.flow
const flowing = (...more: readonly FlowChange[]): Plant => ({ flow: [...FLOW, ...more] })
/** Tickets of an object, asked for, granted and given back in the order of these words. */
const play = (
  bounds: ReturnType<typeof boundsOf>,
  steps: string,
  of: Record<string, object> = {},
): readonly FlowChange[] =>
  steps.split(' ').map((step, i) => {
    const [did, id = ''] = step.split(':')
    const given = { bounds: did === 'GRANT' ? bounds : null, ...of[id] }
    return ticket(did as 'ASK', 'deploys', `${id}-object`, 280 + i, given)
  })
const ONE = boundsOf({ max: 1 })
const NONE = { maxPerKey: 0, rateCount: null, rateMs: null }
/** The override of the run, as it was not. */
const overriding = (given: Partial<typeof OVERRIDE>): Plant => ({
  flow: FLOW.map((one) => (one === OVERRIDE ? { ...OVERRIDE, ...given } : one)),
})
const overridden = (key: string, maxPerKey: number): UserMutation =>
  mutation('overrideLimit', { id: 'deploys', kind: 'LIMIT', name: 'deploys', value: { key, maxPerKey, ttlMs: 60_000 } })
const isApproval = (one: UserMutation, by: string): boolean => one.mutation === 'approve' && one.by === by
const said = (to: string, given: Partial<LoggedChange>): Plant =>
  logged(withChange((one) => isOf(GATE, to)(one) && one.by !== null, given))
const ASKING = { deployItems: [{ name: GATE, config: { http: { url: 'http://127.0.0.1/gated' } } }] }
const FIRST_WORK = { objectId: 'item-a' }

const FIRING = { scheduleId: 'nightly', cause: BY_TIME, due: at(1), count: 1 }
const DELIVERY = KEPT.deliveries[0] as Evidence['deliveries'][number]
const MESSAGES = KEPT.messages
/** Another policy, and other attempts, of an item or a job. */
function retries(objectId: string, policy: Partial<RetryPolicy>, attempts?: readonly object[]): Plant {
  const to = <R extends { readonly objectId: string; readonly retry: unknown }>(one: R): R => {
    const retry = one.retry as { readonly policy: RetryPolicy; readonly attempts: readonly object[] }
    if (one.objectId !== objectId) return one
    return { ...one, retry: { policy: { ...retry.policy, ...policy }, attempts: attempts ?? retry.attempts } }
  }
  const { deployItem, gadgetJob } = KEPT.tables
  return inTables({ deployItem: deployItem.map(to), gadgetJob: gadgetJob.map(to) })
}

export const PLANTS: Readonly<Record<PromiseName, Readonly<Record<string, Plant>>>> = {
  'the log is dense': {
    'a gap in the sequences': { log: LOG.map((one, i) => (i > 4 ? { ...one, sequence: one.sequence + 1 } : one)) },
    'a sequence twice': { log: LOG.map((one, i) => (i === 4 ? { ...one, sequence: 4 } : one)) },
    'a transaction of the log lost': lost('logBatch', { id: 7 }),
    'a transaction without its numbers': changed('logBatch', { id: 7 }, { firstSeq: null }),
    'a transaction numbered twice': added('logBatch', { id: 999, n: 1, firstSeq: 7 }),
    'the end of the log lost': { log: LOG.slice(0, -1) },
  },
  'every change is in its machine': {
    'a change lost': { log: LOG.filter((one) => !isOf('job-a', 'WAITING')(one)) },
    'a change by who may not': { log: withChange(isOf('job-a', 'DONE'), { actor: 'USER' }) },
    'a change along no row': { log: withChange(isOf('worker-a', 'SUCCEEDED'), { to: 'PENDING' }) },
    'a beginning in the middle': {
      log: withChange((one) => one.from === null && one.objectId === 'tree', { to: 'INIT' }),
    },
    'a change that was refused, told as done': {
      log: [
        ...LOG,
        { ...(LOG.findLast(isOf('job-a', 'DONE')) as LoggedChange), sequence: LOG.length + 1, revision: 99 },
      ],
    },
    'a change that was done, told as refused': { log: withChange(isOf('job-a', 'WAITING'), { rejected: true }) },
  },
  'a tree’s changes are in their order': {
    'a revision that goes back in the log': logged(withChange(isOf('job-a', 'DONE'), { revision: 2 })),
    'a revision that goes back in the table': changed('object', { id: 'job-a' }, { revision: 4 }),
    'a change doubled': logged(LOG.flatMap((one) => (isOf('tree', 'COMPLETING')(one) ? [one, one] : [one]))),
    'a change from before the one before': logged(withChange(isOf('job-a', 'DONE'), { at: at(1) })),
  },
  'a change is found by its object': {
    'a change without its entry': lost('logObject', { batchId: 7 }),
    'an entry of another object': changed('logObject', { batchId: 7 }, { objectId: 'job-a' }),
    'an entry of nothing': added('logObject', { objectId: 'job-a', batchId: 999 }),
  },
  'what was accepted is kept': {
    'a creation lost': heardAndNoted(mutation('createTask', { id: 'lost', kind: 'TASK', name: 'lost' })),
    'a cancellation without effect': heardAndNoted(mutation('cancelTask', { id: 'task', kind: 'TASK', name: 'task' })),
    'a job that was cancelled, and succeeded': heardAndNoted(
      mutation('cancelInstallation', { id: 'tree', name: 'tree', jobId: 'tree-2', generation: 2 }),
    ),
    'a deletion without effect': heardAndNoted(
      mutation('deleteInstallation', { id: 'tree', name: 'tree', generation: 2 }),
    ),
    'an update without effect': heardAndNoted(
      mutation('updateClusterInst', { id: 'c0', kind: 'CLUSTER_INST', name: 'c0', generation: 2, value: { nodes: 2 } }),
    ),
    'a cancelled event that succeeded': heardAndNoted(
      mutation('cancelEvent', { id: 'event-a', kind: 'EVENT', name: 'event-a' }),
    ),
  },
  'a creation that is repeated is one': {
    'a second object': logged([
      ...LOG,
      { ...(LOG[0] as LoggedChange), objectId: 'twin', rootId: 'twin', sequence: LOG.length + 1, at: at(900) },
    ]),
    'a key without its object': lost('idempotencyKey', { key: 'tree' }),
    'a key of two answers': told(mutation('createTask', { id: 'other', kind: 'TASK', name: 'task', key: 'task' })),
    'a key of another object': changed('idempotencyKey', { key: 'tree' }, { objectId: 'follower' }),
    'an object of two keys': added('idempotencyKey', { mutation: 'createTask', key: 'other', objectId: 'task' }),
  },
  'an accepted spec stays': {
    'a spec that goes back': changed(
      'objectSpec',
      { objectId: 'tree' },
      { spec: { deployItems: [{ name: 'item-a' }] } },
    ),
    'the spec of an instance that goes back': changed('objectSpec', { objectId: 'c0' }, { spec: { nodes: 1 } }),
    'a generation that goes back': changed('object', { id: 'tree' }, { generation: 1, observedGeneration: 1 }),
    'a former spec changed': changed('specGeneration', { objectId: 'tree' }, { spec: {} }),
    'a former spec lost': lost('specGeneration', { objectId: 'tree' }),
  },
  'what was done is in the audit': {
    'an event lost': lost('auditEvent', { id: 'audit-3' }),
    'an event changed': changed('auditEvent', { id: 'audit-3' }, { principalName: 'somebody else' }),
    'the last event lost': lost('auditEvent', { id: AUDIT.at(-1)?.id ?? '' }),
    'an event without its place': changed('auditEvent', { id: 'audit-3' }, { sequence: null, hash: null }),
    'two events in each other’s place': inTables({
      auditEvent: AUDIT.map((one, i) => (i === 3 || i === 4 ? { ...one, sequence: i === 3 ? 5 : 4 } : one)),
    }),
    'an accepted mutation that is not in it': told(
      mutation('setSecret', { kind: 'SECRET', name: 'VERSION', value: 'v2' }),
    ),
    'a refusal, told as done': inTables({
      auditEvent: auditOf([...KEPT.mutations, mutation('cancelTask', { id: 'task', kind: 'TASK', name: 'task' })]),
    }),
  },
  'rights are those last given': {
    'a role that came back': changed('principalGrant', { principalId: 'reader-2' }, { role: 'EDITOR' }),
    'a role lost': lost('principalGrant', { principalId: 'reader-2' }),
    'a role more': added('principalGrant', { principalId: 'reader-1', ordinal: 1, role: 'ADMIN' }),
    'a token that came back': changed('token', { id: 'token-1' }, { revokedAt: null }),
    'a token that nobody has revoked': changed('token', { id: 'token-2' }, { revokedAt: at(1) }),
    'a principal lost': lost('principal', { id: 'reader-2' }),
    'a token lost': lost('token', { id: 'token-2' }),
    'a revoked token that is taken': { probes: [{ tokenId: 'token-1', askedMs: 9_000, isValid: true }] },
    'a valid token that is refused': { probes: [{ tokenId: 'token-2', askedMs: 9_000, isValid: false }] },
  },
  'secrets and data are those last set': {
    'a secret that goes back': { secrets: [{ name: 'VERSION', value: 'v1' }] },
    'a secret that cannot be opened': { secrets: [{ name: 'VERSION', value: null }] },
    'a secret lost': { secrets: [] },
    'a worker with an old secret': { starts: KEPT.starts.map((start) => ({ ...start, secret: 'v1' })) },
    'a copy of the secret that goes back': { copies: KEPT.copies.map((copy) => ({ ...copy, value: 'v1' })) },
    'a copy of the secret lost': lost('eventSecret', { eventId: 'event-a' }),
    'data that goes back': changed('dataObject', { name: 'setting' }, { value: 'v1' }),
    'data lost': lost('dataObject', { name: 'setting' }),
  },
  'readers miss and repeat nothing': {
    'a change missed': heard(LOG.filter(({ sequence }) => sequence !== 7)),
    'a change repeated': heard(LOG.flatMap((one) => (one.sequence === 7 ? [one, one] : [one]))),
    'the first one missed': heard(LOG.slice(1)),
    'the last one missed': heard(LOG.slice(0, -1)),
    'another change': heard(withChange(({ sequence }) => sequence === 7, { to: 'GONE' })),
    'another job': heard(withChange(({ sequence }) => sequence === 7, { jobId: 'other' })),
    'two changes in each other’s place': {
      log: LOG.map((one, i) => ({ ...(LOG[i === 6 ? 7 : i === 7 ? 6 : i] as LoggedChange), sequence: one.sequence })),
    },
    'told that its place is gone, and nothing had failed over': {
      readers: [{ name: 'reader', parts: [LOG.slice(0, 5), LOG.slice(5)] }],
    },
    'resumed behind what it had, after a failover': {
      readers: [{ name: 'reader', parts: [LOG.slice(0, 5), LOG.slice(7)] }],
      faults: [fault('failover', 'postgres', 90_000, 90_001)],
    },
    'a history that nobody has begun': changed('logMeta', {}, { epoch: 2 }),
  },
  'everything comes to its end': {
    'a job that runs for ever': changed('object', { id: 'job-a' }, { phase: 'RUNNING' }),
    'a root that never began': changed('object', { id: 'tree' }, { phase: 'PENDING' }),
    'a job that has no end': changed('object', { id: 'tree' }, { jobId: 'tree-3' }),
    'a deletion that nobody does': changed('object', { id: 'tree' }, { deletionRequestedAt: at(5) }),
    'a job to come': changed('installation', { objectId: 'tree' }, { nextMode: 'STANDARD' }),
    'a child that is waited for': changed('tally', { objectId: 'tree' }, { open: 1 }),
  },
  'nothing is late': {
    'a request between trees left': added('wake', { rootId: 'tree' }),
    'a clock that was missed': changed('rootQueue', { rootId: 'tree' }, { wakeAt: at(100) }),
    'a tree that fails again and again': changed('rootQueue', { rootId: 'tree' }, { failures: 3 }),
    'a deadline missed': changed('work', FIRST_WORK, { state: 1, dueAt: at(100) }),
    'a clock lost': lost('rootQueue', { rootId: 'cloudlet' }),
    'a clock that has run out': changed('clock', { objectId: 'cloudlet' }, { dueAt: at(100) }),
    'a spec of a job that has ended': added('specSnapshot', { objectId: 'tree', generation: 1 }),
  },
  'tables and log agree': {
    'another phase': changed('object', { id: 'tree' }, { phase: 'FAILED' }),
    'an object lost': lost('object', { id: 'tree' }),
    'an object that came back': inTables({
      object: [...KEPT.tables.object, row('object', { id: 'deleted', rootId: 'deleted', kind: 'INSTALLATION' })],
    }),
    'an object that nobody has created': added('object', { id: 'unheard', rootId: 'unheard', kind: 'TASK' }),
    'a child that is not counted': changed('tally', { objectId: 'execution' }, { total: 1 }),
  },
  'an object stays in its tree': {
    'an item in another tree': changed('object', { id: 'item-a' }, { rootId: 'follower', parentId: 'follower' }),
    'an item under another parent’s root': changed('object', { id: 'item-a' }, { parentId: 'follower' }),
    'a change in another tree': { log: withChange(isOf('item-a', 'INIT'), { rootId: 'follower' }) },
    'work in another tree': changed('work', FIRST_WORK, { rootId: 'follower' }),
    'another name': changed('object', { id: 'item-a' }, { name: 'item-b' }),
    'a dependency on another tree’s item': changed('edge', { fromId: 'item-b' }, { toId: 'job-a' }),
    'a dependency lost': lost('edge', { fromId: 'item-b' }),
    'a spec lost': lost('objectSpec', { objectId: 'item-a' }),
    'columns lost': lost('deployItem', { objectId: 'item-a' }),
    'rows of an object that is gone': added('logTail', { objectId: 'deleted', nextN: 1 }),
    'a clock of a tree that is gone': added('rootQueue', { rootId: 'deleted', wakeAt: at(500) }),
  },
  'work begins in its turn': {
    'before what it depends on': earlier(isStep('item-b', 'INIT', 'tree-1'), isStep('item-a', 'SUCCEEDED', 'tree-1')),
    'before its parent': earlier(isStep('item-a', 'INIT', 'tree-2'), isStep('execution', 'PROGRESSING', 'tree-2')),
    'before the job that it follows': earlier(isStep('job-b', 'DECLARING'), isStep('job-a', 'DONE')),
  },
  'a paused tree begins nothing': {
    'work of a tree that was paused': {
      log: withChange(isOf('tree', 'INIT'), { from: 'INIT', revision: null, reason: 'paused' }),
    },
    'a limit granted to a tree that is paused': {
      flow: [{ did: 'PAUSE', rootId: 'tree', at: at(0) }, ...FLOW, { did: 'RESUME', rootId: 'tree', at: at(299) }],
    },
    'a pause that nobody has asked for': added('rootPause', { rootId: 'tree', at: at(1) }),
    'a pause lost': {
      log: [
        ...LOG,
        { ...(LOG[0] as LoggedChange), from: 'PENDING', revision: null, reason: 'paused', sequence: LOG.length + 1 },
      ],
    },
  },
  'a tree has one job at a time': {
    'a child that stays behind': earlier(
      isStep('tree', 'SUCCEEDED', 'tree-1'),
      isStep('execution', 'SUCCEEDED', 'tree-1'),
    ),
    'two jobs': logged(withChange(isOf('item-a', 'SUCCEEDED'), { jobId: 'tree-3' })),
  },
  'generations only grow': {
    'a run of one that is not there yet': changed('run', { objectId: 'tree', number: 1 }, { generation: 3 }),
    'a run that goes back': changed('run', { objectId: 'tree', number: 2 }, { generation: 0 }),
    'more deployed than wanted': changed('object', { id: 'tree' }, { observedGeneration: 3 }),
    'another one deployed than ran': changed('object', { id: 'tree' }, { observedGeneration: 1 }),
    'a former one lost': lost('specGeneration', { generation: 1 }),
    'a generation of an instance that goes back': changed('object', { id: 'c0' }, { generation: 1 }),
  },
  'each job of a root is a run': {
    'a run lost': lost('run', { objectId: 'tree', number: 1 }),
    'the last run lost': lost('run', { objectId: 'tree', number: 2 }),
    'a run of another job': changed('run', { objectId: 'tree', number: 2 }, { jobId: 'tree-1' }),
    'a run that ended otherwise': changed('run', { objectId: 'tree', number: 2 }, { phase: 'FAILED' }),
    'a gap in the numbers': changed('run', { objectId: 'tree', number: 2 }, { number: 3 }),
    'a run twice': added('run', {
      objectId: 'tree',
      number: 3,
      jobId: 'tree-2',
      generation: 2,
      startedAt: at(900),
      endedAt: at(900),
    }),
    'a run before its time': changed('run', { objectId: 'tree', number: 2 }, { startedAt: at(1) }),
  },
  'exports stay, and are followed': {
    'exports of an item lost': changed('deployItem', { objectId: 'item-a' }, { exports: null }),
    'exports of an installation lost': changed('installation', { objectId: 'tree' }, { exports: {} }),
    'exports of a run lost': changed('run', { objectId: 'tree', number: 2 }, { exports: null }),
    'exports that nobody finds': lost('dataObject', { name: 'tree-url' }),
    'other exports in the project': changed('dataObject', { name: 'tree-url' }, { value: 'other' }),
    'an import that is not followed': changed('installation', { objectId: 'follower' }, { imports: { url: 'old' } }),
    'a name of an export lost': lost('rootExport', { name: 'tree-url' }),
    'a name of an import lost': lost('rootImport', { name: 'tree-url' }),
    'a pin lost': lost('exportPin', {}),
    'a pin left': added('exportPin', { exporterId: 'follower', importerId: 'tree' }),
  },
  'no two agents do the same work': {
    'two at a time': spans(() => ({ objectId: 'item-a', fromMs: 0, toMs: 25 })),
    'one process twice': spans(() => ({ objectId: 'item-a', pid: 1, process: 'deployer-1', toMs: 9_000 })),
    'one that is killed only later': {
      ...spans(({ pid }) => ({ objectId: 'item-a', toMs: pid === 1 ? Number.POSITIVE_INFINITY : 2_050 })),
      deaths: [{ pid: 1, atMs: 2_010 }],
    },
    'one that stands still only later': {
      ...spans(() => ({ objectId: 'item-a', toMs: 2_500 })),
      faults: [fault('freeze-agent', 'deployer-1', 2_400, 2_450)],
    },
    'one that works on long after it stood still': {
      ...spans(() => ({ objectId: 'item-a', toMs: 9_000 })),
      faults: [fault('freeze-agent', 'deployer-1', 5, 1_060)],
    },
  },
  'only who has the work reports it': {
    'a late report that was taken': {
      spans: [
        ...KEPT.spans,
        { ...(KEPT.spans[1] as Evidence['spans'][number]), span: '3-0', pid: 3, fromMs: 5_000, toMs: 5_001 },
      ],
    },
    'work given out twice in one attempt': {
      spans: [...KEPT.spans, { ...(KEPT.spans[1] as Evidence['spans'][number]), span: '1-2', fromMs: 500, toMs: 501 }],
    },
    'exports of other work': changed('deployItem', { objectId: 'item-a' }, { exports: { url: 'item-a', span: '2-1' } }),
    'exports of no work': changed('deployItem', { objectId: 'item-a' }, { exports: { url: 'item-a', span: '9-9' } }),
  },
  'finished work is closed': {
    'work of a finished item open': changed('work', FIRST_WORK, { state: 0 }),
    'work of a finished item with an agent': changed('work', FIRST_WORK, { state: 1 }),
    'a lease that never ends': changed('work', FIRST_WORK, { leaseUntil: at(9_000) }),
    'a deadline of what is over': changed('work', FIRST_WORK, { dueAt: at(900) }),
    'work of another job': changed('work', FIRST_WORK, { jobId: 'tree-1' }),
    'work of what is gone, open': added('work', { objectId: 'deleted', rootId: 'deleted', state: 0 }),
    'work lost': lost('work', FIRST_WORK),
    'a cloudlet whose lease nobody watches': lost('clock', { objectId: 'cloudlet' }),
    'a slot that is kept': changed('workload', { objectId: 'worker-a' }, { state: 1 }),
    'resources that nobody removes': changed('workload', { objectId: 'worker-a' }, { removedAt: null }),
    'another exit code': changed('workload', { objectId: 'worker-a' }, { exitCode: 1 }),
    'an end lost': changed('workload', { objectId: 'worker-a' }, { endedAt: null }),
  },
  'no two jobs in conflict run together': {
    'a lock of two': stepped((steps) => {
      const isEnd = (one: (typeof STEPS)[number]) => isStep('job-a', 'DONE')(one)
      const i = steps.findIndex(isStep('job-b', 'DONE'))
      const end = steps.filter(isEnd)
      return [...steps.slice(0, i).filter((one) => !isEnd(one)), ...end, ...steps.slice(i)]
    }),
    'a lock that is kept': added('lock', { objectId: 'job-a', resource: 'host:disk', held: true }),
    'a lock that is wanted': added('lock', { objectId: 'job-b', resource: 'host:disk' }),
    'a resource that was taken': { gadgets: [...KEPT.gadgets, { did: 'CONFLICT', job: 'task/job-a', atMs: 5 }] },
  },
  'an undo comes before another run': {
    'two runs': { gadgets: [...KEPT.gadgets, { did: 'RUN', job: 'task/job-a', atMs: 50 }] },
  },
  'the journal tells of each run': {
    'an entry lost': lost('journal', { objectId: 'job-a', entry: 'START' }),
    'the last entry lost': lost('journal', { objectId: 'job-a', entry: 'DONE' }),
    'an entry twice': added('journal', { objectId: 'job-a', n: 3, entry: 'DONE', at: at(102) }),
    'two entries in each other’s place': inTables({
      journal: KEPT.tables.journal.map((one) => ({ ...one, n: 3 - one.n })),
    }),
    'another entry': changed('journal', { objectId: 'job-a', entry: 'DONE' }, { entry: 'FAILED' }),
    'a run that it does not know': {
      gadgets: [
        ...KEPT.gadgets,
        { did: 'UNDO', job: 'task/job-a', atMs: 50 },
        { did: 'RUN', job: 'task/job-a', atMs: 51 },
      ],
    },
    'locks lost': changed('gadgetJob', { objectId: 'job-a' }, { locks: [] }),
    'exports lost': changed('gadgetJob', { objectId: 'job-a' }, { exports: null }),
    'a start lost': changed('gadgetJob', { objectId: 'job-a' }, { startedAt: null }),
  },
  'a workload is started once': {
    twice: { starts: [...KEPT.starts, { id: 'worker-a', atMs: 2_000, secret: 'v1' }] },
    'twice, long before a failover': {
      starts: [...KEPT.starts, { id: 'worker-a', atMs: 2_000, secret: 'v1' }],
      faults: [fault('failover', 'postgres', 90_000, 91_000)],
    },
  },
  'no output is lost': {
    'a line lost': lost('logLine', { objectId: 'worker-a', n: 3 }),
    'all lines lost': lost('logLine', { objectId: 'worker-a' }),
    'the count lost': lost('logTail', { objectId: 'worker-a' }),
    'another count': changed('logTail', { objectId: 'worker-a' }, { keptLines: 3 }),
    'another end': changed('logTail', { objectId: 'worker-a' }, { nextN: 40 }),
    'lines that were dropped': changed('logTail', { objectId: 'worker-a' }, { dropped: 3 }),
    'another text': changed('logLine', { objectId: 'worker-a', n: 3 }, { text: 'line 2' }),
    'lines in each other’s place': inTables({
      logLine: KEPT.tables.logLine.map((one) => ({ ...one, seq: -one.seq })),
    }),
    'a line that was never stored': inTables({
      logLine: KEPT.tables.logLine.filter(({ text }) => text !== 'end'),
      logTail: KEPT.tables.logTail.map((one) => ({
        ...one,
        ...{ nextN: one.nextN - 1, keptLines: one.keptLines - 1, keptBytes: one.keptBytes - 3 },
      })),
    }),
  },
  'capacity is kept': {
    'two at a time': later('worker-a', 'SUCCEEDED'),
    'another limit': changed('capacity', {}, { maxWorkers: 2 }),
  },
  'nothing is left behind': {
    'what is deleted is installed': { installed: [...KEPT.installed, 'gone'] },
    'the same, and a failover elsewhere': {
      installed: [...KEPT.installed, 'gone'],
      faults: [fault('failover', 'postgres', 90_000, 91_000)],
    },
    'what has succeeded is not installed': { installed: ['item-b'] },
    'a folder of a worker': { leftovers: ['worker-a'] },
    'the same, of one that a later failover has not forgotten': {
      leftovers: ['worker-a'],
      faults: [fault('failover', 'postgres', 500, 1_500)],
    },
  },
  'sites and records agree': {
    'another revision': { edge: { recorded: ['c0 1'], found: ['c0 2'] } },
    'an instance that nobody knows': { edge: { recorded: [], found: ['c0 2'] } },
    'an instance lost': { edge: { recorded: ['c0 2'], found: [] } },
    'an undo that has not ended': changed('edgeInst', { objectId: 'c0' }, { undoing: true }),
    'a revision beyond the last': changed('edgeInst', { objectId: 'c0' }, { lastRevision: 1 }),
    'two CRMs': added('crmLease', { cloudletId: 'cloudlet', epoch: 1 }),
    'an epoch that goes back': changed('cloudlet', {}, { epoch: 1 }),
    'a lease lost': lost('crmLease', { epoch: 2 }),
    'an orphan': changed('cloudlet', {}, { orphans: [{}] }),
  },
  'each time of a schedule fires once': {
    'a time missed': lost('firing', { id: 'second' }),
    'the first one missed': lost('firing', { id: 'first' }),
    'the last one missed': lost('firing', { id: 'third' }),
    'a time twice': added('firing', { ...FIRING, id: 'again', due: dueAt(1), outcome: 'SKIPPED', reason: 'OVERLAP' }),
    'a time that is none': changed('firing', { id: 'second' }, { due: at(0) }),
    'skipped as paused, and no pause was there': inTables({
      firing: KEPT.tables.firing.map((one) => (one.id === 'second' ? { ...one, reason: 'PAUSED' } : one)),
      schedule: KEPT.tables.schedule.map((one) => ({ ...one, firedCount: 1 })),
    }),
    'a time before it has come': changed('firing', { id: 'second' }, { at: at(0) }),
    'a firing within a pause': changed('firing', { id: 'third' }, { at: at(900) }),
    'skipped for something that had ended': changed('firing', { id: 'first' }, { endedAt: dueAt(0) }),
    'another count': changed('firing', { id: 'second' }, { count: 3 }),
    'skipped for a reason that it does not have': changed('firing', { id: 'second' }, { reason: 'QUEUE_FULL' }),
    'skipped where each is caught up': changed('firing', { id: 'second' }, { reason: 'MISSED' }),
    'refused without a reason': changed('firing', { id: 'second' }, { outcome: 'REFUSED' }),
    'never decided': changed('firing', { id: 'second' }, { outcome: 'PENDING' }),
    'never ended': changed('firing', { id: 'first' }, { endedAt: null }),
    'an event of another time': changed('firing', { id: 'first' }, { startedId: 'event-b' }),
    'a firing by hand lost': lost('firing', { id: 'by-hand' }),
    'a firing by hand twice': added('firing', { ...FIRING, cause: 'other', outcome: 'SKIPPED', reason: 'OVERLAP' }),
    'a paused one that is due': changed('schedule', {}, { due: at(900) }),
    'a last time forgotten': changed('schedule', {}, { lastDue: null }),
    'a count of firings that goes back': changed('schedule', {}, { firedCount: 1 }),
  },
  'each firing and each delivery is one event': {
    'two events of one time': added('event', { ...KEPT.tables.event[0], objectId: 'event-c' }),
    'two events of one delivery': added('event', { ...KEPT.tables.event[1], objectId: 'event-c' }),
    'an event of no firing': changed('firing', { id: 'first' }, { startedId: null }),
    'an event of no delivery': lost('hookDelivery', {}),
    'an event of another delivery': changed('hookDelivery', {}, { deliveryId: 'other' }),
    'a delivery without its event': lost('event', { objectId: 'event-b' }),
    'a delivery that is refused': changed('hookDelivery', {}, { outcome: 'REFUSED' }),
    'a repetition of nothing': added('hookDelivery', { hookId: 'hook', outcome: 'DUPLICATE', eventId: 'other' }),
  },
  'what a hook has accepted is kept': {
    'an event lost': lost('event', { objectId: 'event-b' }),
    'another event': { deliveries: [{ ...DELIVERY, eventId: 'event-a' }] },
    'refused for ever': { deliveries: [DELIVERY, { ...DELIVERY, status: 401, eventId: null }] },
    'an event that nobody has sent': { deliveries: [] },
  },
  'rules tell each of their changes': {
    'a message lost': lost('notification', { id: MESSAGES[1]?.id ?? '' }),
    'a message twice': added('notification', { ...(KEPT.tables.notification[1] as Row<'notification'>), id: 'again' }),
    'a message given up': changed('notification', { id: MESSAGES[1]?.id ?? '' }, { state: 'FAILED' }),
    'a message that waits for ever': changed('notification', { id: MESSAGES[1]?.id ?? '' }, { state: 'PENDING' }),
    'delivered, and not received': { messages: MESSAGES.slice(1) },
    'delivered, and refused': { messages: MESSAGES.map((one) => ({ ...one, isTaken: false })) },
    'a later change first': { messages: MESSAGES.toReversed() },
    'a change that never was': {
      messages: [...MESSAGES, { ...(MESSAGES[0] as Evidence['messages'][number]), id: 'other', to: 'FAILED' }],
    },
    'a message of what never was': added('notification', {
      ...(KEPT.tables.notification[0] as Row<'notification'>),
      told: { type: 'CHANGE', change: { sequence: 1, objectId: 'tree', to: 'PENDING' } },
    }),
    'a later change before the one before is taken': {
      messages: MESSAGES.flatMap((one, i) => (i === 0 ? [{ ...one, isTaken: false }] : [one])).concat(
        MESSAGES[0] ?? [],
      ),
    },
    'all rules lost, with their messages': inTables({ notificationRule: [], notification: [] }),
    'a rule that begins later than it did': {
      ...inTables({
        notificationRule: KEPT.tables.notificationRule.map((one) => ({ ...one, afterSequence: 10_000 })),
        notification: [],
      }),
      messages: [],
    },
    'a rule that is behind': changed('notificationRule', {}, { behindSequence: 7 }),
    'a rule lost': lost('notificationRule', {}),
  },
  'attempts are within their policy': {
    'one too many': retries('item-a', { attempts: 1 }),
    'too early': retries('item-a', { backoff: { initialMs: 9_000, factor: 1, maxMs: 9_000, jitter: 0 } }),
    'too early after an undo': retries('job-b', { backoff: { initialMs: 9_000, factor: 1, maxMs: 9_000, jitter: 0 } }),
    'without a policy': changed('deployItem', FIRST_WORK, { retry: null }),
    'a job without a policy': changed('gadgetJob', { objectId: 'job-b' }, { retry: null }),
    'attempts forgotten': retries('item-a', {}, []),
    'a failure after the success': retries('item-a', { attempts: 9 }, [{ error: {} }, { error: {} }]),
    'given up early': {
      log: withChange((one) => isOf('item-a', 'SUCCEEDED')(one) && one.jobId === 'tree-2', { to: 'FAILED' }),
      ...retries('item-a', { attempts: 5 }),
    },
  },
  'no more hold a limit than it allows': {
    'more than of all keys': flowing(
      ...play(ONE, 'ASK:x ASK:y GRANT:x GRANT:y RELEASE:x RELEASE:y', { y: { key: 'b' } }),
    ),
    'more than of a key': flowing(
      ...play(boundsOf({ max: 9, maxPerKey: 1 }), 'ASK:x ASK:y GRANT:x GRANT:y RELEASE:x RELEASE:y'),
    ),
    'more than the override of a key': flowing(
      ...play(
        boundsOf({ maxPerKey: 9, overridden: { a: { maxPerKey: 0, rateCount: null, rateMs: null } } }),
        'ASK:x GRANT:x RELEASE:x',
      ),
    ),
    'more in a time than its rate': flowing(
      ...play(boundsOf({ rateCount: 1, rateMs: 10_000 }), 'ASK:x ASK:y GRANT:x RELEASE:x GRANT:y RELEASE:y'),
    ),
    'while it is paused': flowing(...play(boundsOf({ max: 9, isPaused: true }), 'ASK:x GRANT:x RELEASE:x')),
    'held for ever': flowing(...play(ONE, 'ASK:x GRANT:x')),
    'waited for for ever': flowing(...play(ONE, 'ASK:x')),
    'held in the end': added('limitTicket', { objectId: 'item-a', limitId: 'deploys', grantedAt: at(1) }),
    'granted twice': flowing(...play(boundsOf({ max: 9 }), 'ASK:x GRANT:x GRANT:x RELEASE:x')),
    'given back before the end': {
      flow: FLOW.map((one) =>
        one.did === 'RELEASE' && one.objectId === 'item-b' ? { ...one, at: new Date(one.at.getTime() - 1) } : one,
      ),
    },
    'at work without it': { flow: FLOW.filter((one) => !('objectId' in one) || one.objectId !== 'item-b') },
    'a limit lost': lost('flowLimit', { id: 'builds' }),
    'bounds that go back': changed('flowLimit', { id: 'paced' }, { rateMs: 1_500 }),
    'paused in the end': changed('flowLimit', { id: 'builds' }, { pause: {} }),
    'a start that its rate forgets': lost('limitGrant', { objectId: 'item-b' }),
    'a start that its rate invents': added('limitGrant', {
      limitId: 'paced',
      objectId: 'item-a',
      at: at(1),
      until: at(900),
    }),
  },
  'limits are given in their order': {
    'before an elder of its key': flowing(...play(ONE, 'ASK:x ASK:y GRANT:y RELEASE:y GRANT:x RELEASE:x')),
    'before a higher priority': flowing(
      ...play(ONE, 'ASK:x ASK:y GRANT:x RELEASE:x GRANT:y RELEASE:y', { y: { key: 'b', priority: 1 } }),
    ),
    'two turns of a key before one of another': flowing(
      ...play(ONE, 'ASK:x ASK:y ASK:z GRANT:y RELEASE:y GRANT:z RELEASE:z GRANT:x RELEASE:x', {
        y: { key: 'b' },
        z: { key: 'b' },
      }),
    ),
  },
  'an override holds for its time': {
    'bounds that nobody has asked for': overriding({ bounds: { maxPerKey: 5, rateCount: null, rateMs: null } }),
    'of another key': overriding({ key: 'b' }),
    'for longer than it was asked for': overriding({ until: at(401) }),
    'accepted, and lost': heardAndNoted(overridden('b', 1)),
    'ended early': flowing({ ...OVERRIDE, did: 'OVERRIDE_ENDS', at: at(399) }),
    'a start by one that is not there': flowing(
      ...play(boundsOf({ overridden: { c: NONE } }), 'ASK:x GRANT:x RELEASE:x'),
    ),
    'a start by one that has ended': flowing(
      { ...OVERRIDE, did: 'OVERRIDE', limitId: 'deploys', until: at(279) },
      ...play(boundsOf({ overridden: { a: OVERRIDE.bounds } }), 'ASK:x GRANT:x RELEASE:x'),
    ),
    'a start without one that was seen': {
      flow: [
        ...FLOW,
        ...['x', 'y'].flatMap((id, i) =>
          play(
            boundsOf({ overridden: i === 0 ? { a: OVERRIDE.bounds } : {} }),
            `ASK:${id} GRANT:${id} RELEASE:${id}`,
          ).map((one) => ({ ...one, limitId: 'builds' })),
        ),
      ],
    },
  },
  'a gate opens by those who may open it': {
    'by one': said('SUCCEEDED', { message: 'Approved by ben.' }),
    'by one who is counted twice': said('SUCCEEDED', { message: 'Approved by ben, ben.' }),
    'by more than it asks for': said('SUCCEEDED', { message: 'Approved by ann, cem, ben.' }),
    'by somebody who has not approved': said('SUCCEEDED', { message: 'Approved by cem, ben.' }),
    'by nobody': said('SUCCEEDED', { message: null, by: null }),
    'at a time that is none of its': said('SUCCEEDED', { message: 'Its time has come.', by: null }),
    'by who has lost the right': {
      mutations: KEPT.mutations.flatMap((one) => {
        const { askedMs } = one
        const taken = mutation('updatePrincipal', { kind: 'PRINCIPAL', name: 'ann', id: 'ann', value: [] })
        return isApproval(one, 'ben') ? [{ ...taken, askedMs: askedMs - 4, answeredMs: askedMs - 3 }, one] : [one]
      }),
    },
    'by its author': told(mutation('approve', { id: GATE, kind: 'DEPLOY_ITEM', name: 'gated', key: 'gated/author' })),
    'an approval lost': {
      log: LOG.filter((one) => one.reason !== 'approved'),
    },
    'an approval that counts twice': { log: LOG.flatMap((one) => (one.reason === 'approved' ? [one, one] : [one])) },
    'twice in a job': { log: LOG.flatMap((one) => (isOf(GATE, 'SUCCEEDED')(one) ? [one, one] : [one])) },
    'rejected by nobody': said('SUCCEEDED', { to: 'FAILED', by: 'cem' }),
    'by an address that has not answered so': {
      ...said('SUCCEEDED', { message: 'It has answered 200.', by: null }),
      mutations: KEPT.mutations.map((one) => (one.id === 'gated' ? { ...one, value: ASKING } : one)),
    },
    'expired early': said('SUCCEEDED', { to: 'FAILED', by: null }),
  },
}

const SECOND = KEPT.spans.map((span) => ({ ...span, objectId: 'item-a', jobId: 'tree-1' }))
const LATE_SPANS = [
  { ...(SECOND[0] as Evidence['spans'][number]), toMs: Number.POSITIVE_INFINITY },
  { ...(SECOND[2] as Evidence['spans'][number]), fromMs: 1_100.06, toMs: 1_150 },
]
const OF_TREE = { x: { objectId: 'nested' } }
const HEAD = 'ASK:x ASK:y GRANT:y RELEASE:y GRANT:x RELEASE:x'
/** Evidence that looks like a violation, and is none. */
export const EXCUSED: Readonly<Record<string, Plant>> = {
  'a turn of another key': flowing(...play(ONE, HEAD, { y: { key: 'b' } })),
  'a younger one, where both have room': flowing(...play(boundsOf({ max: 2 }), HEAD)),
  'a younger one, while its elder is kept by an override': {
    ...heardAndNoted(overridden('a', 0)),
    ...flowing(
      { ...OVERRIDE, limitId: 'deploys', bounds: NONE, at: at(270), until: at(330) },
      ...play(boundsOf({ max: 1, overridden: { a: NONE } }), 'ASK:x ASK:y GRANT:y RELEASE:y RELEASE:x', {
        x: { priority: 5 },
        y: { key: 'b' },
      }),
    ),
  },
  'a younger one, while the elder’s tree is paused': {
    flow: [
      ...FLOW,
      ...play(ONE, 'ASK:x', OF_TREE),
      { did: 'PAUSE', rootId: 'tree', at: at(281) },
      ...play(ONE, 'ASK:y GRANT:y RELEASE:y'),
      { did: 'RESUME', rootId: 'tree', at: at(284) },
      ...play(ONE, 'GRANT:x RELEASE:x', OF_TREE),
    ],
  },
  'a longer time of a rate': flowing(
    ...play(boundsOf({ rateCount: 1, rateMs: 1_000 }), 'ASK:x GRANT:x RELEASE:x'),
    ...play(boundsOf({ rateCount: 1, rateMs: 15_000 }), 'ASK:y GRANT:y RELEASE:y').map((one) => ({
      ...one,
      at: new Date(one.at.getTime() + 2_000),
    })),
  ),
  'a killed agent’s work ended with it': { ...excusedWork(), deaths: [{ pid: 1, atMs: 1_100 }] },
  'a span that began after the kill, before the process was dead': {
    ...excusedWork(1_100.03),
    faults: [fault('kill-agent', 'deployer-1', 1_100, 1_101)],
    deaths: [{ pid: 1, atMs: 1_100.05 }],
  },
  'an agent that stood still does nothing': {
    ...excusedWork(1_000, 1_190),
    faults: [fault('freeze-agent', 'deployer-1', 1_050, 1_180)],
  },
  'what was accepted between copy and failover is lost': {
    mutations: [
      ...KEPT.mutations,
      { ...mutation('createTask', { id: 'lost', kind: 'TASK', name: 'lost' }), askedMs: 80_100, answeredMs: 80_200 },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'what was answered late, from the lost database': {
    mutations: [
      ...KEPT.mutations,
      { ...mutation('createTask', { id: 'lost', kind: 'TASK', name: 'lost' }), askedMs: 80_100, answeredMs: 99_000 },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'a secret whose request had no answer': {
    mutations: [
      ...KEPT.mutations,
      mutation('setSecret', { kind: 'SECRET', name: 'VERSION', value: 'v3', answeredMs: null }),
    ],
    secrets: [{ name: 'VERSION', value: 'v3' }],
  },
  'a worker that was started again by a database that does not know of it': {
    starts: [
      { id: 'worker-a', atMs: 80_500, secret: 'v1' },
      { id: 'worker-a', atMs: 99_000, secret: 'v1' },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'what a lost database has begun': {
    installed: [...KEPT.installed, 'lost'],
    leftovers: ['lost-worker'],
    starts: [...KEPT.starts, { id: 'lost-worker', atMs: 80_500, secret: 'v2' }],
    spans: [
      ...KEPT.spans,
      { ...(SECOND[0] as Evidence['spans'][number]), objectId: 'lost', fromMs: 80_500, toMs: 80_600 },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'output that is stored twice': inTables({
    logLine: [...KEPT.tables.logLine, row('logLine', { objectId: 'worker-a', n: 12, text: 'end', seq: 900 })],
    logTail: KEPT.tables.logTail.map((one) =>
      one.objectId === 'worker-a' ? { ...one, nextN: 13, keptLines: 12, keptBytes: one.keptBytes + 3 } : one,
    ),
  }),
  'a delivery that was refused while its project was busy': added('hookDelivery', {
    ...{ hookId: 'hook', outcome: 'REFUSED', reason: 'BUSY: The project is busy.', deliveryId: 'delivery' },
  }),
  'a delivery whose answer was lost': {
    deliveries: [{ ...DELIVERY, answeredMs: null, status: null, eventId: null }],
  },
  'a delivery that was answered for now, and then again': {
    deliveries: [{ ...DELIVERY, status: 503, eventId: null }, DELIVERY, { ...DELIVERY, status: 200 }],
    ...added('hookDelivery', { hookId: 'hook', outcome: 'DUPLICATE', deliveryId: 'delivery', eventId: 'event-b' }),
  },
  'a message that comes again, after later ones': { messages: [...MESSAGES, ...MESSAGES.slice(0, 1)] },
  'a message that a receiver failed to take at first': {
    messages: [{ ...(MESSAGES[0] as Evidence['messages'][number]), isTaken: false }, ...MESSAGES],
  },
  'a message of a lost history, which had the same change in another order': {
    messages: [
      { ...(MESSAGES.at(-1) as Evidence['messages'][number]), id: 'other', atMs: 80_500 },
      ...MESSAGES.map((one) => ({ ...one, atMs: 81_000 })),
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'a message of a lost history': {
    messages: [
      ...MESSAGES,
      { ...(MESSAGES[0] as Evidence['messages'][number]), id: 'other', to: 'FAILED', atMs: 80_500 },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
  'readers of a lost tail are told': {
    readers: [
      {
        name: 'reader',
        parts: [[...LOG.slice(0, 8), ...LOG.slice(8, 10).map((one) => ({ ...one, objectId: 'lost' }))], LOG.slice(6)],
      },
    ],
    faults: [fault('failover', 'postgres', 80_000, 81_000)],
  },
}
/** One that is given to another agent while nobody has said that the first has ended. */
function excusedWork(fromMs = 1_000, toMs = Number.POSITIVE_INFINITY): Plant {
  const [first, second] = LATE_SPANS.map((span) => ({ ...span, objectId: 'other' }))
  return {
    spans: [
      ...KEPT.spans,
      { ...(first as Evidence['spans'][number]), span: '1-9', fromMs, toMs },
      { ...(second as Evidence['spans'][number]), span: '2-9' },
    ],
  }
}
