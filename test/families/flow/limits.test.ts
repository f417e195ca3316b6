import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LimitRequestInput } from '../../../src/families/limit-requests.ts'
import { setCapacity } from '../../../src/families/pipelines/store/slots.ts'
import { declaredStatements } from '../../../src/store/statement.ts'
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
  refused,
  runAll,
  sendReport,
  succeeded,
  TEMPLATE,
  treeOf,
  workerViewer,
} from '../../testkit/pipelines.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

/** Limits of workers and jobs. */

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
interface Bounds {
  readonly max?: number
  readonly maxPerKey?: number
}
/** A project with these limits; its workers ask for those of `asks`. */
async function project(
  limits: Readonly<Record<string, Bounds>>,
  asks: readonly LimitRequestInput[] = [],
  more: object = {},
): Promise<string> {
  const name = `flow-${++projects}`
  await addProject(world, name, { workerTemplate: { ...TEMPLATE, limits: asks }, ...more })
  for (const [limit, bounds] of Object.entries(limits)) await addLimit(name, limit, bounds)
  return name
}
const addLimit = (in_: string, name: string, bounds: Bounds) =>
  accepted(world.services.flow.createLimit(USER, { project: in_, name, ...bounds }))
const idOf = async (in_: string, name: string): Promise<string> => {
  const { rows } = await world.pool.query<{ id: string }>(
    'select l.id from flow_limit l join project p on p.id = l.project_id where p.name = $1 and l.name = $2',
    [in_, name],
  )
  return rows[0]?.id ?? ''
}
/** New events of the project ask for these from now on. */
const ask = (name: string, ...limits: readonly LimitRequestInput[]) =>
  accepted(world.projects.updateProject(USER, { name, workerTemplate: { ...TEMPLATE, limits } }))
async function addMany(name: string, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await addEvent(world, name))
  return ids
}
const phases = (ids: readonly string[]) => Promise.all(ids.map((id) => phaseOf(world, id)))
/** Runs what is offered, and ends the worker of this event. */
async function end(id: string, report: object = succeeded): Promise<void> {
  const items = await runAll(world)
  const { rows } = await world.pool.query<{ root_id: string; id: string }>('select id, root_id from object')
  const rootOf = new Map(rows.map((row) => [row.id, row.root_id]))
  fences.push(...items)
  const item = fences.find((one) => rootOf.get(one.objectId) === id && one.action === 'START' && one.kind === 'WORKER')
  await sendReport(world, { fence: item?.fence ?? '', ...report })
}
const fences: Awaited<ReturnType<typeof runAll>>[number][] = []
const tickets = async () => (await world.pool.query('select from limit_ticket')).rowCount

describe('a limit', () => {
  test('of all keys starts in the order of arrival, and no more at once', async () => {
    const name = await project({ hosts: { max: 2 } }, [{ limit: 'hosts' }])
    const ids = await addMany(name, 4)
    expect(await phases(ids)).toEqual(['STARTING', 'STARTING', 'PENDING', 'PENDING'])
    await end(ids[1] ?? '')
    expect(await phases(ids)).toEqual(['RUNNING', 'SUCCEEDED', 'STARTING', 'PENDING'])
    await end(ids[0] ?? '')
    await end(ids[2] ?? '')
    await end(ids[3] ?? '')
    expect(await tickets()).toBe(0)
  })

  test('by key holds up nobody with another key', async () => {
    const name = await project({ hosts: { maxPerKey: 1 } }, [{ limit: 'hosts', key: 'a' }])
    const ofA = await addMany(name, 3)
    await ask(name, { limit: 'hosts', key: 'b' })
    const ofB = await addMany(name, 2)
    expect(await phases([...ofA, ...ofB])).toEqual(['STARTING', 'PENDING', 'PENDING', 'STARTING', 'PENDING'])
    await end(ofA[0] ?? '')
    expect(await phases([...ofA, ...ofB])).toEqual(['SUCCEEDED', 'STARTING', 'PENDING', 'RUNNING', 'PENDING'])
  })

  test('of all keys is shared by keys with a bound of their own', async () => {
    const name = await project({ hosts: { max: 2, maxPerKey: 1 } })
    const ids: string[] = []
    for (const key of ['a', 'a', 'b', 'c']) {
      await ask(name, { limit: 'hosts', key })
      ids.push(...(await addMany(name, 1)))
    }
    expect(await phases(ids)).toEqual(['STARTING', 'PENDING', 'STARTING', 'PENDING'])
    await end(ids[2] ?? '')
    // The second one has come first, and its key is not free.
    expect(await phases(ids)).toEqual(['RUNNING', 'PENDING', 'SUCCEEDED', 'STARTING'])
    await end(ids[0] ?? '')
    expect(await phases(ids)).toEqual(['SUCCEEDED', 'STARTING', 'SUCCEEDED', 'RUNNING'])
  })

  test('is taken with all others, or with none', async () => {
    const name = await project({ a: { max: 1 }, b: { max: 1 } }, [{ limit: 'a' }])
    const [onlyA = ''] = await addMany(name, 1)
    await ask(name, { limit: 'a' }, { limit: 'b' })
    const [both = ''] = await addMany(name, 1)
    await ask(name, { limit: 'b' })
    // It overtakes the one that waits for something else, and holds nothing.
    const [onlyB = ''] = await addMany(name, 1)
    expect(await phases([onlyA, both, onlyB])).toEqual(['STARTING', 'PENDING', 'STARTING'])
    await end(onlyA)
    expect(await phaseOf(world, both)).toBe('PENDING')
    await end(onlyB)
    expect(await phaseOf(world, both)).toBe('STARTING')
  })

  test('is not held by what waits for a slot, and what waits for it holds up no slot', async () => {
    const limits = { hosts: { max: 1 } }
    const name = await project(limits, [{ limit: 'hosts' }], { limits: { maxWorkers: 2 } })
    const [first = '', second = ''] = await addMany(name, 2)
    await ask(name)
    const [free = '', last = ''] = await addMany(name, 2)
    expect(await phases([first, second, free, last])).toEqual(['STARTING', 'PENDING', 'STARTING', 'PENDING'])
    await end(first)
    expect(await phases([first, second, free, last])).toEqual(['SUCCEEDED', 'STARTING', 'RUNNING', 'PENDING'])
  })

  test('is free again after every way to end', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = await addMany(name, 5)
    await accepted(world.pipelines.cancelEvent(USER, { id: first }))
    await world.settle()
    expect(await phaseOf(world, second)).toBe('STARTING')
    await accepted(world.pipelines.deleteEvent(USER, { id: second }))
    await world.settle()
    expect(await phaseOf(world, third)).toBe('STARTING')
    // A waiter leaves the queue.
    await accepted(world.pipelines.cancelEvent(USER, { id: fourth }))
    await world.settle()
    world.clock.advance(300_000)
    await world.settle()
    expect(await phases([third, fourth, fifth])).toEqual(['SCHEDULING_FAILED', 'CANCELED', 'STARTING'])
    await accepted(world.pipelines.deleteEvent(USER, { id: fifth }))
    await world.settle()
    expect(await tickets()).toBe(0)
  })

  test('is held by a cancelled process until its runtime has removed it', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [first = '', second = ''] = await addMany(name, 2)
    await runAll(world)
    await accepted(world.pipelines.cancelEvent(USER, { id: first }))
    await world.settle()
    expect(await phases([first, second])).toEqual(['ABORTED', 'PENDING'])
    const [removal] = await claimAt(world)
    expect(await phaseOf(world, second)).toBe('PENDING')
    await sendReport(world, { fence: removal?.fence ?? '', done: true })
    expect(await phaseOf(world, second)).toBe('STARTING')
  })

  test('is not held in a backoff: another attempt joins the end of the queue', async () => {
    const retry = { attempts: 2, backoff: { initialMs: 60_000, jitter: 0 } }
    const name = await project({ hosts: { max: 1 } })
    await accepted(
      world.projects.updateProject(USER, {
        name,
        workerTemplate: { ...TEMPLATE, retry, limits: [{ limit: 'hosts' }] },
      }),
    )
    const [first = '', second = ''] = await addMany(name, 2)
    await end(first, { ...failed, error: { ...failed.error, retryable: null } })
    expect(await phases([first, second])).toEqual(['PENDING', 'STARTING'])
    const removals = await claimAt(world)
    for (const { fence, action } of removals) if (action === 'REMOVE') await sendReport(world, { fence, done: true })
    world.clock.advance(60_000)
    await world.settle()
    expect(await phaseOf(world, first)).toBe('PENDING')
    await accepted(world.pipelines.cancelEvent(USER, { id: second }))
    await world.settle()
    for (const { fence, action } of await claimAt(world))
      if (action === 'REMOVE') await sendReport(world, { fence, done: true })
    expect(await phaseOf(world, first)).toBe('STARTING')
  })

  test('is held by an attempt that begins in the transaction in which the last one has given it back', async () => {
    const retry = { attempts: 2, backoff: { initialMs: 0, jitter: 0 }, attemptTimeoutMs: 5_000 }
    const workerTemplate = { ...TEMPLATE, retry, limits: [{ limit: 'hosts' }] }
    const name = await project({ hosts: { max: 1 } }, [], { workerTemplate })
    const [first = ''] = await addMany(name, 1)
    await runAll(world)
    world.clock.advance(5_000)
    await world.settle()
    expect(await phaseOf(world, first)).toBe('PENDING')
    const [removal] = await claimAt(world)
    world.clock.advance(10_000)
    await sendReport(world, { fence: removal?.fence ?? '', done: true })
    expect(await phaseOf(world, first)).toBe('STARTING')
    const [second = ''] = await addMany(name, 1)
    expect(await phaseOf(world, second)).toBe('PENDING')
  })

  test('is not waited for by a paused tree, which keeps its place', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [first = '', second = '', third = ''] = await addMany(name, 3)
    await accepted(world.services.pause(USER, { id: second }))
    await end(first)
    expect(await phases([second, third])).toEqual(['PENDING', 'STARTING'])
    const [fourth = ''] = await addMany(name, 1)
    await accepted(world.services.resume(USER, { id: second }))
    await world.settle()
    await end(third)
    expect(await phases([second, fourth])).toEqual(['STARTING', 'PENDING'])
  })
})

describe('a job', () => {
  test('shares limits with workers, and does not ask for what its worker holds', async () => {
    const name = await project({ hosts: { max: 1 }, disks: { max: 1 } }, [{ limit: 'hosts', key: 'a' }])
    const [id = ''] = await addMany(name, 1)
    await runAll(world)
    await addJob(world, id, 'inside', { ...TEMPLATE, limits: [{ limit: 'hosts', key: 'a' }] })
    await addJob(world, id, 'one', { ...TEMPLATE, limits: [{ limit: 'disks' }] })
    await addJob(world, id, 'two', { ...TEMPLATE, limits: [{ limit: 'disks' }] })
    expect(await phasesOf(world, id)).toMatchObject({ inside: 'STARTING', one: 'STARTING', two: 'PENDING' })
    // With another key, it would be a second one of the limit.
    await addJob(world, id, 'outside', { ...TEMPLATE, limits: [{ limit: 'hosts', key: 'b' }] })
    expect(await phasesOf(world, id)).toMatchObject({ outside: 'PENDING' })
    const items = await runAll(world)
    for (const { fence, name: job } of items) if (job === 'one') await sendReport(world, { fence, ...succeeded })
    expect(await phasesOf(world, id)).toMatchObject({ one: 'SUCCEEDED', two: 'STARTING' })
  })

  test('is not held up by a worker that waits for the slot of its own worker', async () => {
    const limits = { hosts: { max: 1 } }
    const name = await project(limits, [], { limits: { maxWorkers: 1 } })
    const [id = ''] = await addMany(name, 1)
    await runAll(world)
    await ask(name, { limit: 'hosts' })
    const [waiting = ''] = await addMany(name, 1)
    await addJob(world, id, 'job', { ...TEMPLATE, limits: [{ limit: 'hosts' }] })
    expect(await phaseOf(world, waiting)).toBe('PENDING')
    expect(await phasesOf(world, id)).toMatchObject({ job: 'STARTING' })
  })
})

describe('a key', () => {
  const keys = async () =>
    (await world.pool.query<{ key: string }>('select key from limit_ticket order by seq')).rows.map(({ key }) => key)

  test('has expressions over the event, of jobs too', async () => {
    const key = '${event.qualifiers.repo}/${event.payload.branch}'
    const name = await project({ hosts: { maxPerKey: 1 } }, [{ limit: 'hosts', key }])
    const push = (branch: string) =>
      addEvent(world, name, { qualifiers: [{ key: 'repo', value: 'shop' }], payload: JSON.stringify({ branch }) })
    const ids = [await push('main'), await push('main'), await push('next')]
    expect(await keys()).toEqual(['shop/main', 'shop/main', 'shop/next'])
    expect(await phases(ids)).toEqual(['STARTING', 'PENDING', 'STARTING'])
    await runAll(world)
    const limits = [
      { limit: 'hosts', key },
      { limit: 'hosts', key: '${event.labels.team}' },
    ]
    await addJob(world, ids[0] ?? '', 'job', { ...TEMPLATE, limits: limits.slice(0, 1) })
    expect(await phasesOf(world, ids[0] ?? '')).toMatchObject({ job: 'STARTING' })
    // It has no such label.
    await addJob(world, ids[0] ?? '', 'other', { ...TEMPLATE, limits })
    expect((await treeOf(world, ids[0] ?? '')).other).toMatchObject({ phase: 'SCHEDULING_FAILED', code: 'EXPRESSION' })
    expect(await keys()).toEqual(['shop/main', 'shop/main', 'shop/next'])
  })

  test('is resolved once: a value that looks like an expression is none', async () => {
    const name = await project({ hosts: { maxPerKey: 1 } }, [{ limit: 'hosts', key: '${event.payload}' }])
    const push = () => addEvent(world, name, { payload: JSON.stringify('${event.none}') })
    const [first, second] = [await push(), await push()]
    expect(await keys()).toEqual(['${event.none}', '${event.none}'])
    await end(first)
    expect(await phases([first, second])).toEqual(['SUCCEEDED', 'STARTING'])
  })

  test('must be readable', async () => {
    const name = await project({})
    const limits = [{ limit: 'hosts', key: '${event.type' }]
    const update = world.projects.updateProject(USER, { name, workerTemplate: { ...TEMPLATE, limits } })
    expect(await refused(update)).toMatchObject({ fields: [{ path: 'input.workerTemplate.limits.0.key' }] })
  })
})

describe('the record', () => {
  test('with a higher bound starts what waits, and with a lower one ends nothing', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const ids = await addMany(name, 4)
    const id = await idOf(name, 'hosts')
    await accepted(world.services.flow.updateLimit(USER, { id, max: 3 }))
    await world.settle()
    expect(await phases(ids)).toEqual(['STARTING', 'STARTING', 'STARTING', 'PENDING'])
    await accepted(world.services.flow.updateLimit(USER, { id, max: 2, expectedGeneration: 2 }))
    await end(ids[0] ?? '')
    expect(await phases(ids)).toEqual(['SUCCEEDED', 'RUNNING', 'RUNNING', 'PENDING'])
    await end(ids[1] ?? '')
    expect(await phases(ids)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'RUNNING', 'STARTING'])
  })

  test('that is deleted is asked for no longer; a new event that asks for it is refused', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const ids = await addMany(name, 3)
    await accepted(world.services.flow.deleteLimit(USER, { id: await idOf(name, 'hosts') }))
    await world.settle()
    expect(await phases(ids)).toEqual(['STARTING', 'STARTING', 'STARTING'])
    const create = () => world.pipelines.createEvent(USER, { project: name, source: 's', type: 't' })
    expect(await refused(create())).toMatchObject({
      type: 'InvalidInputError',
      fields: [{ path: 'input.project', message: expect.stringContaining('hosts') }],
    })
    await addLimit(name, 'hosts', { max: 1 })
    await accepted(create())
    await world.settle()
    expect(await tickets()).toBe(1)
  })

  test('that is deleted holds up nobody who waits for a slot besides, while others wait for limits', async () => {
    const busy = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    await addMany(busy, 2)
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }], { limits: { maxWorkers: 1 } })
    const [first = '', second = ''] = await addMany(name, 2)
    await accepted(world.services.flow.deleteLimit(USER, { id: await idOf(name, 'hosts') }))
    await world.settle()
    expect(await phases([first, second])).toEqual(['STARTING', 'PENDING'])
    await end(first)
    expect(await phases([first, second])).toEqual(['SUCCEEDED', 'STARTING'])
  })

  test('that one project lacks keeps no other project from an event to which both have subscribed', async () => {
    const subscriptions = [{ source: 'of-two', types: ['*'] }]
    const names = [await project({}, [{ limit: 'hosts' }], { subscriptions }), await project({}, [], { subscriptions })]
    const create = () => world.pipelines.createEvent(USER, { source: 'of-two', type: 't', idempotencyKey: 'once' })
    expect(await refused(create())).toMatchObject({ fields: [{ message: expect.stringContaining('the limit hosts') }] })
    const { rows } = await world.pool.query('select from object where kind = $1', ['EVENT'])
    expect(rows).toHaveLength(1)
    await addLimit(names[0] ?? '', 'hosts', { max: 1 })
    expect((await accepted(create())).eventIds).toHaveLength(2)
  })

  test('that is gone is not asked for by a retry of its event', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [id = ''] = await addMany(name, 1)
    await end(id)
    await accepted(world.services.flow.deleteLimit(USER, { id: await idOf(name, 'hosts') }))
    const { objectId } = await accepted(world.pipelines.retryEvent(USER, { id }))
    await world.settle()
    expect(await phaseOf(world, objectId)).toBe('STARTING')
  })

  test('that a job asks for must be there', async () => {
    const name = await project({})
    const [id = ''] = await addMany(name, 1)
    await runAll(world)
    const spec = { ...TEMPLATE, limits: [{ limit: 'hosts' }] }
    const create = () => world.pipelines.createJob(workerViewer(id), { name: 'job', spec })
    expect(await refused(create())).toMatchObject({ fields: [{ path: 'input.spec.limits.0.limit' }] })
    await addLimit(name, 'hosts', { max: 1 })
    const { objectId } = await accepted(create())
    // The same job, though its limit is gone.
    await accepted(world.services.flow.deleteLimit(USER, { id: await idOf(name, 'hosts') }))
    expect(await accepted(create())).toMatchObject({ objectId })
  })

  test('needs a bound', async () => {
    const name = await project({})
    const create = (bounds: object) => world.services.flow.createLimit(USER, { project: name, name: 'x', ...bounds })
    expect(await refused(create({}))).toMatchObject({ fields: [{ path: 'input' }] })
    expect(await refused(create({ max: 0 }))).toMatchObject({ fields: [{ path: 'input.max' }] })
    await accepted(create({ maxPerKey: 1 }))
    expect(await refused(create({ max: 1 }))).toMatchObject({ type: 'ConflictError', code: 'ALREADY_EXISTS' })
  })
})

describe('what waits is never forgotten', () => {
  test('when the wake request of a free limit is lost, the periodic recovery repeats it', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [first = '', second = ''] = await addMany(name, 2)
    const [item] = await runAll(world)
    await accepted(world.engineHost.agents.report(RUNTIME, [{ fence: item?.fence ?? '', ...succeeded }]))
    await world.pool.query('delete from wake')
    await world.settle()
    expect(await phases([first, second])).toEqual(['SUCCEEDED', 'PENDING'])
    await world.recoverStalled()
    await world.settle()
    expect(await phaseOf(world, second)).toBe('STARTING')
  })

  test('when an engine that knows no limits has ended what held one', async () => {
    const name = await project({ hosts: { max: 1 } }, [{ limit: 'hosts' }])
    const [first = '', second = ''] = await addMany(name, 2)
    const worker = (await treeOf(world, first)).worker?.id
    await world.pool.query('update workload set state = 2 where object_id = $1', [worker])
    await world.recoverStalled()
    await world.settle()
    expect(await phaseOf(world, second)).toBe('STARTING')
  })
})

describe('two engines at once', () => {
  test('never grant more than there is', async () => {
    const name = await project({ hosts: { max: 5, maxPerKey: 2 } })
    const ids: string[] = []
    for (const key of ['a', 'b', 'c']) {
      await ask(name, { limit: 'hosts', key })
      const create = () => accepted(world.pipelines.createEvent(USER, { project: name, source: 's', type: 't' }))
      const created = await Promise.all(Array.from({ length: 8 }, create))
      ids.push(...created.flatMap(({ eventIds }) => eventIds))
    }
    await using other = await world.second()
    const both = (id: string) => [world.engineHost.runner.reconcile(id, false), other.runner.reconcile(id, false)]
    for (let ended = 0; ended < ids.length; ) {
      await Promise.all(ids.flatMap(both))
      await world.settle()
      const items = (await runAll(world)).filter(({ action }) => action === 'START')
      expect(items.length).toBeGreaterThan(0)
      expect(await held()).toEqual({ all: expect.toBeOneOf([1, 2, 3, 4, 5]), most: expect.toBeOneOf([1, 2]) })
      // Ends and starts run beside each other.
      const { agents } = world.engineHost
      await Promise.all([
        ...items.map(({ fence }) => agents.report(RUNTIME, [{ fence, ...succeeded }])),
        ...ids.flatMap(both),
      ])
      await world.settle()
      ended += items.length
    }
    expect(new Set(await phases(ids))).toEqual(new Set(['SUCCEEDED']))
    expect(await tickets()).toBe(0)
  })
  const held = async () => {
    const { rows } = await world.pool.query(
      `select sum(n)::int as "all", max(n)::int as most from (
        select count(*) as n from limit_ticket where granted_at is not null group by key) k`,
    )
    return rows[0]
  }
})

test('a grant and a wake read as many rows with 60 waiters as with 20', async () => {
  await using own = await createWorld({ ownDatabase: true })
  await accepted(own.services.flow.createLimit(USER, { project: 'default', name: 'hosts', max: 1 }))
  const wait = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const limits = [{ limit: 'hosts', key: `key-${n}` }]
      await accepted(own.projects.updateProject(USER, { name: 'default', workerTemplate: { ...TEMPLATE, limits } }))
      await addEvent(own, 'default')
      await own.create(`shop-${n}`, { deployItems: [{ ...item('a'), limits }] })
    }
  }
  await wait(0, 20)
  const few = await rowsRead(own)
  await wait(20, 60)
  expect(await rowsRead(own)).toEqual(few)
})

/** The rows of queues that each statement reads at the moment after a limit is free. */
async function rowsRead({ pool }: World): Promise<Readonly<Record<string, number>>> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    for (const method of ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'])
      await client.query(`set local enable_${method} = off`)
    await client.query('delete from limit_ticket where granted_at is not null')
    const first = async (kind: string) => {
      const { rows } = await client.query<{ object_id: string }>(
        'select object_id from limit_ticket where kind = $1 order by seq limit 1',
        [kind],
      )
      return [rows[0]?.object_id]
    }
    const now = new Date()
    const values: Readonly<Record<string, readonly unknown[]>> = {
      'grant-slots': ['WORKER', null, await first('WORKER'), now],
      'wake-next-limited-slots': ['WORKER', null, now],
      'grant-limits': ['DEPLOY_ITEM', await first('DEPLOY_ITEM'), now],
      'wake-limit-tickets': [null, null, 1, now],
    }
    const read: Record<string, number> = {}
    for (const { name = '', text } of declaredStatements()) {
      if (!values[name]) continue
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (analyze, timing off, format json) ${text}`,
        values: [...values[name]],
      })
      read[name] = readBy(rows[0]?.['QUERY PLAN'][0].Plan)
    }
    return read
  } finally {
    await client.query('rollback')
    client.release()
  }
}
interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}
function readBy(plan: PlanNode | undefined): number {
  if (!plan) return 0
  const { 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0, Plans = [] } = plan
  const own = ['limit_ticket', 'workload', 'object'].includes(plan['Relation Name'] ?? '')
    ? (rows + removed) * loops
    : 0
  return Plans.reduce((sum, one) => sum + readBy(one), own)
}

test('a tree that asks for none sends no statement of limits', async () => {
  await using own = await createWorld({ ownDatabase: true })
  const live = async (project: string, limits: readonly LimitRequestInput[]) => {
    await addProject(own, project, { workerTemplate: TEMPLATE })
    await accepted(own.services.flow.createLimit(USER, { project, name: 'hosts', max: 1 }))
    await accepted(own.projects.updateProject(USER, { name: project, workerTemplate: { ...TEMPLATE, limits } }))
    const ids = [await addEvent(own, project), await addEvent(own, project)]
    await addJobOf(ids[0] ?? '')
    for (const { fence, action } of await runAll(own))
      if (action === 'START') await own.report({ fence, ...succeeded }, RUNTIME)
    for (const id of ids) await own.pipelines.cancelEvent(USER, { id })
    await own.settle()
    await own.create(`shop-${project}`, { deployItems: [{ ...item('a'), limits }] })
    await own.work()
  }
  const addJobOf = async (id: string) => {
    await runAll(own)
    await addJob(own, id, 'job')
  }
  await live('plain', [])
  const plain = await sentBy(own)
  expect(plain).toEqual(expect.arrayContaining(['next-slots', 'wake-next-slots']))
  expect(plain.filter(isOfLimits)).toEqual([])
  await accepted(own.services.flow.createLimit(USER, { project: 'default', name: 'hosts', max: 1 }))
  await live('limited', [{ limit: 'hosts' }])
  expect((await sentBy(own)).filter(isOfLimits).toSorted()).toEqual([
    'drop-limit-tickets-of-items',
    'drop-limit-tickets-of-workloads',
    'find-rivals-at-limits',
    'grant-limits',
    'grant-slots',
    'missing-limits',
    'ring-limit-tickets',
    'take-limit-tickets',
    'wake-limit-tickets',
    'wake-next-limited-slots',
  ])
})
const isOfLimits = (name: string): boolean => /limits|limit-tickets|limited-slots|grant-slots/.test(name)

/** Names of the statements that a world has sent so far. */
async function sentBy({ pool }: World): Promise<readonly string[]> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  try {
    const found = await Promise.all(
      clients.map((client) => client.query<{ name: string }>('select name from pg_prepared_statements')),
    )
    return [...new Set(found.flatMap(({ rows }) => rows.map(({ name }) => name)))]
  } finally {
    for (const client of clients) client.release()
  }
}
