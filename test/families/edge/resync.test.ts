import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { instance } from '../../../src/families/edge/machines.ts'
import type { ReportedObject } from '../../../src/families/edge/rules/spec.ts'
import { requestFence } from '../../../src/families/edge/store/fences.ts'
import {
  addInstance,
  connectCrm,
  findById,
  phaseOf,
  readyCloudlet,
  readyInstance,
  requestFor,
  requestsFor,
  seeById,
  sendReport,
  transitionsOf,
} from '../../testkit/edge.ts'
import { isAllowed, pairsOf } from '../../testkit/pairs.ts'
import { accepted } from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** The state of a reconnecting CRM, compared with the record. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

type Prepared = { readonly cloudlet: string; readonly name: string; readonly id: string }

/** An instance in a phase, reached by regular transitions. */
async function inPhase(phase: Phase): Promise<Prepared> {
  const { id: cloudlet, name } = await readyCloudlet(world)
  const at = (id: string): Prepared => ({ cloudlet, name, id })
  const report = async (id: string, to: Phase) => {
    expect(await sendReport(world, { fence: (await requestFor(world, cloudlet, id)).fence, phase: to })).toBe(true)
  }
  if (phase === 'CREATE_REQUESTED' || phase === 'CREATING' || phase === 'CREATE_ERROR') {
    const id = await addInstance(world, 'CLUSTER_INST', cloudlet)
    if (phase === 'CREATING') await report(id, phase)
    if (phase === 'CREATE_ERROR') await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id }))
    await world.settle()
    return at(id)
  }
  const id = await readyInstance(world, cloudlet)
  if (phase === 'READY') return at(id)
  if (phase.startsWith('UPDAT')) {
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id, spec: { size: 2 } }))
    if (phase === 'UPDATING') await report(id, phase)
    if (phase === 'UPDATE_ERROR') await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id }))
    await world.settle()
    return at(id)
  }
  if (phase === 'DELETE_PREPARE') await readyInstance(world, cloudlet, 'APP_INST', id)
  await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id, cascade: true }))
  await world.settle()
  if (phase === 'DELETING') await report(id, phase)
  if (phase === 'DELETE_ERROR') await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id }))
  await world.settle()
  return at(id)
}

const objectOf = async (
  { id, name }: Prepared,
  phase: Phase,
  specRevision: number | null,
): Promise<ReportedObject> => ({
  kind: 'CLUSTER_INST',
  path: [name, (await seeById(world, id)).name],
  phase,
  specRevision,
})
/** A new process connects and reports this state of the instance; null: it does not list the instance. */
async function reconnect(prepared: Prepared, phase: Phase | null, specRevision: number | null = 1) {
  const own = phase === null ? [] : [await objectOf(prepared, phase, specRevision)]
  // Its children exist, so that they cause no transition.
  const { rows: apps } = await world.pool.query<{ name: string }>('select name from object where parent_id = $1', [
    prepared.id,
  ])
  const objects = [
    ...own,
    ...apps.map(({ name }) => ({
      kind: 'APP_INST' as const,
      path: [...(own[0]?.path ?? []), name],
      phase: 'READY' as const,
      specRevision: 1,
    })),
  ]
  return await connectCrm(world, prepared.cloudlet, { objects })
}

const AGAIN = 'again'
/** Recorded phase, reported phase and revision, outcome, and records of the log. */
const TABLE: readonly (readonly [
  Phase,
  Phase | null,
  number,
  Phase | 'gone' | 'drifted' | typeof AGAIN,
  readonly string[],
])[] = [
  ['CREATE_REQUESTED', null, 0, AGAIN, []],
  ['CREATE_REQUESTED', 'READY', 1, 'READY', ['CRM READY resync']],
  ['CREATE_REQUESTED', 'READY', 7, 'drifted', ['CRM READY resync']],
  ['CREATE_REQUESTED', 'CREATING', 1, 'CREATING', ['CRM CREATING resync']],
  [
    'CREATE_REQUESTED',
    'CREATE_ERROR',
    1,
    'gone',
    ['CRM CREATE_ERROR resync', 'CONTROLLER NOT_PRESENT', 'CONTROLLER GONE'],
  ],
  ['CREATING', 'READY', 1, 'READY', ['CRM READY resync']],
  ['CREATING', 'READY', 7, 'drifted', ['CRM READY resync']],
  ['CREATING', null, 0, 'gone', ['CRM CREATE_ERROR resync', 'CONTROLLER NOT_PRESENT', 'CONTROLLER GONE']],
  ['CREATING', 'CREATING', 1, 'CREATING', []],
  ['UPDATE_REQUESTED', 'READY', 1, AGAIN, []],
  ['UPDATE_REQUESTED', 'UPDATING', 2, 'UPDATING', ['CRM UPDATING resync']],
  ['UPDATING', 'READY', 1, 'READY', ['CRM UPDATE_ERROR resync', 'CONTROLLER READY']],
  ['UPDATING', 'READY', 7, 'drifted', ['CRM UPDATE_ERROR resync', 'CONTROLLER READY']],
  ['UPDATE_REQUESTED', 'READY', 7, AGAIN, []],
  ['UPDATE_REQUESTED', 'READY', 2, 'READY', ['CRM READY resync']],
  ['UPDATING', 'READY', 2, 'READY', ['CRM READY resync']],
  ['UPDATE_REQUESTED', null, 0, 'drifted', ['CRM UPDATE_ERROR resync', 'CONTROLLER READY']],
  ['UPDATING', null, 0, 'drifted', ['CRM UPDATE_ERROR resync', 'CONTROLLER READY']],
  ['UPDATING', 'UPDATE_ERROR', 1, 'READY', ['CRM UPDATE_ERROR resync', 'CONTROLLER READY']],
  ['DELETE_PREPARE', 'READY', 1, 'DELETE_PREPARE', []],
  ['DELETE_PREPARE', 'DELETING', 1, 'DELETE_PREPARE', []],
  ['DELETE_REQUESTED', 'READY', 1, AGAIN, []],
  ['DELETE_REQUESTED', 'DELETING', 1, 'DELETING', ['CRM DELETING resync']],
  ['DELETE_REQUESTED', null, 0, 'gone', ['CRM NOT_PRESENT resync', 'CONTROLLER GONE']],
  ['DELETING', null, 0, 'gone', ['CRM NOT_PRESENT resync', 'CONTROLLER GONE']],
  ['DELETING', 'READY', 1, 'READY', ['CRM DELETE_ERROR resync', 'CONTROLLER READY']],
  ['DELETING', 'READY', 7, 'drifted', ['CRM DELETE_ERROR resync', 'CONTROLLER READY']],
  ['READY', null, 0, 'drifted', []],
  ['READY', 'READY', 1, 'READY', []],
  ['READY', 'READY', 7, 'drifted', []],
  // Its report of the failure was accepted, but the acknowledgement was lost.
  ['READY', 'UPDATE_ERROR', 1, 'READY', []],
  ['READY', 'CREATE_ERROR', 0, 'drifted', []],
  ['READY', 'DELETING', 1, 'drifted', []],
  // A withdrawn operation that is being undone.
  ['CREATE_ERROR', null, 0, 'gone', ['CONTROLLER NOT_PRESENT', 'CONTROLLER GONE']],
  ['CREATE_ERROR', 'READY', 1, AGAIN, []],
  ['UPDATE_ERROR', 'READY', 1, 'READY', ['CONTROLLER READY']],
  ['UPDATE_ERROR', 'READY', 2, AGAIN, []],
  ['UPDATE_ERROR', null, 0, 'drifted', ['CONTROLLER READY']],
  ['DELETE_ERROR', 'READY', 1, 'READY', ['CONTROLLER READY']],
  ['DELETE_ERROR', 'READY', 7, AGAIN, []],
  ['DELETE_ERROR', null, 0, AGAIN, []],
]

describe('a CRM that reconnects after a crash', () => {
  test.each(TABLE)('%s, and the CRM has it %s (revision %i): %s', async (recorded, found, revision, outcome, log) => {
    const prepared = await inPhase(recorded)
    const { id, cloudlet } = prepared
    expect(await phaseOf(world, id)).toBe(recorded)
    const before = (await transitionsOf(world, id)).length
    const { requests } = await reconnect(prepared, found, revision)
    const isRequested = requests.some(({ objectId }) => objectId === id)
    expect((await transitionsOf(world, id)).slice(before)).toEqual(log)
    const seen = await findById(world, id)
    if (outcome === AGAIN) {
      expect([seen?.phase, isRequested]).toEqual([recorded, true])
      // It can be done under the new epoch.
      const request = await requestFor(world, cloudlet, id)
      const end: Phase = request.action === 'DELETE' ? 'NOT_PRESENT' : 'READY'
      expect(await sendReport(world, { fence: request.fence, phase: end })).toBe(true)
    } else if (outcome === 'drifted') expect(seen).toMatchObject({ phase: 'READY', drifted: true })
    else {
      expect(seen?.phase ?? 'gone').toBe(outcome)
      if (outcome === 'READY') expect(seen?.drifted).toBe(false)
    }
  })

  test('absent, and the CRM has it: an orphan is reported, and nothing is deleted', async () => {
    const { id: cloudlet, name } = await readyCloudlet(world)
    const stray: ReportedObject = { kind: 'CLUSTER_INST', path: [name, 'stray'], phase: 'READY', specRevision: 3 }
    await connectCrm(world, cloudlet, { objects: [stray] })
    expect((await seeById(world, cloudlet)).orphans).toEqual([stray])
    expect(await requestsFor(world, cloudlet)).toEqual([])
    await connectCrm(world, cloudlet, { objects: [] })
    expect((await seeById(world, cloudlet)).orphans).toEqual([])
  })

  test('a drifted instance is deleted or updated for a user, and is in order again when the CRM has it as recorded', async () => {
    const prepared = await inPhase('READY')
    const { id, cloudlet } = prepared
    await reconnect(prepared, null)
    // The same spec again is a wish all the same.
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id, spec: { size: 1 } }))
    await sendReport(world, { fence: (await requestFor(world, cloudlet, id)).fence, phase: 'READY' })
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', drifted: false, specRevision: 2 })
    await reconnect(prepared, 'READY', 2)
    expect((await seeById(world, id)).drifted).toBe(false)
  })

  // Found by the model check: what was seen when the CRM connected was forgotten when the operation failed later.
  test.each([
    ['UPDATE_REQUESTED', 'UPDATE_ERROR'],
    ['DELETE_REQUESTED', 'DELETE_ERROR'],
  ] as const)('%s of what has drifted: it is READY and known to have drifted after %s', async (recorded, failed) => {
    const prepared = await inPhase(recorded)
    const { id, cloudlet } = prepared
    await reconnect(prepared, 'READY', 7)
    expect(await sendReport(world, { fence: (await requestFor(world, cloudlet, id)).fence, phase: failed })).toBe(true)
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', drifted: true })
  })

  test('DELETE_PREPARE of what has drifted: it is known to when its cascade fails', async () => {
    const prepared = await inPhase('DELETE_PREPARE')
    const { id, cloudlet } = prepared
    const { requests } = await reconnect(prepared, 'READY', 7)
    expect(requests.map(({ action }) => action)).toEqual(['DELETE'])
    await sendReport(world, { fence: requests[0]?.fence ?? '', phase: 'DELETE_ERROR' })
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', drifted: true })
    expect(await requestsFor(world, cloudlet)).toEqual([])
  })

  test('what has drifted is sound again when its CRM has made it anew to undo something', async () => {
    const prepared = await inPhase('READY')
    const { id, cloudlet } = prepared
    await reconnect(prepared, 'READY', 7)
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id, spec: { size: 2 } }))
    await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id }))
    await world.settle()
    await sendReport(world, { fence: (await requestFor(world, cloudlet, id)).fence, phase: 'READY' })
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', drifted: false, specRevision: 1 })
  })

  test('gets the requests that another process had begun, under a fence of its own', async () => {
    const prepared = await inPhase('CREATING')
    const { requests } = await reconnect(prepared, 'CREATING')
    expect(requests.map(({ objectId, action }) => [objectId, action])).toEqual([[prepared.id, 'CREATE']])
    expect(await sendReport(world, { fence: requests[0]?.fence ?? '', phase: 'READY' })).toBe(true)
  })

  test('app instances are taken in with their cluster instance', async () => {
    const { id: cloudlet, name } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    const app = await readyInstance(world, cloudlet, 'APP_INST', cluster)
    await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: true }))
    await world.settle()
    const path = [name, (await seeById(world, cluster)).name]
    await connectCrm(world, cloudlet, { objects: [{ kind: 'CLUSTER_INST', path, phase: 'READY', specRevision: 1 }] })
    expect([await phaseOf(world, app), await phaseOf(world, cluster)]).toEqual(['gone', 'DELETE_REQUESTED'])
  })
})

test('every pair of phases is accepted or refused for the CRM as in the table', async () => {
  const reachable: readonly Phase[] = [
    ...(['CREATE_REQUESTED', 'CREATING', 'READY', 'UPDATE_REQUESTED', 'UPDATING'] as const),
    ...(['DELETE_REQUESTED', 'DELETING'] as const),
  ]
  for (const { from, to } of pairsOf(instance)) {
    if (!reachable.includes(from)) continue
    const { id, cloudlet } = await inPhase(from)
    const { rows } = await world.pool.query<{ fence: Buffer }>(
      'select fence_hash as fence from work where object_id = $1',
      [id],
    )
    expect(rows[0]?.fence).not.toBeNull()
    const fence = await fenceOf(cloudlet, id)
    const repeated = from === to && instance.transitions.some((row) => row.actor === 'CRM' && row.to === to)
    const expected = repeated ? false : isAllowed(instance, from, 'CRM', to) ? true : 'TransitionError'
    expect([from, to, await sendReport(world, { fence, phase: to })]).toEqual([from, to, expected])
    if (expected === 'TransitionError') expect(await phaseOf(world, id)).toBe(from)
  }
})

/** The last fence of its work, done or not. */
async function fenceOf(cloudlet: string, objectId: string): Promise<string> {
  const { rows } = await world.pool.query(
    `select c.sessions, w.attempt, w.job_id as "operationId" from work w join cloudlet c on c.object_id = $1 where w.object_id = $2`,
    [cloudlet, objectId],
  )
  const { sessions, attempt, operationId } = rows[0]
  return requestFence({ salt: sessions[0].salt, objectId, operationId, attempt }).fence
}
