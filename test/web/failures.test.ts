import { expect, test } from 'vitest'
import { grouped, Machines, undoneFailures } from '../../src/client-model/index.ts'
import { lastFailures, movingTrees, partitionFailures } from '../../web-playground/src/model/failures.ts'
import { change } from './samples.ts'

/** This actor leaves every phase that is not final. */
const machine = (name: string, phases: readonly string[], final: readonly string[], actor = 'CONTROLLER') => ({
  name,
  kinds: [name.toUpperCase()],
  initial: phases[0] ?? '',
  final,
  phases,
  classes: phases.map((phase) => ({ phase, class: phase.endsWith('ERROR') ? ('FAILED' as const) : ('DONE' as const) })),
  transitions: phases.filter((from) => !final.includes(from)).map((from) => ({ from, actor, to: 'READY', reason: '' })),
})
const machines = new Machines([
  machine('app', ['CREATING', 'CREATE_ERROR', 'UPDATE_ERROR', 'READY'], ['READY']),
  machine('upgrade', ['READY', 'UPDATE_ERROR'], ['READY', 'UPDATE_ERROR']),
  // Only a person ends it, and nothing undoes it.
  machine('job', ['UNDO_ERROR', 'READY'], ['READY'], 'USER'),
])

test('things that say the same are one group, in the order of the first', () => {
  expect(grouped(['b1', 'a1', 'b2'], ([first = '']) => first)).toEqual([
    { first: 'b1', more: 1 },
    { first: 'a1', more: 0 },
  ])
})

test('a failure that was undone is told by the log, until somebody has seen it', () => {
  expect(undoneFailures(machines.all, null)).toEqual({ kinds: ['APP'], to: ['CREATE_ERROR', 'UPDATE_ERROR'] })
  const at = (sequence: number) => ({ sequence, at: new Date(Date.UTC(2026, 0, 1, 0, 0, sequence)).toISOString() })
  const failures = [
    change('a', 'CREATE_ERROR' as never, { machine: 'app', ...at(11) }),
    change('b', 'UPDATE_ERROR' as never, { machine: 'app', ...at(12) }),
    change('b', 'UPDATE_ERROR' as never, { machine: 'app', ...at(13) }),
    // Stays so: the object itself shows it.
    change('c', 'UPDATE_ERROR' as never, { machine: 'upgrade', ...at(14) }),
  ]
  const told = (seen: number) =>
    lastFailures(failures, machines, Date.parse(at(seen).at)).map(({ sequence }) => sequence)
  expect([told(0), told(11), told(13)]).toEqual([[13, 11], [13], []])
})

test('a failure is new until it is seen, and again when it fails again; a decision is not listed as a failure, too', () => {
  const failure = (id: string, second: number) => ({ id, phaseSince: new Date(second * 1_000).toISOString() })
  const [old, late, job] = [failure('old', 1), failure('late', 3), failure('job', 3)]
  expect(partitionFailures([old, late, job], [{ id: 'job' }], 2_000)).toEqual({ fresh: [late], known: [old] })
  expect(partitionFailures([{ ...old, phaseSince: late.phaseSince }], [], 2_000).fresh).toHaveLength(1)
  expect(partitionFailures([], [], 0)).toEqual({ fresh: [], known: [] })
})

test('a tree moves unless each of its lowest unfinished objects waits, and all of them are known', () => {
  const object = (id: string, parent: string | null, root: string, ...blockedBy: { connected?: boolean }[]) => ({
    ...{ id, parent: parent === null ? null : { id: parent }, root: { id: root }, blockedBy },
  })
  const unfinished = [
    object('stuck', null, 'stuck'),
    object('s1', 'stuck', 'stuck', { connected: false }),
    object('s2', 'stuck', 'stuck', {}),
    object('mixed', null, 'mixed'),
    object('m1', 'mixed', 'mixed', { connected: false }),
    object('m2', 'mixed', 'mixed'),
    object('soon', null, 'soon'),
    object('o1', 'soon', 'soon', { connected: true }),
  ]
  const root = (id: string, all: number) => ({ id, treeCounts: { all, finished: 1 } })
  const moving = (...roots: ReturnType<typeof root>[]) => movingTrees(roots, unfinished).map(({ id }) => id)
  expect(moving(root('stuck', 4), root('mixed', 4), root('soon', 3))).toEqual(['mixed', 'soon'])
  // There are more of their objects than were read.
  expect(moving(root('stuck', 5), root('unread', 2))).toEqual(['stuck', 'unread'])
})
