import { expect, test } from 'vitest'
import { grouped, Machines, undoneFailures } from '../../src/client-model/index.ts'
import { lastFailures, restingRoots } from '../../web-playground/src/model/failures.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { useShopPlace } from './place.ts'
import { change } from './samples.ts'
import { visit } from './visit.ts'

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
  const failures = [
    change('a', 'CREATE_ERROR' as never, { machine: 'app', sequence: 11 }),
    change('b', 'UPDATE_ERROR' as never, { machine: 'app', sequence: 12 }),
    change('b', 'UPDATE_ERROR' as never, { machine: 'app', sequence: 13 }),
    // Stays so: the object itself shows it.
    change('c', 'UPDATE_ERROR' as never, { machine: 'upgrade', sequence: 14 }),
  ]
  const told = (seen: number) => lastFailures(failures, machines, seen).map(({ sequence }) => sequence)
  expect([told(0), told(11), told(13)]).toEqual([[13, 11], [13], []])
})

test('a tree rests if each of its lowest unfinished objects waits', () => {
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
  expect([...restingRoots(unfinished)]).toEqual(['stuck'])
})

const here = useShopPlace()

test('the overview tells each cause once, and nothing that is stuck among what runs', async () => {
  const { client } = here.server
  const failing = { name: 'x', type: 'mock', config: { fail: true } }
  const three = await create(client, 'three', {
    installations: ['a', 'b'].map((name) => ({ name, spec: { deployItems: [failing] } })),
    deployItems: [failing],
  })
  await until(async () => (await show(client, three))?.finished, { what: 'three has failed' })
  await create(client, 'unserved', {
    deployItems: [
      { name: 'u1', type: 'nobody' },
      { name: 'u2', type: 'nobody' },
    ],
  })
  await create(client, 'moving', items(1, { hang: true }))
  await using visited = await visit(here.browser, here.server, '/')
  const { page, complaints } = visited
  const section = (name: string) => page.getByRole('region', { name })
  // Eight objects have failed: three by themselves, all for the same reason.
  await section('Failed').getByRole('heading', { name: 'Failed 3' }).waitFor()
  await section('Failed').getByText('and 2 objects more with this error').waitFor()
  expect(await section('Failed').locator('[data-failure]').count()).toBe(1)
  await section('Stuck').getByText('and 1 object more').waitFor()
  await section('Running').getByRole('link', { name: 'moving' }).waitFor()
  expect(await section('Running').getByRole('link', { name: 'unserved' }).count()).toBe(0)
  expect(complaints).toEqual([])
})
