import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  claimAt,
  failed,
  phaseOf,
  phasesOf,
  RUNTIME,
  runAll,
  sendReport,
  succeeded,
  TEMPLATE,
  treeOf,
} from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** Resources that runtimes keep for workers and jobs, and their removal. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  await world.pool.query('truncate object, work, wake, root_queue cascade')
})

let projects = 0
async function running(template = TEMPLATE) {
  const name = `resources-${++projects}`
  await addProject(world, name, { workerTemplate: template })
  const id = await addEvent(world, name)
  const [start] = await runAll(world)
  if (!start) throw new Error('nothing was started')
  return { id, start }
}

describe('resources', () => {
  test('are removed 60 seconds after a normal end, to the second, also after a restart, exactly once', async () => {
    const { id, start } = await running()
    await sendReport(world, { fence: start.fence, ...failed })
    const ended = world.clock.now().getTime()
    expect((await treeOf(world, id)).worker?.removeAt).toEqual(new Date(ended + 60_000))
    world.clock.advance(59_000)
    expect(await claimAt(world)).toEqual([])
    // The state is only in the database, so another process can continue.
    await using other = await world.second()
    world.clock.advance(999)
    const request = { instance: 'here', types: ['process'], targets: ['here'], max: 10, leaseMs: 30_000 }
    expect((await accepted(other.agents.claim(RUNTIME, request))).items).toEqual([])
    world.clock.advance(1)
    const { items } = await accepted(other.agents.claim(RUNTIME, request))
    expect(items).toMatchObject([{ action: 'REMOVE', kind: 'WORKER', config: { workspace: null } }])
    expect(await claimAt(world)).toEqual([])
    const fence = items[0]?.fence ?? ''
    expect(await sendReport(world, { fence, done: true })).toBe(false)
    expect((await treeOf(world, id)).worker?.removedAt).toEqual(world.clock.now())
    world.clock.advance(3_600_000)
    expect(await sendReport(world, { fence, done: true })).toBe(false)
    expect((await treeOf(world, id)).worker?.removedAt?.getTime()).toBe(ended + 60_000)
    expect(await claimAt(world)).toEqual([])
  })

  test('at once when it was cancelled, and only where it ran; the workspace goes with the worker alone', async () => {
    const { id } = await running({ ...TEMPLATE, workspace: true })
    await addJob(world, id, 'guest', { ...TEMPLATE, workspace: true })
    await runAll(world)
    await accepted(world.pipelines.cancelEvent(USER, { id }))
    await world.settle()
    expect(await claimAt(world, 'elsewhere')).toEqual([])
    const items = await claimAt(world)
    const worker = (await treeOf(world, id)).worker?.id
    expect(items.map(({ action, name, config }) => [action, name, config])).toEqual([
      ['REMOVE', 'worker', { workspace: worker }],
      ['REMOVE', 'guest', { workspace: null }],
    ])
  })

  test('a runtime that crashed while it removed them gets the work again', async () => {
    const { start } = await running()
    await sendReport(world, { fence: start.fence, ...succeeded })
    world.clock.advance(60_000)
    const [first] = await claimAt(world)
    expect(await claimAt(world)).toEqual([])
    world.clock.advance(30_000)
    const [second] = await claimAt(world)
    expect(second).toMatchObject({ action: 'REMOVE', objectId: first?.objectId })
    expect(await sendReport(world, { fence: first?.fence ?? '', done: true })).toBe('StaleReportError')
    expect(await sendReport(world, { fence: second?.fence ?? '', done: true })).toBe(false)
  })
})

describe('a deleted event', () => {
  test('is gone with its tree at once, in any phase; its runtime gets NotFound and removes the resources', async () => {
    const { id, start } = await running({ ...TEMPLATE, workspace: true })
    await addJob(world, id, 'job')
    await runAll(world)
    await addJob(world, id, 'waiting')
    await accepted(world.pipelines.deleteEvent(USER, { id }))
    await world.settle()
    expect(await treeOf(world, id)).toEqual({})
    expect(await sendReport(world, { fence: start.fence, phase: 'SUCCEEDED' })).toBe('NotFoundError')
    const { leases } = await accepted(world.engineHost.agents.renew(RUNTIME, [start.fence], 30_000))
    expect(leases).toMatchObject([{ state: 'LOST' }])
    const items = await claimAt(world)
    expect(items.map(({ action, kind, name }) => [action, kind, name]).sort()).toEqual([
      ['REMOVE', 'JOB', 'job'],
      ['REMOVE', 'WORKER', 'worker'],
    ])
    // It may take its time.
    const fences = items.map(({ fence }) => fence)
    expect(
      (await accepted(world.engineHost.agents.renew(RUNTIME, fences, 30_000))).leases.map(({ state }) => state),
    ).toEqual(['HELD', 'HELD'])
    for (const fence of fences) expect(await sendReport(world, { fence, done: true })).toBe(false)
    for (const fence of fences) expect(await sendReport(world, { fence, done: true })).toBe(false)
    world.clock.advance(3_600_000)
    expect(await claimAt(world)).toEqual([])
  })

  test('what still drained is removed at once', async () => {
    const { id, start } = await running()
    await sendReport(world, { fence: start.fence, ...succeeded })
    await accepted(world.pipelines.deleteEvent(USER, { id }))
    expect((await claimAt(world)).map(({ action }) => action)).toEqual(['REMOVE'])
  })

  test('a workload that was never started has no resources to remove', async () => {
    await addProject(world, 'stopped', { limits: { maxWorkers: 0 } })
    const id = await addEvent(world, 'stopped')
    await accepted(world.pipelines.deleteEvent(USER, { id }))
    await world.settle()
    expect(await claimAt(world)).toEqual([])
  })
})

describe('a runtime that is missed', () => {
  test('makes its workloads UNKNOWN when its lease ends, and FAILED five minutes later', async () => {
    const { id } = await running()
    world.clock.advance(29_999)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('RUNNING')
    world.clock.advance(1)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('UNKNOWN')
    world.clock.advance(299_999)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('UNKNOWN')
    world.clock.advance(1)
    await world.settle()
    expect((await treeOf(world, id)).event).toMatchObject({ phase: 'FAILED', code: 'RUNTIME_LOST' })
    // If it does come back, the answer makes it end the process.
    expect((await claimAt(world)).map(({ action }) => action)).toEqual(['REMOVE'])
  })

  test('whose lease is renewed is not missed, and costs its objects no write', async () => {
    const { id, start } = await running()
    const before = (await world.see('event-1')).revision
    for (let i = 0; i < 10; i++) {
      world.clock.advance(20_000)
      await accepted(world.engineHost.agents.renew(RUNTIME, [start.fence], 30_000))
      await world.settle()
    }
    expect(await phaseOf(world, id)).toBe('RUNNING')
    expect((await world.see('event-1')).revision).toBe(before)
  })

  test('adopts running workloads when it is back, with its old fence or by a claim; no other runtime gets them', async () => {
    const { id, start } = await running()
    world.clock.advance(30_000)
    await world.settle()
    expect(await claimAt(world, 'elsewhere')).toEqual([])
    await accepted(world.engineHost.agents.renew(RUNTIME, [start.fence], 30_000))
    expect(await sendReport(world, { fence: start.fence, phase: 'RUNNING' })).toBe(true)
    expect(await phaseOf(world, id)).toBe('RUNNING')
    world.clock.advance(30_000)
    await world.settle()
    const [again] = await claimAt(world)
    expect(again).toMatchObject({ action: 'START', attempt: 2 })
    expect(await sendReport(world, { fence: again?.fence ?? '', phase: 'RUNNING' })).toBe(true)
    expect(await sendReport(world, { fence: start.fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    expect(await sendReport(world, { fence: again?.fence ?? '', ...succeeded })).toBe(true)
  })

  test('has the lines stored that it read before the work was claimed again, by it alone and of its work alone', async () => {
    const { start } = await running()
    const { agents } = world.engineHost
    const { objectId, fence } = start
    const lines = [{ fence, stream: 'STDOUT' as const, text: 'a line' }]
    const write = (viewer = RUNTIME) => agents.appendLogs(viewer, lines)
    world.clock.advance(30_000)
    await world.settle()
    const [again] = await claimAt(world)
    expect(again).toMatchObject({ objectId, action: 'START', attempt: 2 })
    expect(await write()).toEqual({ ok: true, accepted: 1 })
    expect(await write({ ...RUNTIME, principalId: randomUUID() })).toEqual({ ok: true, accepted: 0 })
    expect(await sendReport(world, { fence: again?.fence ?? '', ...succeeded })).toBe(true)
    world.clock.advance(3_600_000)
    expect(await claimAt(world)).toMatchObject([{ objectId, action: 'REMOVE' }])
    expect(await write()).toEqual({ ok: true, accepted: 1 })
  })

  test('its jobs go on when only the worker’s runtime is lost, and end with it', async () => {
    const { id } = await running()
    await addJob(world, id, 'job')
    await runAll(world, 'elsewhere')
    world.clock.advance(30_000)
    await world.settle()
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'UNKNOWN', job: 'UNKNOWN' })
    world.clock.advance(300_000)
    await world.settle()
    expect((await phasesOf(world, id)).worker).toBe('FAILED')
    expect(['FAILED', 'ABORTED']).toContain((await phasesOf(world, id)).job)
  })
})

test('no runtime takes it: it could not be scheduled and has that error', async () => {
  await addProject(world, 'nobody')
  const id = await addEvent(world, 'nobody')
  world.clock.advance(300_000)
  await world.settle()
  expect((await treeOf(world, id)).event).toMatchObject({ phase: 'SCHEDULING_FAILED', code: 'PICKUP_TIMEOUT' })
  expect(await claimAt(world)).toEqual([])
})
