import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LimitInput } from '../../../src/families/flow/rules/normalise-limit.ts'
import { setCapacity } from '../../../src/families/pipelines/store/slots.ts'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  claimAt,
  failed,
  phaseOf,
  phasesOf,
  refused,
  runAll,
  sendReport,
  succeeded,
  TEMPLATE,
} from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** Strategies: a newer worker or job comes with the key of older ones. Debounces: it waits for newer ones. */

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
async function project(limit: LimitInput, more: object = {}): Promise<string> {
  const name = `newest-${++projects}`
  const workerTemplate = { ...TEMPLATE, limits: [{ limit: 'ref', key: `\${event.type}` }], ...more }
  await addProject(world, name, { workerTemplate })
  await accepted(world.services.flow.createLimit(USER, { project: name, name: 'ref', ...limit }))
  return name
}
async function add(name: string, ...types: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const type of types) {
    ids.push(await addEvent(world, name, { type }))
    await world.settle()
  }
  return ids
}
const phases = (ids: readonly string[]) => Promise.all(ids.map((id) => phaseOf(world, id)))
const errorOf = async (id = '') => {
  const { rows } = await world.pool.query<{ error: object | null }>(
    `select s.error from object o join object_status s on s.object_id = o.id where o.root_id = $1 and o.kind = 'WORKER'`,
    [id],
  )
  return rows[0]?.error
}
const endAll = async (report: object = succeeded) => {
  for (const { fence, action } of await runAll(world))
    if (action === 'START') await sendReport(world, { fence, ...report })
}
const endRemovals = async () => {
  world.clock.advance(30_000)
  await world.settle()
  for (const { fence, action } of await claimAt(world))
    if (action === 'REMOVE') await sendReport(world, { fence, done: true })
  await world.settle()
}
const tickets = async () => (await world.pool.query('select from limit_ticket')).rowCount

describe('a newer one', () => {
  test('takes the place of those that wait, and of nobody with another key (LATEST_ONLY)', async () => {
    const name = await project({ maxPerKey: 1, strategy: 'LATEST_ONLY' })
    const ids = await add(name, 'main', 'main', 'topic', 'topic', 'main', 'main')
    expect(await phases(ids)).toEqual(['STARTING', 'CANCELED', 'STARTING', 'PENDING', 'CANCELED', 'PENDING'])
    expect(await errorOf(ids[1])).toMatchObject({
      code: 'SUPERSEDED',
      message: 'event-5 has taken its place at the limit ref, with the key main.',
    })
    await endAll()
    expect(await phases(ids)).toEqual(['SUCCEEDED', 'CANCELED', 'SUCCEEDED', 'STARTING', 'CANCELED', 'STARTING'])
    await endAll()
    expect(await tickets()).toBe(0)
  })

  test('takes the place of those that run, and starts once their process has ended (CANCEL_RUNNING)', async () => {
    const name = await project({ maxPerKey: 1, strategy: 'CANCEL_RUNNING' })
    const [first = '', other = ''] = await add(name, 'main', 'topic')
    const running = await runAll(world)
    const [second = '', third = ''] = await add(name, 'main', 'main')
    expect(await phases([first, second, third, other])).toEqual(['ABORTED', 'CANCELED', 'PENDING', 'RUNNING'])
    expect(await errorOf(first)).toMatchObject({
      code: 'SUPERSEDED',
      message: 'event-3 has taken its place at the limit ref, with the key main.',
    })
    expect(running.length).toBe(2)
    await endRemovals()
    expect(await phaseOf(world, third)).toBe('STARTING')
  })

  test('is not started while an older one waits or runs (SKIP)', async () => {
    const name = await project({ strategy: 'SKIP' })
    const ids = await add(name, 'main', 'main', 'topic')
    expect(await phases(ids)).toEqual(['STARTING', 'CANCELED', 'STARTING'])
    expect(await errorOf(ids[1])).toMatchObject({
      code: 'SKIPPED',
      message: 'event-1 has the limit ref, with the key main.',
    })
    await endAll()
    expect(await phases(await add(name, 'main'))).toEqual(['STARTING'])
  })

  test('comes before a further attempt of an older one, which gives way', async () => {
    const retry = { attempts: 2, backoff: { initialMs: 60_000, jitter: 0 } }
    const name = await project({ maxPerKey: 1, strategy: 'LATEST_ONLY' }, { retry })
    const [first = ''] = await add(name, 'main')
    await endAll({ ...failed, error: { code: 'EXIT_CODE', message: 'It exited with 3.' } })
    expect(await phaseOf(world, first)).toBe('PENDING')
    const [second = ''] = await add(name, 'main')
    world.clock.advance(30_000)
    await endRemovals()
    expect(await phases([first, second])).toEqual(['CANCELED', 'STARTING'])
    expect(await errorOf(first)).toMatchObject({ code: 'SUPERSEDED' })
  })

  test('of jobs takes the place of jobs alone', async () => {
    const name = await project({ maxPerKey: 1, strategy: 'CANCEL_RUNNING' })
    const [event = ''] = await add(name, 'main')
    await runAll(world)
    const spec = { ...TEMPLATE, limits: [{ limit: 'ref', key: 'jobs' }] }
    for (const job of ['a', 'b']) await addJob(world, event, job, spec)
    expect(await phasesOf(world, event)).toMatchObject({ worker: 'RUNNING', a: 'ABORTED', b: 'STARTING' })
  })

  test('of several that ask in one transaction is the last', async () => {
    const name = await project({ maxPerKey: 2, strategy: 'LATEST_ONLY' })
    await accepted(world.projects.updateProject(USER, { name, limits: { maxWorkers: 0 } }))
    const ids = [...(await add(name, 'main', 'topic'))]
    await Promise.all(
      Array.from({ length: 5 }, () => addEvent(world, name, { type: 'main' }).then((id) => ids.push(id))),
    )
    await world.settle()
    await accepted(world.projects.updateProject(USER, { name, limits: { maxWorkers: null } }))
    await world.settle()
    const seen = await phases(ids.toSorted())
    expect(seen).toEqual(['CANCELED', 'STARTING', 'CANCELED', 'CANCELED', 'CANCELED', 'CANCELED', 'STARTING'])
  })
})

describe('a debounce', () => {
  const wait = async (ms: number) => {
    world.clock.advance(ms)
    await world.settle()
  }

  test('starts the newest of a key once none has come for its time', async () => {
    const name = await project({ strategy: 'LATEST_ONLY', debounceMs: 30_000 })
    const [first = ''] = await add(name, 'main')
    await wait(20_000)
    const [second = '', other = ''] = await add(name, 'main', 'topic')
    expect(await phases([first, second, other])).toEqual(['CANCELED', 'PENDING', 'PENDING'])
    await wait(29_900)
    expect(await phases([second, other])).toEqual(['PENDING', 'PENDING'])
    await wait(200)
    expect(await phases([second, other])).toEqual(['STARTING', 'STARTING'])
    await endAll()
    expect(await tickets()).toBe(0)
  })

  test('does not hold back a further attempt', async () => {
    const retry = { attempts: 2, backoff: { initialMs: 1_000, jitter: 0 } }
    const name = await project({ strategy: 'LATEST_ONLY', debounceMs: 30_000 }, { retry })
    const [id = ''] = await add(name, 'main')
    await wait(30_000)
    await endAll({ ...failed, error: { code: 'EXIT_CODE', message: 'It exited with 3.' } })
    await endRemovals()
    await wait(1_000)
    expect(await phaseOf(world, id)).toBe('STARTING')
  })

  test('that is edited counts anew for those that wait', async () => {
    const name = await project({ strategy: 'LATEST_ONLY', debounceMs: 3_600_000 })
    const [id = ''] = await add(name, 'main')
    await wait(5_000)
    const { rows } = await world.pool.query<{ id: string }>(
      'select l.id from flow_limit l join project p on p.id = l.project_id where p.name = $1',
      [name],
    )
    const edit = { id: rows[0]?.id ?? '', strategy: 'LATEST_ONLY' } as const
    await accepted(world.services.flow.updateLimit(USER, { ...edit, debounceMs: 60_000 }))
    await world.settle()
    expect(await phaseOf(world, id)).toBe('PENDING')
    await accepted(world.services.flow.updateLimit(USER, { ...edit, debounceMs: 4_000 }))
    await world.settle()
    expect(await phaseOf(world, id)).toBe('STARTING')
  })
})

test('a strategy without a bound is accepted, and a debounce takes one that replaces', async () => {
  const name = await project({ strategy: 'SKIP' })
  const create = (input: LimitInput) =>
    refused(world.services.flow.createLimit(USER, { project: name, name: 'other', ...input }))
  expect(await create({})).toMatchObject({ message: expect.stringContaining('a strategy other than QUEUE') })
  for (const strategy of ['QUEUE', 'SKIP'] as const)
    expect(await create({ max: 1, strategy, debounceMs: 1_000 })).toMatchObject({
      message: expect.stringContaining('LATEST_ONLY or CANCEL_RUNNING'),
    })
  expect(await create({ strategy: 'LATEST_ONLY', debounceMs: 1 })).toMatchObject({
    message: expect.stringContaining('from 100'),
  })
})
