import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LimitRequestInput } from '../../../src/families/limit-requests.ts'
import { forgetExpired } from '../../../src/store/limit-tickets.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { gql } from '../../testkit/gql.ts'
import {
  accepted,
  addEvent,
  addProject,
  phaseOf,
  refused,
  runAll,
  sendReport,
  succeeded,
  TEMPLATE,
} from '../../testkit/pipelines.ts'
import { seeded } from '../../testkit/seed.ts'
import { soak } from '../../testkit/soak.ts'
import { item, USER, type World } from '../../testkit/world.ts'

/** Rates, priorities, overrides and pauses of limits, with an engine. */

let api: Api
let world: World
beforeAll(async () => {
  api = await createApi()
  world = api.world
})
afterAll(() => api[Symbol.asyncDispose]())

type Bounds = Omit<Parameters<World['services']['flow']['createLimit']>[1], 'project' | 'name'>
let projects = 0
async function project(bounds: Bounds): Promise<{ readonly name: string; readonly id: string }> {
  const name = `rates-${++projects}`
  await addProject(world, name, { workerTemplate: TEMPLATE })
  const { objectId: id } = await accepted(
    world.services.flow.createLimit(USER, { project: name, name: 'api', ...bounds }),
  )
  return { name, id }
}
const ask = (name: string, ...limits: readonly LimitRequestInput[]) =>
  accepted(world.projects.updateProject(USER, { name, workerTemplate: { ...TEMPLATE, limits } }))
const at = (key: string, priority = 0): LimitRequestInput => ({ limit: 'api', key, priority })
async function add(name: string, ...requests: readonly LimitRequestInput[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const request of requests) {
    await ask(name, request)
    ids.push(await addEvent(world, name))
  }
  return ids
}
const phases = (ids: readonly string[]) => Promise.all(ids.map((id) => phaseOf(world, id)))
const wait = async (ms: number) => {
  world.clock.advance(ms)
  await world.settle()
}
const endAll = async () => {
  for (const { fence, action } of await runAll(world))
    if (action === 'START') await sendReport(world, { fence, ...succeeded })
}
const WAITS = 'PENDING'
const RUNS = 'STARTING'

test('a rate lets so many of a key start in any time of its length, each by its clock', async () => {
  const { name } = await project({ rate: { count: 2, perMs: 10_000 } })
  const ids = [...(await add(name, at('a'), at('b')))]
  await wait(4_000)
  ids.push(...(await add(name, at('a'), at('a'), at('a'))))
  expect(await phases(ids)).toEqual([RUNS, RUNS, RUNS, WAITS, WAITS])
  // The ends of those that have started free nothing.
  await endAll()
  expect((await phases(ids)).slice(3)).toEqual([WAITS, WAITS])
  await wait(5_999)
  expect((await phases(ids)).slice(3)).toEqual([WAITS, WAITS])
  await wait(1)
  expect((await phases(ids)).slice(3)).toEqual([RUNS, WAITS])
  await wait(3_999)
  expect((await phases(ids)).slice(3)).toEqual([RUNS, WAITS])
  await wait(1)
  expect((await phases(ids)).slice(3)).toEqual([RUNS, RUNS])
  await endAll()
})

test('a start counts, and an override holds, for a transaction that is judged by an earlier time than that of others', async () => {
  const { name, id } = await project({ rate: { count: 1, perMs: 1_000 }, maxPerKey: 5 })
  const later = (ms: number) => new Date(world.clock.now().getTime() + ms)
  const ids = [...(await add(name, at('a')))]
  await accepted(world.services.flow.overrideLimit(USER, { id, key: 'b', maxPerKey: 0, ttlMs: 2_000 }))
  await wait(900)
  // The process that clears up has a later time than one whose transaction has waited, or was frozen.
  await forgetExpired(world.pool, later(9_000))
  ids.push(...(await add(name, at('a'), at('b'))))
  expect(await phases(ids)).toEqual([RUNS, WAITS, WAITS])
  await wait(2_000)
  expect(await phases(ids)).toEqual([RUNS, RUNS, RUNS])
  await endAll()
  await forgetExpired(world.pool, later(24 * 3_600_000))
  const { rows } = await world.pool.query('select from limit_grant union all select from limit_override')
  expect(rows).toHaveLength(0)
})

test('the clock of a rate is handed on when its waiter leaves, or its tree is paused', async () => {
  const { name } = await project({ rate: { count: 1, perMs: 10_000 } })
  const [first = '', second = '', third = '', fourth = ''] = await add(name, at('a'), at('a'), at('a'), at('a'))
  await accepted(world.pipelines.cancelEvent(USER, { id: second }))
  await world.settle()
  await accepted(world.services.pause(USER, { id: third }))
  await world.settle()
  await wait(10_000)
  expect(await phases([first, second, third, fourth])).toEqual([RUNS, 'CANCELED', WAITS, RUNS])
  await accepted(world.services.resume(USER, { id: third }))
  await world.settle()
  await wait(10_000)
  expect(await phaseOf(world, third)).toBe(RUNS)
  await endAll()
})

test('an item waits for its rate, and the blocker says until when', async () => {
  await accepted(
    world.services.flow.createLimit(USER, { project: 'default', name: 'api', rate: { count: 1, perMs: 90_000 } }),
  )
  const limits = [{ limit: 'api', key: 'eu' }]
  const deployItems = ['a', 'b', 'c'].map((one) => ({ ...item(one), limits }))
  await world.create('shop', { deployItems })
  const BLOCKED = gql(`query ($id: ID!) { object(id: $id) { blockedBy { message
    ... on LimitBlocker { position holderCount expectedAt } } } }`)
  const blockers = async (one: string) => {
    const { id } = await world.see('shop', 'deploy-items', one)
    return (await api.query(BLOCKED, { id })).object?.blockedBy
  }
  const start = world.clock.now().getTime()
  const message = (time: string) => `The limit api lets 1 start in 1m30s with the key eu. ${time} at the earliest.`
  expect(await blockers('b')).toEqual([
    {
      message: message(`It is the next one of its key. It starts at ${clockAt(start + 90_000)} UTC`),
      ...{ position: 1, holderCount: 1, expectedAt: new Date(start + 90_000).toISOString() },
    },
  ])
  expect(await blockers('c')).toMatchObject([{ position: 2, expectedAt: new Date(start + 180_000).toISOString() }])
  expect(await world.work()).toEqual(['a'])
  await wait(90_000)
  expect(await world.work()).toEqual(['b'])
  await wait(90_000)
  expect(await world.work()).toEqual(['c'])
  expect((await world.see('shop')).phase).toBe('SUCCEEDED')
})
const clockAt = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

const EXPECTED = gql(`{ objects(first: 500, filter: { kinds: [DEPLOY_ITEM], project: "default" }) { edges { node {
  id phase blockedBy { ... on LimitBlocker { expectedAt message } }
} } } }`)
test('no start comes before its blocker expects it, and four of five that wait for a rate come within twice the time', async () => {
  const random = seeded()
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const { createLimit } = world.services.flow
  const perMs = 20_000
  await accepted(createLimit(USER, { project: 'default', name: 'paced', rate: { count: 2, perMs } }))
  await accepted(createLimit(USER, { project: 'default', name: 'both', max: 4, rate: { count: 3, perMs } }))
  /** Log-normal, about the time in which a place of the limit is needed. */
  const duration = () =>
    8_000 * Math.exp(0.8 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))
  const now = () => world.clock.now().getTime()
  const ends: { readonly fence: string; readonly at: number }[] = []
  const expected = new Map<string, { readonly asked: number; readonly at: number; readonly isRate: boolean }[]>()
  const started = new Map<string, number>()
  for (let step = 0; step < soak(70, 1_000); step++) {
    for (let n = pick([0, 0, 1, 1, 2]); n > 0; n--) {
      const limits = [{ limit: pick(['paced', 'both']), key: pick(['a', 'b', 'c']), priority: pick([0, 0, 0, 0, 5]) }]
      await world.create(`timed-${step}-${n}`, { deployItems: [{ ...item('one'), limits }] })
    }
    for (const one of ends.splice(0))
      if (one.at > now()) ends.push(one)
      else await world.report({ fence: one.fence, phase: 'SUCCEEDED' })
    for (const { fence } of await world.claim()) ends.push({ fence, at: now() + duration() })
    const { rows } = await world.pool.query<{ id: string; at: Date }>(
      "select object_id as id, granted_at as at from limit_ticket where granted_at is not null and kind = 'DEPLOY_ITEM'",
    )
    for (const { id, at } of rows) started.set(id, at.getTime())
    if (step % 5 === 0)
      for (const { node } of (await api.query(EXPECTED, {})).objects?.edges ?? [])
        for (const blocker of node.blockedBy)
          if ('expectedAt' in blocker && blocker.expectedAt) {
            const all = expected.get(node.id) ?? []
            expected.set(node.id, [
              ...all,
              { asked: now(), at: Date.parse(blocker.expectedAt), isRate: blocker.message.includes(' lets ') },
            ])
          }
    await wait(1_000)
  }
  const told = [...expected].flatMap(([id, all]) => {
    const at = started.get(id)
    return at === undefined ? [] : all.map((one) => ({ ...one, ratio: (at - one.asked) / (one.at - one.asked) }))
  })
  // A start that waits for the ends of others, too, comes when these end.
  const rated = told.filter(({ isRate }) => isRate)
  expect(rated.length).toBeGreaterThan(15)
  expect(told.filter(({ ratio }) => ratio < 1)).toEqual([])
  expect(rated.filter(({ ratio }) => ratio <= 2).length / rated.length).toBeGreaterThanOrEqual(0.8)
  for (const one of ends) await world.report({ fence: one.fence, phase: 'SUCCEEDED' })
})

test('a higher priority comes first, and keys take turns', async () => {
  const { name } = await project({ max: 1 })
  const ids = await add(name, at('a'), at('a'), at('a'), at('b'), at('b'), at('a', 5), at('c', -5))
  const order: number[] = []
  for (let n = 0; n < ids.length; n++) {
    const running = (await phases(ids)).indexOf(RUNS)
    order.push(running)
    await endAll()
  }
  expect(order).toEqual([0, 5, 1, 3, 2, 4, 6])
})

test('an override of a key holds until its time has passed, and what waits then starts by a clock', async () => {
  const { name, id } = await project({ maxPerKey: 2 })
  await accepted(world.services.flow.overrideLimit(USER, { id, key: 'a', maxPerKey: 0, ttlMs: 60_000 }))
  const ids = await add(name, at('a'), at('a'), at('a'), at('b'))
  expect(await phases(ids)).toEqual([WAITS, WAITS, WAITS, RUNS])
  await wait(59_999)
  expect(await phases(ids)).toEqual([WAITS, WAITS, WAITS, RUNS])
  await wait(1)
  expect(await phases(ids)).toEqual([RUNS, RUNS, WAITS, RUNS])
  await accepted(world.services.flow.overrideLimit(USER, { id, key: 'a', maxPerKey: 3, ttlMs: 60_000 }))
  await world.settle()
  expect(await phases(ids)).toEqual([RUNS, RUNS, RUNS, RUNS])
  // It ends nothing that runs, and before its time if it is asked to.
  await accepted(world.services.flow.overrideLimit(USER, { id, key: 'a' }))
  const [more = ''] = await add(name, at('a'))
  await endAll()
  expect(await phaseOf(world, more)).toBe(RUNS)
  await endAll()
})

test('an end lets one start whom an override keeps waiting until later', async () => {
  const { name, id } = await project({ maxPerKey: 2 })
  await accepted(world.services.flow.overrideLimit(USER, { id, key: 'a', maxPerKey: 1, ttlMs: 60_000 }))
  const ids = await add(name, at('a'), at('a'))
  expect(await phases(ids)).toEqual([RUNS, WAITS])
  await endAll()
  expect(await phases(ids)).toEqual(['SUCCEEDED', RUNS])
  await endAll()
})

test('a paused limit starts nothing, and goes on in its order', async () => {
  const { name, id } = await project({ max: 2 })
  const ids = await add(name, at('a'))
  await accepted(world.services.flow.pauseLimit(USER, { id, reason: 'new disks' }))
  const more = await add(name, at('a'), at('a', 1))
  expect(await phases([...ids, ...more])).toEqual([RUNS, WAITS, WAITS])
  const PAUSED = gql(`query ($project: String!) { limit(project: $project, name: "api") { pause { by reason } } }`)
  expect((await api.query(PAUSED, { project: name })).limit).toEqual({ pause: { by: USER.name, reason: 'new disks' } })
  await endAll()
  expect(await phases(more)).toEqual([WAITS, WAITS])
  await accepted(world.services.flow.resumeLimit(USER, { id }))
  await world.settle()
  expect(await phases(more)).toEqual([RUNS, RUNS])
  await endAll()
})

test('what is out of bounds is refused with its path', async () => {
  const { id } = await project({ max: 1 })
  const { createLimit, overrideLimit } = world.services.flow
  const limit = {
    project: 'default',
    name: 'wrong',
    rate: { count: 0, perMs: 10 },
    weights: [{ key: 'a', weight: 101 }],
  }
  const fields = async (asked: Promise<object>) =>
    ((await refused(asked as never)) as { fields?: readonly { path: string }[] }).fields?.map(({ path }) => path)
  expect(await fields(createLimit(USER, limit))).toEqual([
    ...['input.rate.count', 'input.rate.perMs', 'input.weights.0.weight'],
  ])
  expect(await fields(overrideLimit(USER, { id, key: 'a', maxPerKey: 1 }))).toEqual(['input.ttlMs'])
  const asked = world.projects.updateProject(USER, {
    name: 'default',
    workerTemplate: { ...TEMPLATE, limits: [at('a', 101)] },
  })
  expect(await fields(asked)).toEqual(['input.workerTemplate.limits.0.priority'])
})
