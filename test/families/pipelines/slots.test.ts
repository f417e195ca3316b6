import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { grantSlots, setCapacity } from '../../../src/families/pipelines/store/slots.ts'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  claimAt,
  phaseOf,
  phasesOf,
  RUNTIME,
  runAll,
  sendReport,
  succeeded,
  treeOf,
} from '../../testkit/pipelines.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** Capacity is a queue in the rows themselves. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  await world.pool.query('truncate object, work, wake, root_queue cascade')
  await setCapacity(world.pool, { maxWorkers: 50, maxJobs: 100 })
})

let projects = 0
async function project(limits: object = {}): Promise<string> {
  const name = `queue-${++projects}`
  await addProject(world, name, { limits })
  return name
}
const addMany = async (name: string, count: number) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await addEvent(world, name))
  return ids
}
const started = async (ids: readonly string[]) => {
  const phases = await Promise.all(ids.map((id) => phaseOf(world, id)))
  return phases.filter((phase) => phase !== 'PENDING').length
}
/** Ends the running workloads; those that get their slots stay running. */
async function endAll() {
  const items = await runAll(world)
  for (const { fence, action } of items) if (action === 'START') await sendReport(world, { fence, ...succeeded })
  return items.filter(({ action }) => action === 'START')
}

describe('limits', () => {
  test('of a project, first in first out', async () => {
    const ids = await addMany(await project({ maxWorkers: 2 }), 5)
    const order: string[] = []
    for (let ended = await endAll(); ended.length > 0; ended = await endAll()) {
      expect(ended.length).toBeLessThanOrEqual(2)
      const { rows } = await world.pool.query<{ root_id: string }>(
        'select root_id from object where id = any($1) order by id',
        [ended.map(({ objectId }) => objectId)],
      )
      order.push(...rows.map(({ root_id }) => root_id))
    }
    expect(order).toEqual(ids)
  })

  test('over all projects', async () => {
    await setCapacity(world.pool, { maxWorkers: 3, maxJobs: 100 })
    const ids = [...(await addMany(await project(), 2)), ...(await addMany(await project(), 2))]
    expect(await started(ids)).toBe(3)
  })

  test('of events that are created in one transaction', async () => {
    const name = await project({ maxWorkers: 3 })
    const create = () => accepted(world.pipelines.createEvent(USER, { project: name, source: 's', type: 't' }))
    const ids = (await Promise.all(Array.from({ length: 10 }, create))).flatMap(({ eventIds }) => eventIds)
    expect(await started(ids)).toBe(3)
    await endAll()
    expect(await started(ids)).toBe(6)
  })

  test('one that is reached holds up no other project', async () => {
    const [full, free] = [await project({ maxWorkers: 1 }), await project()]
    const waiting = await addMany(full, 2)
    expect(await started(waiting)).toBe(1)
    expect(await started(await addMany(free, 2))).toBe(2)
    await endAll()
    expect(await started(waiting)).toBe(2)
  })

  test('a higher limit lets those that wait start', async () => {
    const name = await project({ maxWorkers: 1 })
    const ids = await addMany(name, 3)
    expect(await started(ids)).toBe(1)
    await accepted(world.projects.updateProject(USER, { name, limits: { maxWorkers: 3 } }))
    await world.settle()
    expect(await started(ids)).toBe(3)
  })

  test('a slot is free again after every way to end, deletion included', async () => {
    const name = await project({ maxWorkers: 1 })
    const [first = '', second = '', third = '', fourth = ''] = await addMany(name, 4)
    await accepted(world.pipelines.cancelEvent(USER, { id: first }))
    await world.settle()
    expect(await phaseOf(world, second)).toBe('STARTING')
    await accepted(world.pipelines.deleteEvent(USER, { id: second }))
    await world.settle()
    expect(await phaseOf(world, third)).toBe('STARTING')
    world.clock.advance(300_000)
    await world.settle()
    expect(await phaseOf(world, third)).toBe('SCHEDULING_FAILED')
    expect(await phaseOf(world, fourth)).toBe('STARTING')
  })

  test('workers that wait for their jobs cannot starve them: jobs have slots of their own', async () => {
    const name = await project({ maxWorkers: 1, maxJobs: 1 })
    const [id = ''] = await addMany(name, 1)
    await runAll(world)
    await addJob(world, id, 'one')
    await addJob(world, id, 'two')
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'RUNNING', one: 'STARTING', two: 'PENDING' })
    await endAll()
    expect(await phasesOf(world, id)).toMatchObject({ one: 'SUCCEEDED', two: 'STARTING' })
  })
})

describe('a slot of what its runtime has not ended', () => {
  const TO_END: readonly (readonly [string, (id: string, fence: string) => Promise<unknown>])[] = [
    ['cancelled', (id) => accepted(world.pipelines.cancelEvent(USER, { id }))],
    ['timed out', () => pass(5_000)],
  ]
  const pass = async (ms: number) => {
    world.clock.advance(ms)
    await world.settle()
  }
  async function ended(how: (typeof TO_END)[number]) {
    const name = await project({ maxWorkers: 1 })
    await accepted(
      world.projects.updateProject(USER, { name, workerTemplate: { command: ['true'], timeoutMs: 5_000 } }),
    )
    const [first = '', second = ''] = await addMany(name, 2)
    const [item] = await runAll(world)
    await how[1](first, item?.fence ?? '')
    await world.settle()
    expect(['ABORTED', 'TIMED_OUT']).toContain(await phaseOf(world, first))
    expect(await phaseOf(world, second)).toBe('PENDING')
    return { first, second }
  }

  test.each(TO_END)('that was %s is held until it is removed', async (...how) => {
    const { second } = await ended(how)
    const removals = await claimAt(world)
    expect(removals.map(({ action }) => action)).toEqual(['REMOVE'])
    // The runtime renews while it waits for the process.
    for (let waited = 0; waited < 60_000; waited += 20_000) {
      await pass(20_000)
      await accepted(
        world.engineHost.agents.renew(
          RUNTIME,
          removals.map(({ fence }) => fence),
          30_000,
        ),
      )
      expect(await phaseOf(world, second)).toBe('PENDING')
    }
    await sendReport(world, { fence: removals[0]?.fence ?? '', done: true })
    expect(await phaseOf(world, second)).toBe('STARTING')
    const { rows } = await world.pool.query('select due_at from work where state = 2 and due_at is not null')
    expect(rows).toEqual([])
  })

  test.each(TO_END)('that was %s is held no longer than the lease of its lost runtime', async (...how) => {
    const { second } = await ended(how)
    const passed = how[0] === 'timed out' ? 5_000 : 0
    await pass(29_999 - passed)
    expect(await phaseOf(world, second)).toBe('PENDING')
    await pass(1)
    expect(await phaseOf(world, second)).toBe('STARTING')
    const { rows } = await world.pool.query('select from work where due_at <= $1 and state < 2', [world.clock.now()])
    expect(rows).toEqual([])
  })

  test('is free when the event is deleted after its end', async () => {
    const { first, second } = await ended(TO_END[0] as (typeof TO_END)[number])
    await accepted(world.pipelines.deleteEvent(USER, { id: first }))
    await world.settle()
    expect(await phaseOf(world, second)).toBe('STARTING')
  })

  test('is free at once when its runtime ends it, or none has begun it', async () => {
    const [first = '', second = '', third = ''] = await addMany(await project({ maxWorkers: 1 }), 3)
    await accepted(world.pipelines.cancelEvent(USER, { id: first }))
    await world.settle()
    const [item] = await runAll(world)
    await sendReport(world, { fence: item?.fence ?? '', phase: 'ABORTED' })
    expect(await phaseOf(world, second)).toBe('ABORTED')
    expect(await phaseOf(world, third)).toBe('STARTING')
  })
})

describe('fair between projects', () => {
  test('a quiet project does not wait for a flooding one', async () => {
    await setCapacity(world.pool, { maxWorkers: 4, maxJobs: 100 })
    const flood = await addMany(await project(), 20)
    const [quiet = ''] = await addMany(await project(), 1)
    expect(await started([...flood, quiet])).toBe(4)
    const [first] = await runAll(world)
    await sendReport(world, { fence: first?.fence ?? '', ...succeeded })
    expect(await phaseOf(world, quiet)).toBe('STARTING')
    expect(await started(flood)).toBe(4)
  })
})

describe('what waits is never forgotten', () => {
  test('when the wake request of a free slot is lost, the periodic recovery repeats it', async () => {
    const name = await project({ maxWorkers: 1 })
    const ids = await addMany(name, 2)
    const [first] = await runAll(world)
    await accepted(world.engineHost.agents.report(RUNTIME, [{ fence: first?.fence ?? '', ...succeeded }]))
    await world.pool.query('delete from wake')
    await world.settle()
    expect(await started(ids)).toBe(1)
    await world.recoverStalled()
    await world.settle()
    expect(await started(ids)).toBe(2)
  })

  test('a waiter that is deleted gives its turn to the one after it', async () => {
    const name = await project({ maxWorkers: 1 })
    const [, second = '', third = ''] = await addMany(name, 3)
    const [first] = await runAll(world)
    // The second is woken for the slot and cancelled before its rules run.
    await accepted(world.engineHost.agents.report(RUNTIME, [{ fence: first?.fence ?? '', ...succeeded }]))
    await accepted(world.pipelines.cancelEvent(USER, { id: second }))
    await world.settle()
    expect(await phaseOf(world, second)).toBe('CANCELED')
    expect(await phaseOf(world, third)).toBe('STARTING')
  })
})

test('slots of several events that end in one call are given again, in each pool', async () => {
  await setCapacity(world.pool, { maxWorkers: 3, maxJobs: 1 })
  const ids = await addMany(await project(), 5)
  const workers = await runAll(world)
  await addJob(world, ids[0] ?? '', 'one')
  await addJob(world, ids[1] ?? '', 'two')
  const [job] = await runAll(world)
  const reports = [job, ...workers.slice(1)].map((item) => ({ fence: item?.fence ?? '', ...succeeded }))
  await accepted(world.engineHost.agents.report(RUNTIME, reports))
  await world.settle()
  expect(await started(ids)).toBe(5)
  // Its worker has ended with the others.
  expect(await phasesOf(world, ids[1] ?? '')).toMatchObject({ two: 'CANCELED' })
})

test('a new event does not overtake one that waits for a slot', async () => {
  await setCapacity(world.pool, { maxWorkers: 1, maxJobs: 100 })
  const [, waiting = ''] = await addMany(await project(), 2)
  const other = await project()
  const [first] = await runAll(world)
  // The one that waits is woken for the slot; its rules have not run yet.
  await accepted(world.engineHost.agents.report(RUNTIME, [{ fence: first?.fence ?? '', ...succeeded }]))
  const { eventIds } = await accepted(world.pipelines.createEvent(USER, { project: other, source: 's', type: 't' }))
  await world.settle()
  expect(await phaseOf(world, waiting)).toBe('STARTING')
  expect(await phaseOf(world, eventIds[0] ?? '')).toBe('PENDING')
})

describe('two engines at once', () => {
  test('never give more slots than there are', async () => {
    await setCapacity(world.pool, { maxWorkers: 5, maxJobs: 100 })
    const name = await project()
    const create = () => accepted(world.pipelines.createEvent(USER, { project: name, source: 's', type: 't' }))
    const created = await Promise.all(Array.from({ length: 40 }, create))
    const ids = created.flatMap(({ eventIds }) => eventIds)
    await using other = await world.second()
    await Promise.all(
      ids.flatMap((id) => [world.engineHost.runner.reconcile(id, false), other.runner.reconcile(id, false)]),
    )
    await world.settle()
    expect(await started(ids)).toBe(5)
    expect((await claimAt(world)).length).toBe(5)
  })

  test('wait for each other: the next waiter may change while a start is not committed yet', async () => {
    await setCapacity(world.pool, { maxWorkers: 1, maxJobs: 100 })
    const [slow = ''] = await addMany(await project(), 1)
    await world.pool.query(
      `update workload set state = 0 where object_id in (select id from object where root_id = $1)`,
      [slow],
    )
    const engine = await world.pool.connect()
    try {
      // One engine has decided that the slot is this one's, and has not committed yet.
      await engine.query('begin')
      const worker = (await treeOf(world, slow)).worker?.id ?? ''
      await grantSlots(engine, slow, [{ id: worker, pool: 'WORKER', limits: [], now: '2026-11-30' }])
      const quiet = await project()
      const creating = accepted(world.pipelines.createEvent(USER, { project: quiet, source: 's', type: 't' }))
      const blocked = `select from pg_locks where locktype = 'advisory' and not granted and database = (
        select oid from pg_database where datname = current_database())`
      await until(async () => (await world.pool.query(blocked)).rowCount === 1, { what: 'the other one waits' })
      await engine.query('update workload set state = 1 where object_id = $1', [worker])
      await engine.query('commit')
      expect(await phaseOf(world, (await creating).eventIds[0] ?? '')).toBe('PENDING')
    } finally {
      engine.release()
    }
  })
})
