import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../../../src/core/ports/agents.ts'
import type { LimitRequestInput } from '../../../src/families/limit-requests.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { createWorld, DEPLOYER, item, TIMEOUTS, USER, type World } from '../../testkit/world.ts'

/** Limits of deploy items: one that waits is INIT, and not offered. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.pool.query('truncate object, work, wake, root_queue, flow_limit, data_object cascade'))

const addLimit = async (name: string, bounds: { readonly max?: number; readonly maxPerKey?: number }) =>
  (await accepted(world.services.flow.createLimit(USER, { project: 'default', name, ...bounds }))).objectId
const limited = (name: string, ...limits: readonly LimitRequestInput[]) => ({ ...item(name), limits })
const asking = (...names: readonly string[]) => ({ deployItems: names.map((name) => limited(name, { limit: 'db' })) })
const phaseOf = async (root: string, name: string) => (await world.see(root, 'deploy-items', name)).phase
const phases = (root: string, ...names: readonly string[]) => Promise.all(names.map((name) => phaseOf(root, name)))
const tickets = async () => (await world.pool.query('select from limit_ticket')).rowCount
const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name)

describe('items', () => {
  test('are offered in the order of arrival, and no more at once than the limit has', async () => {
    await addLimit('db', { max: 1 })
    await world.create('shop', asking('a', 'b'))
    await world.create('other', asking('c'))
    expect(await phases('shop', 'a', 'b')).toEqual(['INIT', 'INIT'])
    const first = await world.claim()
    expect(names(first)).toEqual(['a'])
    await world.report({ fence: first[0]?.fence ?? '', phase: 'PROGRESSING' })
    expect(await world.claim()).toEqual([])
    await world.report({ fence: first[0]?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.work()).toEqual(['b', 'c'])
    expect(await tickets()).toBe(0)
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
    expect((await world.see('other')).phase).toBe('SUCCEEDED')
  })

  test('of one tree with several keys share the bound of all keys', async () => {
    await addLimit('db', { max: 2, maxPerKey: 1 })
    const deployItems = ['a', 'b', 'c'].map((name) => limited(name, { limit: 'db', key: name }))
    await world.create('shop', { deployItems })
    expect(names(await world.claim())).toEqual(['a', 'b'])
  })

  test('have keys from imports and from exports of others', async () => {
    await addLimit('db', { maxPerKey: 1 })
    await world.setData('region', 'eu')
    const spec = {
      imports: [{ name: 'region' }],
      deployItems: [
        item('base'),
        limited('a', { limit: 'db', key: '${imports.region}/${deployItems.base.exports.host}' }),
        limited('b', { limit: 'db', key: 'eu/one' }),
        limited('c', { limit: 'db', key: 'us/one' }),
      ],
    }
    await world.create('shop', spec)
    const [base, ...others] = await world.claim()
    expect([base?.name, ...names(others)].toSorted()).toEqual(['b', 'base', 'c'])
    await world.report({ fence: base?.fence ?? '', phase: 'SUCCEEDED', exports: { host: 'one' } })
    expect(await phaseOf('shop', 'a')).toBe('INIT')
    expect(await world.claim()).toEqual([])
    const { rows } = await world.pool.query('select key from limit_ticket where granted_at is null')
    expect(rows).toEqual([{ key: 'eu/one' }])
    for (const { fence } of others) await world.report({ fence, phase: 'SUCCEEDED' })
    expect(await world.work()).toEqual(['a'])
  })

  test('are never late while they wait: the pickup clock starts at the grant', async () => {
    await addLimit('db', { max: 1 })
    await world.create('shop', asking('a', 'b'))
    const [a] = await world.claim()
    // Longer than a pickup takes, and shorter than the other timeouts.
    world.clock.advance(TIMEOUTS.pickupMs + 1)
    await world.settle()
    expect(await phaseOf('shop', 'b')).toBe('INIT')
    await world.report({ fence: a?.fence ?? '', phase: 'SUCCEEDED' })
    world.clock.advance(TIMEOUTS.pickupMs - 1)
    await world.settle()
    expect(await phaseOf('shop', 'b')).toBe('INIT')
    world.clock.advance(1)
    await world.settle()
    expect(await phaseOf('shop', 'b')).toBe('FAILED')
    expect(await tickets()).toBe(0)
  })

  test('leave the queue when their job is cancelled, or their root is deleted', async () => {
    await addLimit('db', { max: 1 })
    const shop = await world.create('shop', asking('a'))
    const other = await world.create('other', asking('b'))
    await world.create('third', asking('c'))
    await world.create('fourth', asking('d'))
    await world.cancel(other)
    expect(await phaseOf('other', 'b')).toBe('ABORTED')
    await world.cancel(shop)
    // The sweep deletes work of objects that are gone only if it has an end.
    const endless =
      "select from work w join object o on o.id = w.object_id where o.phase = 'ABORTED' and w.done_at is null"
    expect((await world.pool.query(endless)).rowCount).toBe(0)
    expect(await phaseOf('shop', 'a')).toBe('ABORTED')
    expect(names(await world.claim())).toEqual(['c'])
    await world.remove((await world.see('fourth')).id)
    await world.cancel((await world.see('fourth')).id)
    expect(await tickets()).toBe(1)
  })

  test('hold a limit until the lease of a deployer that was overruled ends', async () => {
    await addLimit('db', { max: 1 })
    const aborting = { aborting: { ms: 1_000 } }
    const id = await world.create('shop', {
      deployItems: [{ ...limited('a', { limit: 'db' }), timeouts: aborting }],
    })
    await world.create('other', asking('b'))
    await world.claim()
    await world.cancel(id)
    // It does not answer in time, and its lease has 30 s.
    world.clock.advance(1_000)
    await world.settle()
    expect(await phaseOf('shop', 'a')).toBe('FAILED')
    // The next job of the same item waits for the lease, too.
    await world.reconcile(id)
    expect(await world.claim()).toEqual([])
    world.clock.advance(28_999)
    await world.settle()
    expect(await world.claim()).toEqual([])
    world.clock.advance(1)
    await world.settle()
    // The other one has come first.
    expect(names(await world.claim())).toEqual(['b'])
    expect(await phaseOf('shop', 'a')).toBe('INIT')
  })

  test('hold none in a backoff, and ask for them again at its end', async () => {
    await addLimit('db', { max: 1 })
    const retry = { attempts: 3, backoff: { initialMs: 5_000, factor: 1, jitter: 0 } }
    await world.create('shop', { deployItems: [{ ...limited('a', { limit: 'db' }), retry }] })
    await world.create('other', asking('b'))
    const fail = async () => {
      const [one] = await world.claim()
      await world.report({ fence: one?.fence ?? '', phase: 'FAILED', error: { code: 'X', message: 'x' } as never })
      return one?.name
    }
    expect(await fail()).toBe('a')
    expect(await phaseOf('shop', 'a')).toBe('INIT')
    const [b] = await world.claim()
    expect(b?.name).toBe('b')
    world.clock.advance(5_000)
    await world.settle()
    expect(await world.claim()).toEqual([])
    await world.report({ fence: b?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await fail()).toBe('a')
    // A person may begin the attempt at once.
    await accepted(world.services.retryNow(USER, { id: (await world.see('shop', 'deploy-items', 'a')).id }))
    await world.settle()
    expect(await world.work()).toEqual(['a'])
    expect(await phaseOf('shop', 'a')).toBe('SUCCEEDED')
    expect(await tickets()).toBe(0)
  })

  test('of the job after an edit ask for what the new spec says', async () => {
    await addLimit('db', { max: 1 })
    await addLimit('disk', { max: 1 })
    await world.create('first', asking('a'))
    const id = await world.create('shop', asking('b'))
    await world.update(id, { deployItems: [limited('b', { limit: 'disk' })] })
    // The running job keeps its spec: the edit is of the next one.
    expect(names(await world.claim())).toEqual(['a'])
    await world.cancel(id)
    expect(names(await world.claim())).toEqual([])
    await world.reconcile(id)
    expect(names(await world.claim())).toEqual(['b'])
  })

  test('ask for none to be uninstalled, or where nothing has changed', async () => {
    await addLimit('db', { max: 1 })
    const id = await world.create('shop', asking('a'))
    expect(await world.work()).toEqual(['a'])
    await world.create('other', asking('b'))
    expect(names(await world.claim())).toEqual(['b'])
    await world.reconcile(id, 'IF_CHANGED')
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
    await world.remove(id)
    expect(await world.work()).toEqual(['a'])
    expect(await world.exists('shop')).toBe(false)
  })

  test('of a paused tree wait for it, and keep their place', async () => {
    await addLimit('db', { max: 1 })
    const first = await world.create('first', asking('a'))
    const second = await world.create('second', asking('b'))
    await world.create('third', asking('c'))
    await accepted(world.services.pause(USER, { id: second }))
    await world.cancel(first)
    const [c] = await world.claim()
    expect(c?.name).toBe('c')
    await world.create('fourth', asking('d'))
    await accepted(world.services.resume(USER, { id: second }))
    await world.report({ fence: c?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.work()).toEqual(['b', 'd'])
  })

  test('of one list have keys of their entries', async () => {
    await addLimit('db', { maxPerKey: 1 })
    const one = { ...limited('a', { limit: 'db', key: '${each.value}' }), forEach: { x: 'eu', y: 'us', z: 'eu' } }
    await world.create('shop', { deployItems: [one] })
    expect(names(await world.claim())).toEqual(['a-x', 'a-y'])
  })

  test('behind a gate ask for theirs once it is open', async () => {
    await addLimit('db', { max: 1 })
    const gate = { name: 'go', type: 'gate', config: { signal: 'go' } }
    await world.create('shop', { deployItems: [gate, { ...limited('a', { limit: 'db' }), dependsOn: ['go'] }] })
    expect(await tickets()).toBe(0)
    await world.create('other', asking('b'))
    const { id } = await world.see('shop', 'deploy-items', 'go')
    await accepted(world.services.gates.signal(USER, { id, name: 'go' }))
    await world.settle()
    expect(await phaseOf('shop', 'a')).toBe('INIT')
    expect(await world.work()).toEqual(['b', 'a'])
  })

  test('that are gates hold none', async () => {
    await addLimit('db', { max: 1 })
    const gate = { name: 'go', type: 'gate', config: { signal: 'go' }, limits: [{ limit: 'db' }] }
    const spec = { deployItems: [gate] }
    const created = world.commands.createInstallation(USER, { project: 'default', name: 'shop', spec, reconcile: true })
    expect(await refused(created)).toMatchObject({ fields: [{ path: 'input.spec.deployItems.0.limits' }] })
  })
})

describe('the record', () => {
  test('must be there when a spec is written, and what waits starts when it is gone', async () => {
    const create = () =>
      world.commands.createInstallation(USER, {
        project: 'default',
        name: 'shop',
        spec: asking('a', 'b'),
        reconcile: true,
      })
    expect(await refused(create())).toMatchObject({
      type: 'InvalidInputError',
      fields: [{ message: expect.stringContaining('the item a asks for the limit db') }, {}],
    })
    const limit = await addLimit('db', { max: 1 })
    const { objectId: id } = await accepted(create())
    await world.settle()
    expect(names(await world.claim())).toEqual(['a'])
    await accepted(world.services.flow.deleteLimit(USER, { id: limit }))
    await world.settle()
    expect(names(await world.claim())).toEqual(['b'])
    // An edit that keeps the request is accepted, one that adds another limit is not.
    const spec = { deployItems: [...asking('a', 'b').deployItems, item('c')] }
    await accepted(world.commands.updateInstallation(USER, { id, spec, reconcile: false }))
    const more = { deployItems: [...spec.deployItems, limited('d', { limit: 'disk' })] }
    const updated = await refused(world.commands.updateInstallation(USER, { id, spec: more, reconcile: false }))
    expect(updated).toMatchObject({ fields: [{ message: expect.stringContaining('disk') }] })
    // Neither is the way back to a spec that names one that is gone.
    await accepted(
      world.commands.updateInstallation(USER, { id, spec: { deployItems: [item('c')] }, reconcile: false }),
    )
    const back = world.commands.rollbackInstallation(USER, { id, toGeneration: 1, reconcile: false })
    expect(await refused(back)).toMatchObject({ type: 'InvalidInputError' })
  })

  test('with a higher bound offers more', async () => {
    const id = await addLimit('db', { max: 1 })
    await world.create('shop', asking('a', 'b', 'c', 'd'))
    await accepted(world.services.flow.updateLimit(USER, { id, max: 3 }))
    await world.settle()
    const claimed = await world.claim()
    expect(names(claimed)).toEqual(['a', 'b', 'c'])
    // A lower one ends nothing, and starts nothing until less runs.
    await accepted(world.services.flow.updateLimit(USER, { id, max: 1 }))
    await world.create('other', asking('e'))
    const [a, b, c] = claimed.map(({ fence }) => fence)
    for (const fence of [a, b]) await world.report({ fence: fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.claim()).toEqual([])
    await world.report({ fence: c ?? '', phase: 'SUCCEEDED' })
    expect(names(await world.claim())).toEqual(['d'])
  })

  test('is shared with workers of pipelines', async () => {
    await addLimit('db', { max: 1 })
    await world.create('shop', asking('a'))
    const workerTemplate = { command: ['true'], limits: [{ limit: 'db' }] }
    await accepted(world.projects.updateProject(USER, { name: 'default', workerTemplate }))
    const { eventIds } = await accepted(
      world.pipelines.createEvent(USER, { project: 'default', source: 's', type: 't' }),
    )
    await world.settle()
    const phase = async () =>
      (await world.pool.query<{ phase: string }>('select phase from object where id = $1', [eventIds[0]])).rows[0]
        ?.phase
    expect(await phase()).toBe('PENDING')
    expect(await world.work()).toEqual(['a'])
    expect(await phase()).toBe('STARTING')
    await world.create('other', asking('b'))
    expect(await world.claim()).toEqual([])
    await accepted(world.pipelines.cancelEvent(USER, { id: eventIds[0] ?? '' }))
    await world.settle()
    expect(names(await world.claim())).toEqual(['b'])
    await accepted(world.projects.updateProject(USER, { name: 'default', workerTemplate: null }))
  })
})

test('items that end in one transaction, of several trees, give back their limits in one look at the lines', async () => {
  await using own = await createWorld({ ownDatabase: true })
  await accepted(own.services.flow.createLimit(USER, { project: 'default', name: 'db', max: 6 }))
  await own.create('one', asking('a', 'b', 'c'))
  await own.create('two', asking('d', 'e', 'f'))
  await own.create('rest', asking('g', 'h', 'i', 'j', 'k', 'l', 'm'))
  const claimed = await own.claim()
  expect(names(claimed)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  const before = await looksOf(own)
  const reports = claimed.map(({ fence }): Report => ({ fence, phase: 'SUCCEEDED' }))
  expect(await own.engineHost.agents.report(DEPLOYER, reports)).toMatchObject({ ok: true })
  expect(await looksOf(own)).toBe(before + 1)
  await own.settle()
  expect(names(await own.claim())).toEqual(['g', 'h', 'i', 'j', 'k', 'l'])
})

/** How often its connections have searched for objects that limits let start. */
async function looksOf({ pool }: World): Promise<number> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  const of = "select generic_plans + custom_plans as n from pg_prepared_statements where name = 'wake-limit-tickets'"
  try {
    const found = await Promise.all(clients.map((client) => client.query<{ n: string }>(of)))
    return found.flatMap(({ rows }) => rows).reduce((sum, { n }) => sum + Number(n), 0)
  } finally {
    for (const client of clients) client.release()
  }
}

test('an expression of a key is judged when the spec is written, and while it runs', async () => {
  await addLimit('db', { max: 1 })
  const create = (key: string, name: string) =>
    world.commands.createInstallation(USER, {
      project: 'default',
      name,
      spec: { deployItems: [limited('a', { limit: 'db', key })] },
      reconcile: true,
    })
  expect(await refused(create('${imports.none}', 'one'))).toMatchObject({
    fields: [{ path: 'input.spec.deployItems.0.limits.0.key' }],
  })
  await accepted(create('${[1][2]}', 'two'))
  await world.settle()
  expect((await world.see('two', 'deploy-items', 'a')).error).toMatchObject({ code: 'EXPRESSION' })
  expect(await tickets()).toBe(0)
})

test('a lost wake request is repeated by the periodic recovery', async () => {
  await addLimit('db', { max: 1 })
  const first = await world.create('first', asking('a'))
  await world.create('second', asking('b'))
  await accepted(world.commands.cancelInstallation(USER, { id: first }))
  await world.engineHost.runner.reconcile(first, false)
  expect(await phaseOf('first', 'a')).toBe('ABORTED')
  await world.pool.query('delete from wake')
  await world.settle()
  expect(await world.claim()).toEqual([])
  await world.recoverStalled()
  await world.settle()
  expect(names(await world.claim())).toEqual(['b'])
})
