import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloudletUpgrade } from '../../../src/families/edge/machines.ts'
import {
  addCloudlet,
  addInstance,
  CRM,
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
import { accepted, refused } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const rowsOf = async (table: 'work' | 'clock', id: string): Promise<unknown[]> => {
  const columns = { work: 'state, due_at', clock: 'due_at' }[table]
  return (await world.pool.query(`select ${columns} from ${table} where object_id = $1`, [id])).rows
}

const connecting = (cloudletId: string, more: object = {}) => ({
  cloudletId,
  instance: 'one',
  role: 'CRM' as const,
  version: '1',
  leaseMs: 30_000,
  objects: [],
  call: 0,
  ...more,
})

describe('a cloudlet', () => {
  test('is created, waits for its CRM, and is READY when that has connected', async () => {
    const id = await addCloudlet(world)
    expect(await transitionsOf(world, id, 'cloudlet')).toEqual(['USER OFFLINE', 'USER INIT'])
    const { epoch, requests } = await connectCrm(world, id, { version: '2.1' })
    expect([epoch, requests]).toEqual([1, []])
    expect((await transitionsOf(world, id, 'cloudlet')).slice(2)).toEqual(['CONTROLLER INIT_OK', 'CRM READY'])
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', version: '2.1', upgradePhase: 'READY' })
  })

  test('to which no CRM connects is OFFLINE after its deadline; one that a user starts makes it READY', async () => {
    const id = await addCloudlet(world)
    world.clock.advance(299_999)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('INIT')
    world.clock.advance(1)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('OFFLINE')
    await connectCrm(world, id)
    expect((await transitionsOf(world, id, 'cloudlet')).slice(-4)).toEqual([
      'CONTROLLER OFFLINE',
      'CRM INIT',
      'CONTROLLER INIT_OK',
      'CRM READY',
    ])
  })

  test('is due without any work of an agent', async () => {
    const id = await addCloudlet(world)
    expect(await rowsOf('work', id)).toEqual([])
    expect(await rowsOf('clock', id)).toEqual([{ due_at: new Date(world.clock.now().getTime() + 300_000) }])
    world.clock.advance(300_000)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('OFFLINE')
    expect(await rowsOf('clock', id)).toEqual([])
  })

  test('whose time the version before has written, in work that no agent claims, is OFFLINE at that time', async () => {
    const id = await addCloudlet(world)
    await world.pool.query(
      `with clock as (delete from clock where object_id = $1 returning *)
       insert into work (object_id, root_id, type, action, state, seq, triggered_at, due_at)
       select object_id, root_id, 'crm', 'RECONCILE', 1, 0, due_at, due_at from clock`,
      [id],
    )
    world.clock.advance(300_000)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('OFFLINE')
    expect(await rowsOf('work', id)).toMatchObject([{ state: 2, due_at: null }])
  })

  test('that the version before has removed from the queue, since it knows of no clock, is OFFLINE all the same', async () => {
    const id = await addCloudlet(world)
    world.clock.advance(299_999)
    await world.settle()
    await world.pool.query('delete from root_queue where root_id = $1', [id])
    await world.recoverStalled()
    expect(await world.due()).toEqual([])
    world.clock.advance(1)
    await world.recoverStalled()
    await world.settle()
    expect(await phaseOf(world, id)).toBe('OFFLINE')
  })

  test('a new CRM process has the next epoch, and what is said under the older one is refused', async () => {
    const id = await addCloudlet(world)
    const first = await connectCrm(world, id, { instance: 'one' })
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    const old = await requestFor(world, id, cluster)
    const second = await connectCrm(world, id, { instance: 'two' })
    expect([first.epoch, second.epoch]).toEqual([1, 2])
    expect(await sendReport(world, { fence: old.fence, phase: 'CREATING' })).toBe('StaleReportError')
    const { leases } = await accepted(world.engineHost.agents.renew(CRM, [first.fence, second.fence], 30_000))
    expect(leases.map(({ state }) => state)).toEqual(['LOST', 'HELD'])
    const refusal = await refused(world.edge.connectCrm(CRM, connecting(id, { instance: 'one' })))
    expect(refusal.type).toBe('StaleReportError')
    // It has not begun, so the request was dispatched again.
    expect(second.requests.map(({ objectId }) => objectId)).toEqual([cluster])
    expect(await sendReport(world, { fence: second.requests[0]?.fence ?? '', phase: 'READY' })).toBe(true)
  })

  test('what is said under an older epoch is refused also where nothing was dispatched to the newer one', async () => {
    const { id, name } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    const { fence } = await requestFor(world, id, cluster)
    expect(await sendReport(world, { fence, phase: 'READY' })).toBe(true)
    expect(await sendReport(world, { fence, phase: 'READY' })).toBe(false)
    const { name: itsName } = await seeById(world, cluster)
    const listed = { kind: 'CLUSTER_INST', path: [name, itsName], phase: 'READY', specRevision: 1 } as const
    expect((await connectCrm(world, id, { objects: [listed] })).requests).toEqual([])
    for (const phase of ['READY', 'CREATE_ERROR'] as const) {
      expect(await sendReport(world, { fence, phase })).toBe('StaleReportError')
    }
    expect(await phaseOf(world, cluster)).toBe('READY')
  })

  test('a process that reconnects keeps its epoch and its fences', async () => {
    const id = await addCloudlet(world)
    const first = await connectCrm(world, id, { instance: 'same' })
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    const before = await requestFor(world, id, cluster)
    const again = await connectCrm(world, id, { instance: 'same' })
    expect([again.epoch, again.fence]).toEqual([first.epoch, first.fence])
    expect(again.requests.map(({ fence }) => fence)).toEqual([before.fence])
    expect(await sendReport(world, { fence: before.fence, phase: 'CREATING' })).toBe(true)
  })

  test('a call that a later one of the same process has overtaken is refused', async () => {
    const { id } = await readyCloudlet(world)
    const { name } = await seeById(world, id)
    const session = await connectCrm(world, id, { instance: 'counting', call: 1 })
    const cluster = await readyInstance(world, id)
    const path = [name, (await seeById(world, cluster)).name]
    const objects = [{ kind: 'CLUSTER_INST' as const, path, phase: 'READY' as const, specRevision: 1 }]
    await connectCrm(world, id, { instance: 'counting', call: 3, objects })
    const late = await refused(world.edge.connectCrm(CRM, connecting(id, { instance: 'counting', call: 2 })))
    expect(late.type).toBe('StaleReportError')
    expect((await seeById(world, cluster)).drifted).toBe(false)
    expect((await connectCrm(world, id, { instance: 'counting', call: 4, objects })).epoch).toBe(session.epoch)
  })

  test('whose current CRM is silent is OFFLINE at the end of the lease; renewing keeps it READY', async () => {
    const id = await addCloudlet(world)
    const { fence } = await connectCrm(world, id, { leaseMs: 30_000 })
    world.clock.advance(29_000)
    await accepted(world.engineHost.agents.renew(CRM, [fence], 30_000))
    world.clock.advance(29_999)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('READY')
    world.clock.advance(1)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('OFFLINE')
    const { leases } = await accepted(world.engineHost.agents.renew(CRM, [fence], 30_000))
    expect(leases[0]?.state).toBe('LOST')
  })

  test('an old epoch that leaves after the new one came changes nothing', async () => {
    const id = await addCloudlet(world)
    await connectCrm(world, id, { leaseMs: 10_000 })
    await connectCrm(world, id, { leaseMs: 60_000 })
    world.clock.advance(20_000)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('READY')
  })

  test('is deleted once it is OFFLINE, and only with nothing beneath, or with cascade', async () => {
    const { id } = await readyCloudlet(world)
    const cluster = await readyInstance(world, id)
    const app = await readyInstance(world, id, 'APP_INST', cluster)
    const remove = (cascade: boolean) => world.edge.deleteCloudlet(USER, { id, cascade })
    expect(await refused(remove(true))).toMatchObject({ type: 'TransitionError', from: 'READY', to: 'GONE' })
    world.clock.advance(600_000)
    await world.settle()
    expect(await refused(remove(false))).toMatchObject({ code: 'IN_USE', objectId: cluster })
    await accepted(remove(true))
    expect([await findById(world, id), await findById(world, cluster), await findById(world, app)]).toEqual([
      null,
      null,
      null,
    ])
    expect((await transitionsOf(world, app)).at(-1)).toBe('CONTROLLER GONE')
  })

  test('is served only by agents with the right', async () => {
    const id = await addCloudlet(world)
    const { name } = await seeById(world, id)
    const as = (viewer: object) => world.edge.connectCrm({ ...CRM, ...viewer }, connecting(id))
    expect(await refused(as({ actor: 'RUNTIME' }))).toMatchObject({ type: 'ForbiddenError' })
    expect(await refused(as({ grants: USER.grants }))).toMatchObject({ type: 'ForbiddenError' })
    expect(await refused(as({ targets: ['another'] }))).toMatchObject({ type: 'ForbiddenError' })
    expect(await refused(as({ types: ['mock'] }))).toMatchObject({ type: 'ForbiddenError' })
    expect(await refused(as({ projects: [v7()] }))).toMatchObject({ type: 'NotFoundError' })
    await accepted(as({ targets: [name], types: ['crm'] }))
    await accepted(as({ targets: [id], tokenId: v7() }))
    // Nor may anybody else take over the session by its instance.
    expect(await refused(as({ principalId: v7() }))).toMatchObject({ type: 'ForbiddenError' })
    // Its requests are dispatched to it and cannot be claimed.
    await addInstance(world, 'CLUSTER_INST', id)
    world.clock.advance(1_000_000)
    expect(await world.claim(10, CRM, ['crm'])).toEqual([])
  })

  test.each([
    [{ instance: '' }, 'input.instance'],
    [{ version: 'with space' }, 'input.version'],
    [{ objects: [{ kind: 'CLUSTER_INST', path: ['c'], phase: 'READY', specRevision: 1 }] }, 'input.objects.0.path'],
    [{ objects: [{ kind: 'TASK', path: ['c', 'd'], phase: 'READY', specRevision: 1 }] }, 'input.objects.0.kind'],
    [
      { objects: [{ kind: 'CLUSTER_INST', path: ['c', 'd'], phase: 'DONE', specRevision: 1 }] },
      'input.objects.0.phase',
    ],
  ])('what a CRM says wrongly is refused, and changes nothing: %j', async (more, path) => {
    const id = await addCloudlet(world)
    const refusal = await refused(world.edge.connectCrm(CRM, connecting(id, more) as never))
    expect(refusal).toMatchObject({ type: 'InvalidInputError', fields: [{ path }] })
    expect(await seeById(world, id)).toMatchObject({ phase: 'INIT', epoch: 0 })
  })
})

/** A cloudlet whose upgrade has been asked for, and the request that its CRM has got. */
async function upgrading() {
  const { id } = await readyCloudlet(world)
  await accepted(world.edge.upgradeCloudlet(USER, { id, version: '2' }))
  await world.settle()
  const request = await requestFor(world, id, id)
  return { id, request, upgrade: async () => (await seeById(world, id)).upgradePhase }
}

describe('an upgrade', () => {
  test('runs: the old CRM starts the new one, which connects, takes over and tells all that it has', async () => {
    const { id, request, upgrade } = await upgrading()
    expect(request).toMatchObject({ kind: 'CLOUDLET', action: 'UPDATE', spec: { version: '2' } })
    expect(await upgrade()).toBe('UPDATE_REQUESTED')
    expect(await sendReport(world, { fence: request.fence, phase: 'UPDATING' })).toBe(true)
    const second = await connectCrm(world, id, { role: 'CRM_V2', version: '2' })
    expect([second.epoch, await upgrade()]).toEqual([2, 'INIT_OK'])
    // Both live until the new one is READY.
    expect(await sendReport(world, { fence: request.fence, progress: { step: 'handing over' } })).toBe(false)
    expect(await sendReport(world, { fence: second.fence, phase: 'READY' })).toBe(true)
    expect(await sendReport(world, { fence: second.fence, phase: 'READY' })).toBe(false)
    expect(await seeById(world, id)).toMatchObject({ phase: 'READY', upgradePhase: 'READY', version: '2', epoch: 2 })
    expect(await sendReport(world, { fence: request.fence, phase: 'UPDATE_ERROR' })).not.toBe(true)
    expect(await transitionsOf(world, id, 'cloudletUpgrade')).toEqual([
      'USER UPDATE_REQUESTED',
      'CRM_V1 UPDATING',
      'CONTROLLER INIT_OK',
      'CRM_V2 READY',
    ])
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    expect((await requestsFor(world, id)).map(({ objectId }) => objectId)).toEqual([cluster])
  })

  test('takes in what the new CRM has found, when that takes over', async () => {
    const { id } = await readyCloudlet(world)
    const { name } = await seeById(world, id)
    const [kept, lost] = [await readyInstance(world, id), await readyInstance(world, id)]
    await accepted(world.edge.upgradeCloudlet(USER, { id, version: '2' }))
    const of = async (of: string) => [name, (await seeById(world, of)).name]
    const objects = [
      { kind: 'CLUSTER_INST' as const, path: await of(kept), phase: 'READY' as const, specRevision: 1 },
      { kind: 'CLUSTER_INST' as const, path: [name, 'stray'], phase: 'READY' as const, specRevision: 1 },
    ]
    const second = await connectCrm(world, id, { role: 'CRM_V2', version: '2', objects })
    expect((await seeById(world, lost)).drifted).toBe(false)
    await sendReport(world, { fence: second.fence, phase: 'READY' })
    expect([(await seeById(world, kept)).drifted, (await seeById(world, lost)).drifted]).toEqual([false, true])
    expect((await seeById(world, id)).orphans?.map(({ path }) => path.at(-1))).toEqual(['stray'])
  })

  test('whose CRM could not start the new one has failed and stays so', async () => {
    const { id, request, upgrade } = await upgrading()
    await sendReport(world, { fence: request.fence, phase: 'UPDATE_ERROR', message: 'No such version.' })
    expect(await seeById(world, id)).toMatchObject({
      phase: 'READY',
      error: { message: 'No such version.' },
      version: '1',
    })
    // The old CRM continues to serve: its READY changes nothing.
    expect(await sendReport(world, { fence: request.fence, phase: 'READY' })).toBe(false)
    expect(await upgrade()).toBe('UPDATE_ERROR')
  })

  test('the old CRM takes it back while the new one is being brought up', async () => {
    const { id, request, upgrade } = await upgrading()
    await sendReport(world, { fence: request.fence, phase: 'UPDATING' })
    const second = await connectCrm(world, id, { role: 'CRM_V2', instance: 'v2', version: '2' })
    await sendReport(world, { fence: request.fence, phase: 'UPDATE_ERROR', message: 'It does not answer.' })
    expect(await upgrade()).toBe('UPDATE_ERROR')
    expect(await sendReport(world, { fence: second.fence, phase: 'READY' })).toBe('StaleReportError')
    const refusal = await refused(world.edge.connectCrm(CRM, connecting(id, { role: 'CRM_V2', instance: 'v2' })))
    expect(refusal.type).toBe('StaleReportError')
  })

  test('without a report has failed at its deadline', async () => {
    const { request, upgrade } = await upgrading()
    world.clock.advance(299_999)
    await sendReport(world, { fence: request.fence, phase: 'UPDATING' })
    world.clock.advance(299_999)
    await world.settle()
    expect(await upgrade()).toBe('UPDATING')
    world.clock.advance(1)
    await world.settle()
    expect(await upgrade()).toBe('UPDATE_ERROR')
  })

  test('meanwhile, and after it has failed, nothing beneath is changed; an administrator puts it right', async () => {
    const { id } = await readyCloudlet(world)
    const cluster = await readyInstance(world, id)
    await accepted(world.edge.upgradeCloudlet(USER, { id, version: '2' }))
    const refusals = async () => [
      await refused(world.edge.createInstance(USER, { kind: 'CLUSTER_INST', parentId: id, name: 'x', spec: {} })),
      await refused(world.edge.updateInstance(USER, { kind: 'CLUSTER_INST', id: cluster, spec: { size: 9 } })),
      await refused(world.edge.deleteInstance(USER, { kind: 'CLUSTER_INST', id: cluster, cascade: false })),
      await refused(world.edge.createInstance(USER, { kind: 'APP_INST', parentId: cluster, name: 'x', spec: {} })),
      await refused(world.edge.upgradeCloudlet(USER, { id, version: '3' })),
    ]
    for (const refusal of await refusals()) expect(refusal).toMatchObject({ code: 'CLOUDLET_UPGRADING', objectId: id })
    await sendReport(world, { fence: (await requestFor(world, id, id)).fence, phase: 'UPDATE_ERROR' })
    for (const refusal of await refusals())
      expect(refusal).toMatchObject({ code: 'CLOUDLET_UPGRADE_FAILED', objectId: id })
    expect(await refused(world.edge.resolveCloudletUpgrade(viewerOf('USER'), { id }))).toMatchObject({
      type: 'ForbiddenError',
    })
    await accepted(world.edge.resolveCloudletUpgrade(USER, { id }))
    expect(await seeById(world, id)).toMatchObject({ upgradePhase: 'READY', error: null })
    await addInstance(world, 'APP_INST', cluster)
    expect(await refused(world.edge.resolveCloudletUpgrade(USER, { id }))).toMatchObject({ type: 'TransitionError' })
  })

  test('is BUSY while anything beneath is in transition, and NOT_READY without a CRM', async () => {
    const { id } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    expect(await refused(world.edge.upgradeCloudlet(USER, { id, version: '2' }))).toMatchObject({
      code: 'BUSY',
      objectId: cluster,
    })
    const offline = await addCloudlet(world)
    expect(await refused(world.edge.upgradeCloudlet(USER, { id: offline, version: '2' }))).toMatchObject({
      code: 'NOT_READY',
      objectId: offline,
    })
  })

  test('every pair of phases is accepted or refused for each of the two CRMs as in the table', async () => {
    for (const { from, to } of pairsOf(cloudletUpgrade)) {
      for (const actor of ['CRM_V1', 'CRM_V2'] as const) {
        const { id } = await readyCloudlet(world)
        await accepted(world.edge.upgradeCloudlet(USER, { id, version: '2' }))
        await world.settle()
        const first = await requestFor(world, id, id)
        // V2 exists only from INIT_OK on, so the test sets the earlier phases in the row.
        const second = await connectCrm(world, id, { role: 'CRM_V2', version: '2' })
        await setUpgradePhase(id, from)
        const fence = actor === 'CRM_V1' ? first.fence : second.fence
        const outcome = await sendReport(world, { fence, phase: to })
        const repeated = from === to && cloudletUpgrade.transitions.some((row) => row.actor === actor && row.to === to)
        // V1's Ready changes nothing in UPDATE_ERROR.
        const ignored = actor === 'CRM_V1' && from === 'UPDATE_ERROR' && to === 'READY'
        const expected =
          isAllowed(cloudletUpgrade, from, actor, to) && from !== to
            ? true
            : repeated || ignored
              ? false
              : 'TransitionError'
        expect([from, actor, to, outcome]).toEqual([from, actor, to, expected])
      }
    }
  })
})

async function setUpgradePhase(id: string, phase: string): Promise<void> {
  const client = await world.pool.connect()
  try {
    await client.query("set session_replication_role = 'replica'")
    await client.query('update cloudlet set upgrade_phase = $2 where object_id = $1', [id, phase])
  } finally {
    await client.query("set session_replication_role = 'origin'")
    client.release()
  }
}
