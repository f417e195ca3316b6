import { describe, expect, it } from 'vitest'
import type { ItemInput } from '../../../src/families/deployments/rules/normalise.ts'
import { anotherDriver } from '../../testkit/deployments.ts'
import { at, EXECUTION, itemsOf, logOf, named, only, pass, renewed, shown, tryAgain } from '../../testkit/items.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, DEPLOYER, item, TIMEOUTS, type World } from '../../testkit/world.ts'

const YEARS = 10 * 365 * 24 * 3_600_000
const timed = (name: string, timeouts: ItemInput['timeouts'] = {}): ItemInput => ({ ...item(name), timeouts })
/** The longest lease. */
const claimLong = (world: World, max = 500) => world.claim(max, DEPLOYER, ['mock'], 600_000)

type Setting = readonly [name: string, timeout: { ms: number } | null, limit: number]
const settings = (byDefault: number): readonly Setting[] => [
  ['the server’s default', null, byDefault],
  ['the item’s own', { ms: 1_234 }, 1_234],
]

/** The end of an item: phase, code and actor. */
async function ended(world: World, name = 'a') {
  const { id, phase, error } = await world.see(...at(name))
  return { phase, code: error?.code ?? null, actor: (await logOf(world, id)).at(-1)?.actor }
}

/** Deployed, and its deletion asked for. */
async function deleting(world: World, timeouts: ItemInput['timeouts'] = {}): Promise<string> {
  const id = await world.create('shop', { deployItems: [timed('a', timeouts)] })
  await world.work()
  await world.remove(id)
  return id
}

describe('pickup timeout', () => {
  it.each(settings(TIMEOUTS.pickupMs))('fires at exactly %s, not a millisecond before', async (_, pickup, limit) => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { pickup })] })
    await pass(world, limit - 1)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    await pass(world, 1)
    expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'PICKUP_TIMEOUT', actor: 'CONTROLLER' })
    expect(await world.claim()).toEqual([])
    expect(await world.see(...EXECUTION)).toMatchObject({
      phase: 'FAILED',
      error: { causes: [{ name: 'a', code: 'PICKUP_TIMEOUT' }] },
    })
  })

  it('never fires when it is {never: true}', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { pickup: { never: true } })] })
    await pass(world, YEARS)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    expect(await world.work()).toEqual(['a'])
  })

  it('runs from the trigger, not from the start of the job', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('first'), item('a', ['first'])] })
    const { fence } = only(await claimLong(world))
    await pass(world, 200_000)
    await world.report({ fence, phase: 'SUCCEEDED' })
    await pass(world, TIMEOUTS.pickupMs - 1)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    await pass(world, 1)
    expect(await ended(world)).toMatchObject({ code: 'PICKUP_TIMEOUT' })
  })

  it('does not run before the item can be picked up at all: while an earlier deployer’s lease lasts', async () => {
    await using world = await createWorld()
    const timeouts = { progressing: { ms: 1_000 }, aborting: { ms: 1_000 }, pickup: { ms: 5_000 } }
    const id = await world.create('shop', { deployItems: [timed('a', timeouts)] })
    await world.claim()
    await pass(world, 1_000)
    await pass(world, 1_000)
    expect(await ended(world)).toMatchObject({ code: 'ABORTING_TIMEOUT' })
    await world.reconcile(id)
    await pass(world, 28_000 + 4_999)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    await pass(world, 1)
    expect(await ended(world)).toMatchObject({ code: 'PICKUP_TIMEOUT' })
  })

  it('is over with the pickup, even one millisecond before the limit', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    await pass(world, TIMEOUTS.pickupMs - 1)
    const { fence } = only(await claimLong(world))
    await pass(world, TIMEOUTS.pickupMs)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('beats a claim at the limit, whether or not an engine has reconciled', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    world.clock.advance(TIMEOUTS.pickupMs)
    expect(await world.claim()).toEqual([])
    expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'PICKUP_TIMEOUT', actor: 'CONTROLLER' })
  })
})

describe('progressing timeout', () => {
  it.each(settings(TIMEOUTS.progressingMs))(
    'requests an abort at exactly %s, not a millisecond before',
    async (_, progressing, limit) => {
      await using world = await createWorld()
      await world.create('shop', { deployItems: [timed('a', { progressing })] })
      const { fence } = only(await claimLong(world))
      await pass(world, limit - 1)
      expect(await renewed(world, fence)).toBe('HELD')
      await pass(world, 1)
      expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
      expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    },
  )

  it('never fires when it is {never: true}', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { never: true } })] })
    const { fence } = only(await claimLong(world))
    await pass(world, YEARS)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('runs from the pickup, not from the trigger', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    await pass(world, 200_000)
    const { fence } = only(await claimLong(world))
    await pass(world, TIMEOUTS.progressingMs - 1)
    expect(await renewed(world, fence)).toBe('HELD')
    await pass(world, 1)
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
  })

  it('is not restarted by renewals, nor by reports of progress', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { ms: 100_000 } })] })
    const { fence } = only(await world.claim())
    for (let i = 0; i < 5; i++) {
      await pass(world, 19_999)
      expect(await renewed(world, fence)).toBe('HELD')
      expect(await world.report({ fence, phase: 'PROGRESSING', progress: { value: i } })).toBe(false)
    }
    await pass(world, 5)
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
  })

  it('is not restarted by a new attempt after a lost lease', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { ms: 100_000 } })] })
    await world.claim()
    await pass(world, 30_000)
    const second = only(await claimLong(world))
    expect(second.attempt).toBe(2)
    await pass(world, 69_999)
    expect(await renewed(world, second.fence)).toBe('HELD')
    await pass(world, 1)
    expect(await renewed(world, second.fence)).toBe('ABORT_REQUESTED')
  })

  it('is not restarted by a new attempt after the work was returned', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { ms: 100_000 } })] })
    const first = only(await world.claim())
    await pass(world, 60_000)
    await world.report({ fence: first.fence, phase: 'PROGRESSING', error: tryAgain })
    await pass(world, 10_000)
    const second = only(await claimLong(world))
    await pass(world, 29_999)
    expect(await renewed(world, second.fence)).toBe('HELD')
    await pass(world, 1)
    expect(await renewed(world, second.fence)).toBe('ABORT_REQUESTED')
  })

  it('ends an item without an agent at once, because it was returned', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { ms: 100_000 } })] })
    const first = only(await world.claim())
    await world.report({ fence: first.fence, phase: 'PROGRESSING', error: tryAgain })
    await pass(world, 99_999)
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    await pass(world, 1)
    expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'PROGRESSING_TIMEOUT', actor: 'CONTROLLER' })
    expect((await world.see(...at('a'))).error?.message).toBe(
      'Its deployer did not finish in time. Its last try ended with: Not now.',
    )
    expect(await world.claim()).toEqual([])
  })

  it('starts anew with the next job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await claimLong(world))
    await pass(world, TIMEOUTS.progressingMs - 1)
    await world.report({ fence, phase: 'SUCCEEDED' })
    await world.reconcile(id)
    const second = only(await claimLong(world))
    await pass(world, TIMEOUTS.progressingMs - 1)
    expect(await renewed(world, second.fence)).toBe('HELD')
  })
})

describe('asked to stop after a progressing timeout', () => {
  const overdue = async (world: World, timeouts: ItemInput['timeouts'] = {}): Promise<string> => {
    await world.create('shop', { deployItems: [timed('a', timeouts)] })
    const { fence } = only(await claimLong(world))
    await pass(world, TIMEOUTS.progressingMs - 1)
    await renewed(world, fence, DEPLOYER, 600_000)
    await pass(world, 1)
    return fence
  }

  it('the deployer stops: FAILED with code PROGRESSING_TIMEOUT', async () => {
    await using world = await createWorld()
    const fence = await overdue(world)
    const progress = { step: 'Deployment web: 0 of 1 replicas are ready' }
    expect(await world.report({ fence, phase: 'ABORTED', progress })).toBe(true)
    expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'PROGRESSING_TIMEOUT', actor: 'DEPLOYER' })
    expect((await world.see(...at('a'))).error?.message).toBe(
      `It did not finish in time and was stopped at: ${progress.step}`,
    )
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
    expect(await world.report({ fence, phase: 'ABORTED' })).toBe(false)
  })

  it('the deployer fails for it: FAILED with code PROGRESSING_TIMEOUT', async () => {
    await using world = await createWorld()
    const fence = await overdue(world)
    await world.report({ fence, phase: 'FAILED', error: { code: 'KILLED', message: 'Signal 9.', retryable: false } })
    expect(await ended(world)).toMatchObject({ phase: 'FAILED', code: 'PROGRESSING_TIMEOUT' })
  })

  it('the deployer was just about to succeed: SUCCEEDED', async () => {
    await using world = await createWorld()
    const fence = await overdue(world)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('the deployer gives it back: it is not offered again but ends', async () => {
    await using world = await createWorld()
    const fence = await overdue(world)
    await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })
    expect(await ended(world)).toMatchObject({ phase: 'FAILED', code: 'PROGRESSING_TIMEOUT' })
    await pass(world, YEARS)
    expect(await world.claim()).toEqual([])
  })

  it.each(settings(TIMEOUTS.abortingMs))(
    'the deployer does not: FAILED with code ABORTING_TIMEOUT at exactly %s',
    async (_, aborting, limit) => {
      await using world = await createWorld()
      const fence = await overdue(world, { aborting })
      await pass(world, limit - 1)
      expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
      await pass(world, 1)
      expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'ABORTING_TIMEOUT', actor: 'CONTROLLER' })
      expect(await renewed(world, fence)).toBe('LOST')
      expect((await world.see('shop')).phase).toBe('FAILED')
      expect(await shown(world, { fence, phase: 'SUCCEEDED' })).toMatchObject({ refusal: { type: 'TransitionError' } })
    },
  )

  it('the deployer does not, and the aborting timeout is {never: true}: it waits as long as the lease is kept', async () => {
    await using world = await createWorld()
    const fence = await overdue(world, { aborting: { never: true } })
    for (let i = 0; i < 5; i++) {
      await pass(world, 599_998)
      expect(await renewed(world, fence, DEPLOYER, 600_000)).toBe('ABORT_REQUESTED')
    }
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    await world.report({ fence, phase: 'ABORTED' })
    expect(await ended(world)).toMatchObject({ code: 'PROGRESSING_TIMEOUT' })
  })

  it.each([{ ms: 599_999 * 2 }, { never: true as const }])(
    'its agent is lost: FAILED with code PROGRESSING_TIMEOUT at the end of its lease, and not of %o',
    async (aborting) => {
      await using world = await createWorld()
      await overdue(world, { aborting })
      await pass(world, 599_998)
      expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
      await pass(world, 1)
      expect(await ended(world)).toEqual({ phase: 'FAILED', code: 'PROGRESSING_TIMEOUT', actor: 'CONTROLLER' })
      expect((await world.see(...at('a'))).error?.message).toBe('Its deployer did not finish in time, and is lost.')
      expect((await world.see('shop')).phase).toBe('FAILED')
    },
  )

  it('the aborting clock runs from the request, even when it was late', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [timed('a', { progressing: { ms: 1_000 } })] })
    await claimLong(world)
    // No engine has run for minutes.
    await pass(world, 200_000)
    await pass(world, TIMEOUTS.abortingMs - 1)
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    await pass(world, 1)
    expect(await ended(world)).toMatchObject({ code: 'ABORTING_TIMEOUT' })
  })
})

describe('the same three timeouts in a deletion', () => {
  it('pickup: DELETE_FAILED with code PICKUP_TIMEOUT at exactly the limit', async () => {
    await using world = await createWorld()
    await deleting(world)
    await pass(world, TIMEOUTS.pickupMs - 1)
    expect((await world.see(...at('a'))).phase).toBe('INIT_DELETE')
    await pass(world, 1)
    expect(await ended(world)).toEqual({ phase: 'DELETE_FAILED', code: 'PICKUP_TIMEOUT', actor: 'CONTROLLER' })
    expect((await world.see('shop')).phase).toBe('DELETE_FAILED')
  })

  it('progressing: the deployer stops, DELETE_FAILED with code PROGRESSING_TIMEOUT', async () => {
    await using world = await createWorld()
    await deleting(world)
    const { fence } = only(await claimLong(world))
    await pass(world, TIMEOUTS.progressingMs - 1)
    expect(await renewed(world, fence)).toBe('HELD')
    await pass(world, 1)
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
    await world.report({ fence, phase: 'DELETE_FAILED', error: { code: 'ABORTED', message: '', retryable: false } })
    expect(await ended(world)).toEqual({ phase: 'DELETE_FAILED', code: 'PROGRESSING_TIMEOUT', actor: 'DEPLOYER' })
  })

  it('aborting: the deployer does not stop, DELETE_FAILED with code ABORTING_TIMEOUT', async () => {
    await using world = await createWorld()
    const id = await deleting(world, { progressing: { ms: 10 }, aborting: { ms: 20 } })
    await world.claim()
    await pass(world, 10)
    await pass(world, 19)
    expect((await world.see(...at('a'))).phase).toBe('DELETING')
    await pass(world, 1)
    expect(await ended(world)).toEqual({ phase: 'DELETE_FAILED', code: 'ABORTING_TIMEOUT', actor: 'CONTROLLER' })
    expect((await world.see('shop')).phase).toBe('DELETE_FAILED')
    await pass(world, 30_000)
    await world.remove(id)
    await world.work()
    expect(await world.exists('shop')).toBe(false)
  })

  it('returned: DELETE_FAILED with code PROGRESSING_TIMEOUT at the limit of the first pickup', async () => {
    await using world = await createWorld()
    await deleting(world)
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'DELETING', error: tryAgain })
    await pass(world, TIMEOUTS.progressingMs)
    expect(await ended(world)).toMatchObject({ phase: 'DELETE_FAILED', code: 'PROGRESSING_TIMEOUT' })
  })
})

describe('deadlines', () => {
  it('of several items of one tree all fire, each at its own time', async () => {
    await using world = await createWorld()
    const pickup = (ms: number) => ({ pickup: { ms } })
    await world.create('shop', {
      deployItems: [timed('late', pickup(300)), timed('early', pickup(100)), timed('middle', pickup(200))],
    })
    const phases: string[] = []
    for (let i = 0; i < 3; i++) {
      await pass(world, 100)
      const items = await itemsOf(world)
      phases.push(`${items.early} ${items.middle} ${items.late}`)
    }
    expect(phases).toEqual(['FAILED INIT INIT', 'FAILED FAILED INIT', 'FAILED FAILED FAILED'])
  })

  it('apply when an earlier one has ended before its time, and when a shorter one starts later', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [
        timed('soon', { pickup: { ms: 100 } }),
        timed('later', { pickup: { ms: 500 } }),
        { ...timed('short', { pickup: { ms: 50 } }), dependsOn: ['soon'] },
      ],
    })
    const soon = named(await world.claim(1), 'soon')
    await pass(world, 150)
    await world.report({ fence: soon.fence, phase: 'SUCCEEDED' })
    await pass(world, 49)
    expect(await itemsOf(world)).toEqual({ soon: 'SUCCEEDED', later: 'INIT', short: 'INIT' })
    await pass(world, 1)
    expect(await itemsOf(world)).toEqual({ soon: 'SUCCEEDED', later: 'INIT', short: 'FAILED' })
    await pass(world, 299)
    expect((await world.see(...at('later'))).phase).toBe('INIT')
    await pass(world, 1)
    expect(await ended(world, 'later')).toMatchObject({ code: 'PICKUP_TIMEOUT' })
  })

  it('leave nothing to be watched once the tree has ended', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    await world.work()
    await pass(world, YEARS)
    const { rows } = await world.pool.query('select * from root_queue')
    expect(rows).toEqual([])
  })

  it('survive a restart: another process, of which only the database knows anything, lets them fire', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [timed('picked', { progressing: { ms: 1_000 }, aborting: { ms: 500 } }), item('waiting')],
    })
    const { fence } = only(await claimLong(world, 1))
    await using other = await anotherDriver(world)
    other.engineHost.startEngine({ agentRetentionMs: null })
    world.clock.advance(1_000)
    await until(async () => (await renewed(world, fence)) === 'ABORT_REQUESTED', { what: 'it is asked to stop' })
    world.clock.advance(500)
    await until(async () => (await itemsOf(world)).picked === 'FAILED', { what: 'the aborting timeout fires' })
    expect((await itemsOf(world)).waiting).toBe('INIT')
    world.clock.advance(TIMEOUTS.pickupMs - 1_500)
    await until(async () => (await world.see('shop')).phase === 'FAILED', { what: 'the pickup timeout fires' })
    expect(await ended(world, 'picked')).toMatchObject({ code: 'ABORTING_TIMEOUT' })
    expect(await ended(world, 'waiting')).toMatchObject({ code: 'PICKUP_TIMEOUT' })
  })
})
