import { expect, test } from 'vitest'
import type { ClaimedItem } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { anotherDriver, type Driver } from '../testkit/deployments.ts'
import { createWorld, DEPLOYER, item, USER, type World } from '../testkit/world.ts'

/** The cached state of an item is a guess, and writes of other processes count. */

const LEASE_MS = 30_000

async function claim({ engineHost }: Driver | World, viewer: Viewer = DEPLOYER): Promise<ClaimedItem> {
  const request = { instance: 'test', types: ['mock'], targets: null, max: 1, leaseMs: LEASE_MS }
  const outcome = await engineHost.agents.claim(viewer, request)
  const [first] = outcome.ok ? outcome.items : []
  if (!first) throw new Error('nothing was claimed')
  return first
}
async function report({ engineHost }: Driver | World, fence: string): Promise<string> {
  const outcome = await engineHost.agents.report(DEPLOYER, [{ fence, phase: 'SUCCEEDED' }])
  const [first] = outcome.ok ? outcome.results : []
  if (!first) throw new Error('the report was not answered')
  return first.ok ? `changed: ${first.changed}` : first.refusal.type
}

test('a cached item that another process has dispatched since is not taken from its agent', async () => {
  await using world = await createWorld()
  await using other = await anotherDriver(world)
  await world.create('shop', { deployItems: [item('a')] })
  const first = await claim(world)
  world.clock.advance(LEASE_MS)
  const second = await claim(other)
  expect(second.attempt).toBe(2)
  expect(await report(world, first.fence)).toBe('StaleReportError')
  expect(await report(world, second.fence)).toBe('changed: true')
  expect(await report(other, second.fence)).toBe('changed: false')
  expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
})

test('a lease that was renewed elsewhere is neither ended early nor set back', async () => {
  await using world = await createWorld()
  await using other = await anotherDriver(world)
  await world.create('shop', { deployItems: [item('a')] })
  const { fence, objectId } = await claim(world)
  world.clock.advance(LEASE_MS - 1)
  expect(await other.engineHost.agents.renew(DEPLOYER, [fence], LEASE_MS)).toMatchObject({
    leases: [{ state: 'HELD' }],
  })
  world.clock.advance(1)
  await expect(claim(world)).rejects.toThrow('nothing was claimed')
  const leaseEnd = async () =>
    (await world.pool.query('select lease_until as at from work where object_id = $1', [objectId])).rows[0].at.getTime()
  const renewed = await leaseEnd()
  await world.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'PROGRESSING', progress: { value: 1 } }])
  expect(await leaseEnd()).toBe(renewed)
  expect(await report(world, fence)).toBe('changed: true')
})

test('a cached item that was deleted by hand is gone', async () => {
  await using world = await createWorld()
  await world.create('shop', { deployItems: [item('a'), item('b')] })
  const { fence, objectId } = await claim(world)
  await world.pool.query('alter table object disable trigger object_gone')
  await world.pool.query('delete from object where id = $1', [objectId])
  await world.pool.query('alter table object enable trigger object_gone')
  expect(await report(world, fence)).toBe('NotFoundError')
})

test.each(['this process', 'another one'])(
  'a cached item that %s has ended as gone does not end twice',
  async (who) => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    const id = await world.create('shop', { deployItems: [item('base'), item('top', ['base'])] })
    await world.work()
    await world.remove(id)
    const { fence, objectId } = await claim(world)
    const gone = async ({ engineHost }: Driver | World) => {
      const outcome = await engineHost.agents.report(DEPLOYER, [
        { fence, progress: { step: 'last' } },
        { fence, phase: 'GONE' },
      ])
      return outcome.ok ? outcome.results.at(-1) : outcome
    }
    expect(await gone(who === 'this process' ? world : other)).toMatchObject({ ok: true, changed: true })
    const isCached = world.engineHost.runner.rootOf(objectId) !== undefined
    expect(isCached).toBe(who === 'another one')
    // Counted once more, nothing would seem to be left below what contains it.
    expect(await gone(world)).toMatchObject({ ok: true, changed: false })
    world.rulesHold()
    expect(await world.work()).toEqual(['base'])
    expect(await world.exists('shop')).toBe(false)
  },
)

test('a cached item that another process has changed is not deleted as it was', async () => {
  await using world = await createWorld()
  await using other = await anotherDriver(world)
  const id = await world.create('shop', { deployItems: [item('a')] })
  await world.work()
  await world.remove(id)
  const { fence, objectId } = await claim(world)
  await world.commands.cancelInstallation(USER, { id })
  // It asks the agent to stop, and watches its lease.
  await other.engineHost.runner.reconcile(id, true)
  const work = async () =>
    (
      await world.pool.query(
        'select abort_requested_at is not null as stops, lease_watched as watched, state from work where object_id = $1',
        [objectId],
      )
    ).rows[0]
  expect(await work()).toEqual({ stops: true, watched: true, state: 1 })
  const outcome = await world.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'GONE' }])
  expect(outcome).toMatchObject({ ok: true, results: [{ ok: true }] })
  expect(await work()).toEqual({ stops: true, watched: false, state: 2 })
})
