import { expect, test } from 'vitest'
import * as tables from '../../src/store/tables.ts'
import { type Evidence, UNWATCHED, WATCHED } from './evidence.ts'
import { at, KEPT } from './kept-world.ts'
import { EXCUSED, PLANTS } from './plants.ts'
import { PROMISES, type PromiseName, violations } from './promises/index.ts'
import { FAULTS, type Plan, planFaults } from './schedule.ts'

/** The checker is worth what it finds: each promise is broken on purpose, in evidence of a run in which all were kept. */

test('a run in which all promises were kept has no violation', () => {
  expect(violations(KEPT)).toEqual({})
})

const planted = Object.entries(PLANTS).flatMap(([name, plants]) =>
  Object.entries(plants).map(([what, plant]) => ({ name: name as PromiseName, what, plant })),
)
test.each(planted)('$name: $what is found', ({ name, plant }) => {
  expect(Object.keys(violations({ ...KEPT, ...plant }))).toContain(name)
})
test('each promise is broken in some way', () => {
  expect(Object.keys(PLANTS).toSorted()).toEqual(Object.keys(PROMISES).toSorted())
})
test.each(Object.entries(EXCUSED))('%s: no violation', (_, excused) => {
  expect(violations({ ...KEPT, ...excused })).toEqual({})
})

test('each table of the store is watched, or there is a reason', () => {
  const all = Object.entries(tables).flatMap(([name, value]) => ('sql' in value ? [] : [name]))
  expect([...WATCHED, ...Object.keys(UNWATCHED)].toSorted()).toEqual(all.toSorted())
})
/** Nobody needs the clock of a tree that has ended: the next job sets it. */
const NEEDLESS = new Set<object>(KEPT.tables.rootQueue.filter(({ rootId }) => rootId === 'tree'))
test.each(WATCHED.filter((table) => KEPT.tables[table].length > 0))(
  'each row of %s that is lost is missed',
  (table) => {
    const rows: readonly object[] = KEPT.tables[table]
    const needed = rows.filter((one) => !NEEDLESS.has(one))
    const unseen = needed.filter(
      (lost) =>
        Object.keys(violations({ ...KEPT, tables: { ...KEPT.tables, [table]: rows.filter((one) => one !== lost) } }))
          .length === 0,
    )
    expect(unseen).toEqual([])
  },
)

/** Columns that no promise is about: they say what somebody asked for, or help to find something. */
const UNJUDGED: Readonly<Partial<Record<(typeof WATCHED)[number], readonly string[]>>> = {
  object: ['ordinal', 'waitingFor', 'updatedAt'],
  objectSpec: ['labels'],
  tally: ['cursor'],
  installation: [
    ...[
      'description',
      'ignored',
      'mode',
      'forceDeletion',
      'withoutUninstall',
      'cancelRequestedAt',
      'cancelBy',
      'nextOrigin',
      'automaticReconcile',
      'editorId',
    ],
  ],
  run: ['mode', 'cause', 'by'],
  specGeneration: ['replacedAt', 'replacedBy'],
  // The log says who has opened a gate, and tickets say who has held a limit.
  deployItem: ['target', 'gate', 'limits'],
  flowLimit: ['projectId', 'description', 'generation', 'createdAt', 'updatedAt'],
  event: ['type', 'qualifiers', 'subscribed', 'retryOf', 'cloneOf', 'hops'],
  // Opened, they are part of the evidence.
  eventSecret: ['name', 'sealed'],
  workload: [
    ...['pool', 'seq', 'runtime', 'usesWorkspace', 'timeoutMs', 'inheritedFrom', 'signal', 'targetLabels', 'placeId'],
    'startedAt',
    ...['retry', 'workerAttempt', 'limits', 'gate'],
    'commit',
  ],
  capacity: ['one', 'maxJobs'],
  task: ['cancelBy', 'retryOf'],
  schedule: ['editor', 'overdueAt', 'pausedBecause'],
  firing: ['id'],
  hook: [
    ...['name', 'projectId', 'format', 'description', 'disabled', 'spec', 'editor', 'generation', 'createdAt'],
    ...['updatedAt', 'checkedAt', 'checkProblem'],
  ],
  hookDelivery: [
    ...['id', 'at', 'reason', 'onceKey', 'headers', 'body', 'bodyBytes', 'secretName', 'hops', 'replayOf'],
  ],
  notificationRule: [
    ...['projectId', 'description', 'isEnabled', 'editor', 'generation', 'behindMark', 'createdAt', 'updatedAt'],
  ],
  notification: ['seq', 'subjectId', 'isLate', 'notBefore', 'problem', 'createdAt', 'firstSentAt'],
  gadgetJob: ['gadget', 'env', 'undoAfter', 'keptError', 'gate'],
  cloudlet: [
    'version',
    'wantedVersion',
    'sessions',
    'replaced',
    'upgradeSince',
    'upgradeDue',
    'connectDue',
    'resyncedAt',
  ],
  edgeInst: ['drifted'],
  crmLease: ['fenceHash', 'leaseUntil', 'stream', 'principalId'],
  work: [
    ...[
      'target',
      'action',
      'seq',
      'config',
      'handedConfig',
      'handed',
      'fenceHash',
      'instance',
      'offerAfter',
      'triggeredAt',
    ],
    ...['pickedUpAt', 'abortRequestedAt', 'abortCode', 'progressingMs', 'abortingMs', 'principalId', 'targetLabels'],
    ...['traceparent'],
  ],
  dataObject: ['updatedAt'],
  logMeta: ['one', 'logId', 'epochBase', 'server', 'instance', 'floorMark', 'announceKey'],
  logLine: ['at', 'stream'],
  idempotencyKey: ['inputHash', 'createdAt', 'principalId'],
  principal: ['name', 'actor', 'types', 'targets', 'createdAt', 'issuer', 'subject', 'generation'],
  principalGrant: ['ordinal', 'projectId'],
  token: ['hash', 'name', 'createdAt', 'expiresAt', 'derivedFrom', 'lastUsedAt'],
}
/** Other values of a column. */
function others(value: unknown): readonly unknown[] {
  if (value === null) return [at(0), 'other', 7, true]
  if (value instanceof Date) return [at(9_000), at(-9_000), null]
  if (typeof value === 'number') return [value + 1, value - 1, value + 100, null]
  if (typeof value === 'boolean') return [!value]
  return [typeof value === 'string' ? 'other' : {}, [{}], null]
}
test.each(WATCHED.filter((table) => KEPT.tables[table].length > 0))(
  'another value in any column of %s is found, or no promise is about it',
  (table) => {
    const rows: readonly object[] = KEPT.tables[table]
    const isFound = (column: string): boolean =>
      rows.some((one) =>
        others((one as Readonly<Record<string, unknown>>)[column]).some((value) => {
          const changed = rows.map((other) => (other === one ? { ...one, [column]: value } : other))
          return isBroken({ ...KEPT, tables: { ...KEPT.tables, [table]: changed } })
        }),
      )
    const unseen = Object.keys(rows[0] ?? {}).filter((column) => !isFound(column))
    expect(unseen.toSorted()).toEqual((UNJUDGED[table] ?? []).toSorted())
  },
)
/** A value that a check cannot even read is none that it would pass. */
function isBroken(evidence: Evidence): boolean {
  try {
    return Object.keys(violations(evidence)).length > 0
  } catch {
    return true
  }
}

const TARGETS = Object.fromEntries(Object.keys(FAULTS).map((kind) => [kind, 2])) as Plan['targets']
const PLAN: Plan = { seed: 1, totalMs: 600_000, everyMs: 3_000, longestMs: 15_000, targets: TARGETS }
test('a seed has its faults, of every kind, and one failover near the end', () => {
  const plan = planFaults(PLAN)
  expect(plan).toEqual(planFaults(PLAN))
  expect(plan).not.toEqual(planFaults({ ...PLAN, seed: 2 }))
  expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(Object.keys(FAULTS)))
  expect(plan.filter(({ kind }) => kind === 'failover')).toHaveLength(1)
  expect(plan.every(({ atMs, forMs }) => atMs >= 0 && atMs < PLAN.totalMs && forMs <= PLAN.longestMs)).toBe(true)
})
test('a kind that cannot be had is not in the plan', () => {
  const plan = planFaults({ ...PLAN, targets: { ...TARGETS, 'fill-disk': 0, failover: 0 } })
  expect(plan.some(({ kind }) => kind === 'fill-disk' || kind === 'failover')).toBe(false)
})
