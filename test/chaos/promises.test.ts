import { expect, test } from 'vitest'
import type { Evidence, LoggedChange, PerformedFault } from './evidence.ts'
import { PROMISES, type PromiseName, violations } from './promises.ts'
import { FAULTS, type FaultKind, type Plan, planFaults } from './schedule.ts'

/** The checker is worth what it finds: each promise is broken on purpose, in evidence of a run in which all were kept. */

const CHANGES: readonly Omit<LoggedChange, 'sequence' | 'rejected'>[] = [
  change('tree', 'INSTALLATION', 'installation', null, 'PENDING', 'USER'),
  { ...change('nested', 'INSTALLATION', 'installation', null, 'PENDING', 'CONTROLLER'), rootId: 'tree' },
  change('job-a', 'GADGET_JOB', 'gadgetJob', null, 'PENDING', 'CONTROLLER'),
  change('job-b', 'GADGET_JOB', 'gadgetJob', null, 'PENDING', 'CONTROLLER'),
  ...(['job-a', 'job-b'] as const).flatMap((id) => [
    change(id, 'GADGET_JOB', 'gadgetJob', 'PENDING', 'DECLARING', 'CONTROLLER'),
    change(id, 'GADGET_JOB', 'gadgetJob', 'DECLARING', 'WAITING', 'GADGET_RUNNER'),
    change(id, 'GADGET_JOB', 'gadgetJob', 'WAITING', 'RUNNING', 'CONTROLLER'),
    change(id, 'GADGET_JOB', 'gadgetJob', 'RUNNING', 'DONE', 'GADGET_RUNNER'),
  ]),
  ...(['worker-a', 'worker-b'] as const).flatMap((id) => [
    change(id, 'WORKER', 'worker', null, 'PENDING', 'CONTROLLER'),
    change(id, 'WORKER', 'worker', 'PENDING', 'STARTING', 'CONTROLLER'),
    change(id, 'WORKER', 'worker', 'STARTING', 'RUNNING', 'RUNTIME'),
    change(id, 'WORKER', 'worker', 'RUNNING', 'SUCCEEDED', 'RUNTIME'),
  ]),
  change('tree', 'INSTALLATION', 'installation', 'PENDING', 'INIT', 'CONTROLLER'),
  change('tree', 'INSTALLATION', 'installation', 'INIT', 'FAILED', 'CONTROLLER'),
]
function change(
  objectId: string,
  kind: LoggedChange['kind'],
  machine: string,
  from: LoggedChange['from'],
  to: LoggedChange['to'],
  actor: LoggedChange['actor'],
) {
  return { objectId, rootId: objectId, kind, name: objectId, machine, from, to, actor }
}
const numbered = (changes: readonly Omit<LoggedChange, 'sequence' | 'rejected'>[]): readonly LoggedChange[] =>
  changes.map((one, i) => ({ ...one, sequence: i + 1, rejected: false }))

const LOG = numbered(CHANGES)
const KEPT: Evidence = {
  log: LOG,
  objects: [
    { id: 'tree', rootId: 'tree', kind: 'INSTALLATION', name: 'tree', phase: 'FAILED' },
    { id: 'nested', rootId: 'tree', kind: 'INSTALLATION', name: 'nested', phase: 'PENDING' },
    ...(['job-a', 'job-b'] as const).map((id) => ({
      id,
      rootId: id,
      kind: 'GADGET_JOB' as const,
      name: id,
      phase: 'DONE' as const,
    })),
    ...(['worker-a', 'worker-b'] as const).map((id) => ({
      id,
      rootId: id,
      kind: 'WORKER' as const,
      name: id,
      phase: 'SUCCEEDED' as const,
    })),
  ],
  declared: new Map([
    ['job-a', [{ resource: 'disk', exclusive: true }]],
    ['job-b', [{ resource: 'disk', exclusive: false }]],
  ]),
  locks: [],
  accepted: [{ id: 'tree', kind: 'INSTALLATION', name: 'tree', answeredMs: 10 }],
  readers: [{ name: 'reader', parts: [LOG] }],
  spans: [
    { objectId: 'item', jobId: 'one', process: 'deployer-1', action: 'RECONCILE', fromMs: 0, toMs: 10 },
    { objectId: 'item', jobId: 'one', process: 'deployer-2', action: 'RECONCILE', fromMs: 20, toMs: 30 },
  ],
  gadgets: [
    { did: 'RUN', job: 'job-a', atMs: 1 },
    { did: 'UNDO', job: 'job-a', atMs: 2 },
    { did: 'RUN', job: 'job-a', atMs: 3 },
    { did: 'END', job: 'job-a', atMs: 4 },
  ],
  starts: ['worker-a', 'worker-b'],
  maxWorkers: 1,
  installed: [],
  leftovers: [],
  edge: { recorded: ['c0 1'], found: ['c0 1'] },
  faults: [],
}
const fault = (kind: FaultKind, target: string, fromMs: number, toMs: number): PerformedFault => ({
  kind,
  target,
  fromMs,
  toMs,
})
/** The log with some of its changes in another order, numbered anew. */
const reordered = (order: (changes: typeof CHANGES) => typeof CHANGES): Pick<Evidence, 'log' | 'readers'> => {
  const log = numbered(order(CHANGES))
  return { log, readers: [{ name: 'reader', parts: [log] }] }
}
const later = (changes: typeof CHANGES, objectId: string, to: string): typeof CHANGES => [
  ...changes.filter((one) => !(one.objectId === objectId && one.to === to)),
  ...changes.filter((one) => one.objectId === objectId && one.to === to),
]
const isOf = (objectId: string, to: string) => (one: { objectId: string; to: string }) =>
  one.objectId === objectId && one.to === to

test('a run in which all promises were kept has no violation', () => {
  expect(violations(KEPT)).toEqual({})
})

const PLANTED: Readonly<Record<PromiseName, readonly Partial<Evidence>[]>> = {
  'the log is dense': [
    { log: LOG.map((one, i) => (i > 4 ? { ...one, sequence: one.sequence + 1 } : one)) },
    { log: LOG.map((one, i) => (i === 4 ? { ...one, sequence: 4 } : one)) },
  ],
  'every change is in its machine': [
    // From a phase that it is not in; by an actor that may not; along no row; a creation in the middle of a life.
    { log: LOG.filter((one) => !isOf('job-a', 'WAITING')(one)) },
    { log: LOG.map((one) => (isOf('job-a', 'DONE')(one) ? { ...one, actor: 'USER' } : one)) },
    { log: LOG.map((one) => (isOf('worker-a', 'SUCCEEDED')(one) ? { ...one, to: 'PENDING' } : one)) },
    { log: LOG.map((one) => (one.from === null && one.objectId === 'tree' ? { ...one, to: 'INIT' } : one)) },
  ],
  'what was accepted is kept': [{ accepted: [{ id: 'lost', kind: 'TASK', name: 'lost', answeredMs: 10 }] }],
  'a creation that is repeated is one': [
    { log: [...LOG, { ...(LOG[0] as LoggedChange), objectId: 'twin', rootId: 'twin', sequence: LOG.length + 1 }] },
  ],
  'readers miss and repeat nothing': [
    { readers: [{ name: 'reader', parts: [LOG.filter(({ sequence }) => sequence !== 7)] }] },
    { readers: [{ name: 'reader', parts: [LOG.flatMap((one) => (one.sequence === 7 ? [one, one] : [one]))] }] },
    { readers: [{ name: 'reader', parts: [LOG.slice(1)] }] },
    { readers: [{ name: 'reader', parts: [LOG.slice(0, -1)] }] },
    { readers: [{ name: 'reader', parts: [LOG.map((one) => (one.sequence === 7 ? { ...one, to: 'GONE' } : one))] }] },
    // Told that its place is gone, and nothing had failed over.
    { readers: [{ name: 'reader', parts: [LOG.slice(0, 5), LOG.slice(5)] }] },
    // Gone on behind what it had, after a failover that lost something.
    {
      readers: [{ name: 'reader', parts: [LOG.slice(0, 5), LOG.slice(7)] }],
      faults: [fault('failover', 'postgres', 0, 1)],
    },
  ],
  'everything comes to its end': [
    { objects: KEPT.objects.map((one) => (one.id === 'job-a' ? { ...one, phase: 'RUNNING' } : one)) },
    { objects: KEPT.objects.map((one) => (one.id === 'tree' ? { ...one, phase: 'PENDING' } : one)) },
  ],
  'tables and log agree': [
    { objects: KEPT.objects.map((one) => (one.id === 'tree' ? { ...one, phase: 'SUCCEEDED' } : one)) },
    { objects: KEPT.objects.filter(({ id }) => id !== 'tree') },
    {
      objects: [
        ...KEPT.objects,
        { id: 'unheard', rootId: 'unheard', kind: 'TASK', name: 'unheard', phase: 'SUCCEEDED' },
      ],
    },
  ],
  'no two agents do the same work': [
    { spans: KEPT.spans.map((span) => ({ ...span, toMs: 25 })) },
    // It was killed only later, or stood still only later.
    { spans: KEPT.spans.map((span) => ({ ...span, toMs: 40 })), faults: [fault('kill-agent', 'deployer-1', 25, 26)] },
    { spans: KEPT.spans.map((span) => ({ ...span, toMs: 90 })), faults: [fault('freeze-agent', 'deployer-1', 25, 60)] },
    // It went on long after it stood still.
    {
      spans: KEPT.spans.map((span) => ({ ...span, toMs: 9_000 })),
      faults: [fault('freeze-agent', 'deployer-1', 5, 60)],
    },
  ],
  'no two jobs in conflict run together': [
    reordered((changes) => later(later(changes, 'job-a', 'DONE'), 'job-b', 'DONE')),
    { locks: [{ objectId: 'job-a', resource: 'host:disk' }] },
    { gadgets: [...KEPT.gadgets, { did: 'CONFLICT', job: 'job-a', atMs: 5 }] },
  ],
  'an undo comes before another run': [{ gadgets: KEPT.gadgets.filter(({ did }) => did !== 'UNDO') }],
  'a workload is started once': [{ starts: ['worker-a', 'worker-b', 'worker-a'] }],
  'capacity is kept': [reordered((changes) => later(changes, 'worker-a', 'SUCCEEDED'))],
  'nothing is left behind': [{ installed: ['gone'] }, { leftovers: ['workloads/worker-a'] }],
  'sites and records agree': [
    { edge: { recorded: ['c0 1'], found: ['c0 2'] } },
    { edge: { recorded: [], found: ['c0 1'] } },
    { edge: { recorded: ['c0 1'], found: [] } },
  ],
}
const planted = Object.entries(PLANTED).flatMap(([name, plants]) =>
  plants.map((plant, i) => ({ name: name as PromiseName, plant, what: `${name}, broken in way ${i + 1}` })),
)
test.each(planted)('$what, is found', ({ name, plant }) => {
  expect(Object.keys(violations({ ...KEPT, ...plant }))).toContain(name)
})
test('each promise is broken in some way', () => {
  expect(Object.keys(PLANTED).toSorted()).toEqual(Object.keys(PROMISES).toSorted())
})

const EXCUSED: Readonly<Record<string, Partial<Evidence>>> = {
  'a killed agent’s work ended with it': {
    spans: KEPT.spans.map((span) => ({ ...span, toMs: span.process === 'deployer-1' ? Number.POSITIVE_INFINITY : 30 })),
    faults: [fault('kill-agent', 'deployer-1', 5, 6)],
  },
  'an agent that stood still does nothing': {
    spans: KEPT.spans.map((span) => ({ ...span, toMs: span.process === 'deployer-1' ? 61 : 30 })),
    faults: [fault('freeze-agent', 'deployer-1', 5, 60)],
  },
  'what was accepted between copy and failover is lost': {
    accepted: [...KEPT.accepted, { id: 'lost', kind: 'TASK', name: 'lost', answeredMs: 50 }],
    faults: [fault('failover', 'postgres', 40, 60)],
  },
  'readers of a lost tail are told': {
    readers: [
      {
        name: 'reader',
        parts: [[...LOG.slice(0, 8), ...LOG.slice(8, 10).map((one) => ({ ...one, objectId: 'lost' }))], LOG.slice(6)],
      },
    ],
    faults: [fault('failover', 'postgres', 40, 60)],
  },
}
test.each(Object.entries(EXCUSED))('%s: no violation', (_, excused) => {
  expect(violations({ ...KEPT, ...excused })).toEqual({})
})

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
