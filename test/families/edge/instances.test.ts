import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
import { accepted, refused } from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('an instance', () => {
  test('is created, with and without a Creating message', async () => {
    const { id: cloudlet, name } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet, { name: 'c', spec: { nodes: 3 } })
    const request = await requestFor(world, cloudlet, cluster)
    expect(request).toMatchObject({ action: 'CREATE', path: [name, 'c'], spec: { nodes: 3 }, specRevision: 1 })
    expect(await sendReport(world, { fence: request.fence, phase: 'CREATING' })).toBe(true)
    expect(await sendReport(world, { fence: request.fence, phase: 'CREATING' })).toBe(false)
    expect(await sendReport(world, { fence: request.fence, phase: 'READY' })).toBe(true)
    expect(await sendReport(world, { fence: request.fence, phase: 'READY' })).toBe(false)
    expect(await transitionsOf(world, cluster)).toEqual([
      'CONTROLLER NOT_PRESENT',
      'USER CREATE_REQUESTED',
      'CRM CREATING',
      'CRM READY',
    ])
    const app = await addInstance(world, 'APP_INST', cluster, { name: 'a' })
    const missed = await requestFor(world, cloudlet, app)
    expect(missed.path).toEqual([name, 'c', 'a'])
    expect(await sendReport(world, { fence: missed.fence, phase: 'READY' })).toBe(true)
    const seen = await seeById(world, app)
    expect(seen).toMatchObject({ phase: 'READY', finishedJobId: seen.jobId })
    expect(await requestsFor(world, cloudlet)).toEqual([])
  })

  test('whose creation fails is undone: its record is gone, its name is free, with a new operation id', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet, { name: 'c' })
    const { fence, operationId } = await requestFor(world, cloudlet, cluster)
    const error = { code: 'NO_ROOM', message: 'There is no room.', retryable: false }
    expect(await sendReport(world, { fence, phase: 'CREATE_ERROR', error })).toBe(true)
    expect(await phaseOf(world, cluster)).toBe('gone')
    expect((await transitionsOf(world, cluster)).slice(2)).toEqual([
      'CRM CREATE_ERROR',
      'CONTROLLER NOT_PRESENT',
      'CONTROLLER GONE',
    ])
    const again = await addInstance(world, 'CLUSTER_INST', cloudlet, { name: 'c' })
    const next = await requestFor(world, cloudlet, again)
    expect(next.operationId).not.toBe(operationId)
    // The ABA case: a report on the first instance does not apply to the second.
    expect(await sendReport(world, { fence, phase: 'READY' })).not.toBe(true)
    expect(await phaseOf(world, again)).toBe('CREATE_REQUESTED')
  })

  test('is updated; an update that fails restores the previous spec', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 2 } }))
    const request = await requestFor(world, cloudlet, cluster)
    expect(request).toMatchObject({ action: 'UPDATE', spec: { size: 2 }, specRevision: 2 })
    await sendReport(world, { fence: request.fence, phase: 'UPDATING' })
    await sendReport(world, { fence: request.fence, phase: 'READY' })
    expect(await seeById(world, cluster)).toMatchObject({
      phase: 'READY',
      spec: { size: 2 },
      specRevision: 2,
      error: null,
    })

    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 3 } }))
    const failing = await requestFor(world, cloudlet, cluster)
    await sendReport(world, { fence: failing.fence, phase: 'UPDATE_ERROR', message: 'No.' })
    expect(await seeById(world, cluster)).toMatchObject({
      phase: 'READY',
      spec: { size: 2 },
      specRevision: 2,
      error: { message: 'No.' },
    })
    expect((await transitionsOf(world, cluster)).slice(-3)).toEqual([
      'USER UPDATE_REQUESTED',
      'CRM UPDATE_ERROR',
      'CONTROLLER READY',
    ])
    // A revision never identifies two specs.
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 4 } }))
    expect((await requestFor(world, cloudlet, cluster)).specRevision).toBe(4)
  })

  test('is deleted, with and without a Deleting message', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    for (const phases of [['DELETING', 'NOT_PRESENT'], ['DELETED'], ['NOT_PRESENT']] as const) {
      const cluster = await readyInstance(world, cloudlet)
      await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false }))
      await world.settle()
      const { fence, action } = await requestFor(world, cloudlet, cluster)
      expect(action).toBe('DELETE')
      for (const phase of phases) expect(await sendReport(world, { fence, phase })).toBe(true)
      expect(await findById(world, cluster)).toBeNull()
      // Repeated, since its answer was lost.
      if (phases.at(-1) === 'NOT_PRESENT') expect(await sendReport(world, { fence, phase: 'NOT_PRESENT' })).toBe(false)
    }
  })

  test('whose deletion fails is there again', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false }))
    await world.settle()
    const { fence } = await requestFor(world, cloudlet, cluster)
    await sendReport(world, { fence, phase: 'DELETE_ERROR', message: 'It is in use.' })
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'READY', error: { message: 'It is in use.' } })
  })
})

describe('nothing runs in parallel that is in conflict or depends on it', () => {
  test('an app instance is refused while its cluster instance is not READY', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    const refusal = await refused(
      world.edge.createInstance(USER, { kind: 'APP_INST', parentId: cluster, name: 'a', spec: {} }),
    )
    expect(refusal).toMatchObject({ type: 'ConflictError', code: 'NOT_READY', objectId: cluster })
  })

  test('creating on a cloudlet whose CRM is not there is NOT_READY', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    await world.pool.query('delete from crm_lease where cloudlet_id = $1', [cloudlet])
    await world.pool.query('insert into wake (root_id, object_ids) values ($1, array[$1::uuid])', [cloudlet])
    await world.settle()
    expect(await phaseOf(world, cloudlet)).toBe('OFFLINE')
    const refusal = await refused(
      world.edge.createInstance(USER, { kind: 'CLUSTER_INST', parentId: cloudlet, name: 'c', spec: {} }),
    )
    expect(refusal).toMatchObject({ code: 'NOT_READY', objectId: cloudlet })
  })

  test('a cluster instance with app instances is IN_USE, unless they go first', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    const app = await readyInstance(world, cloudlet, 'APP_INST', cluster)
    const inUse = await refused(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false }))
    expect(inUse).toMatchObject({ code: 'IN_USE', objectId: app })
    expect(inUse.message).toContain((await seeById(world, app)).name)
    await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: true }))
    await world.settle()
    expect([await phaseOf(world, cluster), await phaseOf(world, app)]).toEqual(['DELETE_PREPARE', 'DELETE_REQUESTED'])
    await sendReport(world, { fence: (await requestFor(world, cloudlet, app)).fence, phase: 'NOT_PRESENT' })
    expect(await phaseOf(world, cluster)).toBe('DELETE_REQUESTED')
    await sendReport(world, { fence: (await requestFor(world, cloudlet, cluster)).fence, phase: 'NOT_PRESENT' })
    expect(await phaseOf(world, cluster)).toBe('gone')
  })

  test('DELETE_PREPARE goes back to READY when the cascade fails', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    const [kept, gone] = [
      await readyInstance(world, cloudlet, 'APP_INST', cluster),
      await readyInstance(world, cloudlet, 'APP_INST', cluster),
    ]
    await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: true }))
    await world.settle()
    await sendReport(world, { fence: (await requestFor(world, cloudlet, kept)).fence, phase: 'DELETE_ERROR' })
    expect(await phaseOf(world, cluster)).toBe('DELETE_PREPARE')
    await sendReport(world, { fence: (await requestFor(world, cloudlet, gone)).fence, phase: 'NOT_PRESENT' })
    expect([await phaseOf(world, kept), await phaseOf(world, gone)]).toEqual(['READY', 'gone'])
    const { phase, error } = await seeById(world, cluster)
    expect([phase, error?.code]).toEqual(['READY', 'IN_USE'])
    expect(error?.message).toContain((await seeById(world, kept)).name)
  })

  test('an update of a cluster instance is BUSY while one of its app instances is not READY', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    const app = await addInstance(world, 'APP_INST', cluster)
    const refusal = await refused(
      world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 2 } }),
    )
    expect(refusal).toMatchObject({ code: 'BUSY', objectId: app })
    expect(refusal.message).toContain('CREATE_REQUESTED')
  })

  test('two racing requests admit exactly one; the other is BUSY, with the current phase', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const create = () =>
      world.edge.createInstance(USER, { kind: 'CLUSTER_INST', parentId: cloudlet, name: 'c', spec: {} })
    const both = await Promise.all([create(), create()])
    expect(both.filter(({ ok }) => ok)).toHaveLength(1)
    expect(both.find(({ ok }) => !ok)).toMatchObject({ refusal: { code: 'BUSY' } })
    const cluster = await readyInstance(world, cloudlet)
    const remove = () => world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false })
    const two = await Promise.all([remove(), remove()])
    expect(two.filter(({ ok }) => ok)).toHaveLength(1)
    expect(two.find(({ ok }) => !ok)).toMatchObject({ refusal: { code: 'BUSY', objectId: cluster } })
  })

  test('an app instance racing the deletion of its cluster instance: 100 rounds, one wins', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    let created = 0
    for (let round = 0; round < 100; round += 1) {
      const cluster = await readyInstance(world, cloudlet)
      const requests = [
        () => world.edge.createInstance(USER, { kind: 'APP_INST', parentId: cluster, name: 'a', spec: {} }),
        () => world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false }),
      ] as const
      const [first, second] = round % 2 === 0 ? requests : ([requests[1], requests[0]] as const)
      const done = await Promise.all([first(), second()])
      expect(done.filter(({ ok }) => ok)).toHaveLength(1)
      const phase = await phaseOf(world, cluster)
      created += phase === 'READY' ? 1 : 0
      expect(['READY', 'DELETE_PREPARE']).toContain(phase)
    }
    expect(created).toBeGreaterThan(0)
    expect(created).toBeLessThan(100)
  })
})

describe('operations that are withdrawn or time out', () => {
  test('a request without an acknowledgement is withdrawn, and undone by the CRM', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    const first = await requestFor(world, cloudlet, cluster)
    await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id: cluster, reason: 'wrong size' }))
    await world.settle()
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'CREATE_ERROR', error: { code: 'WITHDRAWN' } })
    expect((await transitionsOf(world, cluster)).at(-1)).toBe('CONTROLLER CREATE_ERROR withdrawn')
    // The CRM may have begun without a report, and its report now comes too late.
    expect(await sendReport(world, { fence: first.fence, phase: 'READY' })).toBe('StaleReportError')
    const undo = await requestFor(world, cloudlet, cluster)
    expect(undo).toMatchObject({ action: 'DELETE', spec: null })
    expect(await sendReport(world, { fence: undo.fence, phase: 'DELETING' })).toBe(false)
    expect(await sendReport(world, { fence: undo.fence, phase: 'NOT_PRESENT' })).toBe(true)
    expect(await phaseOf(world, cluster)).toBe('gone')
  })

  test('what is acknowledged cannot be withdrawn any more', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    await sendReport(world, { fence: (await requestFor(world, cloudlet, cluster)).fence, phase: 'CREATING' })
    const cancel = () => world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id: cluster })
    expect(await refused(cancel())).toMatchObject({ type: 'TransitionError', from: 'CREATING', to: 'CREATE_ERROR' })
  })

  test('an update that is withdrawn has its old spec sent back before it is READY', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 2 } }))
    await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id: cluster }))
    await world.settle()
    expect(await phaseOf(world, cluster)).toBe('UPDATE_ERROR')
    const undo = await requestFor(world, cloudlet, cluster)
    expect(undo).toMatchObject({ action: 'UPDATE', spec: { size: 1 }, specRevision: 1 })
    await sendReport(world, { fence: undo.fence, phase: 'READY' })
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'READY', spec: { size: 1 }, specRevision: 1 })
  })

  test('past its deadline a request has failed, exactly then; each message, progress too, sets the deadline back', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    const { fence } = await requestFor(world, cloudlet, cluster)
    world.clock.advance(299_999)
    await sendReport(world, { fence, progress: { step: 'booting', value: 1, total: 3 } })
    world.clock.advance(299_999)
    await sendReport(world, { fence, phase: 'CREATING' })
    world.clock.advance(299_999)
    await world.settle()
    expect(await phaseOf(world, cluster)).toBe('CREATING')
    world.clock.advance(1)
    await world.settle()
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'CREATE_ERROR', error: { code: 'TIMEOUT' } })
    expect((await transitionsOf(world, cluster)).at(-1)).toBe('CONTROLLER CREATE_ERROR timeout')
    expect(await sendReport(world, { fence, phase: 'READY' })).toBe('StaleReportError')
  })

  test('progress that is repeated after the end is not that of a READY instance', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    const { fence } = await requestFor(world, cloudlet, cluster)
    const progress = { step: 'booting', value: 3, total: 3 }
    for (const phase of ['CREATING', 'READY'] as const) await sendReport(world, { fence, phase, progress })
    expect(await sendReport(world, { fence, progress })).toBe(false)
    const { rows } = await world.pool.query('select progress from object_status where object_id = $1', [cluster])
    expect(rows).toMatchObject([{ progress: null }])
  })

  test('a timed out deletion is taken back too: what is deleted unseen is made again', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    await accepted(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false }))
    await world.settle()
    world.clock.advance(300_000)
    await world.settle()
    expect(await phaseOf(world, cluster)).toBe('DELETE_ERROR')
    const undo = await requestFor(world, cloudlet, cluster)
    expect(undo).toMatchObject({ action: 'CREATE', spec: { size: 1 }, specRevision: 1 })
    await sendReport(world, { fence: undo.fence, phase: 'READY' })
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'READY', undoing: false })
  })

  test('what could not be taken back is asked for again, under another fence', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', cloudlet)
    await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id: cluster }))
    await world.settle()
    const undo = await requestFor(world, cloudlet, cluster)
    expect(await sendReport(world, { fence: undo.fence, phase: 'DELETE_ERROR', message: 'It is locked.' })).toBe(false)
    world.clock.advance(300_000)
    await world.settle()
    const again = await requestFor(world, cloudlet, cluster)
    expect(again.fence).not.toBe(undo.fence)
    expect(await sendReport(world, { fence: undo.fence, phase: 'NOT_PRESENT' })).toBe('StaleReportError')
    expect(await sendReport(world, { fence: again.fence, phase: 'NOT_PRESENT' })).toBe(true)
    expect(await phaseOf(world, cluster)).toBe('gone')
  })

  test('a request that was never dispatched to a CRM is undone at once', async () => {
    const { id: cloudlet } = await readyCloudlet(world)
    const cluster = await readyInstance(world, cloudlet)
    await world.pool.query('delete from crm_lease where cloudlet_id = $1', [cloudlet])
    await world.pool.query('insert into wake (root_id, object_ids) values ($1, array[$1::uuid])', [cloudlet])
    await world.settle()
    await accepted(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 2 } }))
    await accepted(world.edge.cancelInstance(USER, { kind: 'CLUSTER_INST', id: cluster }))
    expect(await seeById(world, cluster)).toMatchObject({ phase: 'READY', spec: { size: 1 } })
    await connectCrm(world, cloudlet)
  })
})
