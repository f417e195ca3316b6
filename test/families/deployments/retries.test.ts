import { describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../../src/core/retry.ts'
import type { ItemInput } from '../../../src/families/deployments/rules/normalise.ts'
import { createApi } from '../../graphql/api.ts'
import { finalBy } from '../../graphql/final-by.ts'
import { at, EXECUTION, itemsOf, logOf, only, pass, renewed, shown } from '../../testkit/items.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

type Policy = NonNullable<ItemInput['retry']>
/** Delays of exactly one second. */
const SECOND = { initialMs: 1_000, factor: 1, jitter: 0 } as const
const flaky = (retry: Partial<Policy> = {}, more: Partial<ItemInput> = {}): ItemInput => ({
  ...item('a'),
  retry: { attempts: 3, backoff: SECOND, ...retry },
  ...more,
})
const failed = (code = 'FLAKY', retryable?: boolean) => ({
  phase: 'FAILED' as const,
  error: { code, message: `It ended ${code}.`, ...(retryable !== undefined && { retryable }) },
})
const start = (world: World, retry: Partial<Policy> = {}, more: Partial<ItemInput> = {}): Promise<string> =>
  world.create('shop', { deployItems: [flaky(retry, more)] })
const see = (world: World) => world.see(...at('a'))
async function fail(world: World, code?: string, retryable?: boolean): Promise<string> {
  const { fence } = only(await world.claim())
  expect(await world.report({ fence, ...failed(code, retryable) })).toBe(true)
  return fence
}

interface Row {
  readonly state: number
  readonly leaseUntil: Date | null
  readonly offerAfter: Date | null
  readonly abortRequestedAt: Date | null
  readonly attempts: { agent: string | null; error: { code: string } | null }[] | null
}
async function rowOf(world: World): Promise<Row> {
  const { id } = await see(world)
  const { rows } = await world.pool.query<Row>(
    `select w.state, w.lease_until as "leaseUntil", w.offer_after as "offerAfter", w.abort_requested_at as "abortRequestedAt",
       d.retry -> 'attempts' as attempts from work w join deploy_item d using (object_id) where object_id = $1`,
    [id],
  )
  return rows[0] as Row
}
const codesOf = async (world: World) => (await rowOf(world)).attempts?.map(({ error }) => error?.code ?? null)

describe('a deploy item with a retry policy', () => {
  it('is attempted again after each failure, until it succeeds', async () => {
    await using world = await createWorld()
    await start(world)
    await fail(world)
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'FLAKY' } })
    // Nothing is held: no claim, no lease, no fence that could be renewed.
    expect(await rowOf(world)).toMatchObject({ state: 0, leaseUntil: null, abortRequestedAt: null })
    await pass(world, 999)
    expect(await world.claim()).toEqual([])
    await pass(world, 1)
    await fail(world, 'OTHER')
    await pass(world, 1_000)
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'SUCCEEDED' })
    expect(await see(world)).toMatchObject({ phase: 'SUCCEEDED', error: null })
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await codesOf(world)).toEqual(['FLAKY', 'OTHER', null])
    expect((await logOf(world, (await see(world)).id)).map(({ actor, to, reason }) => [actor, to, reason])).toEqual([
      ['CONTROLLER', 'PENDING', 'created'],
      ['CONTROLLER', 'INIT', 'everything it depends on is done'],
      ['DEPLOYER', 'PROGRESSING', 'claimed by test'],
      ['CONTROLLER', 'INIT', 'retry: attempt 1 of 3 ended FLAKY'],
      ['DEPLOYER', 'PROGRESSING', 'claimed by test'],
      ['CONTROLLER', 'INIT', 'retry: attempt 2 of 3 ended OTHER'],
      ['DEPLOYER', 'PROGRESSING', 'claimed by test'],
      ['DEPLOYER', 'SUCCEEDED', 'deployed'],
    ])
  })

  it('fails for good once its attempts are used up, and a new job counts anew', async () => {
    await using world = await createWorld()
    const id = await start(world, { attempts: 2 })
    await fail(world)
    await pass(world, 1_000)
    await fail(world, 'LAST')
    expect(await see(world)).toMatchObject({ phase: 'FAILED', error: { code: 'LAST' } })
    expect(await codesOf(world)).toEqual(['FLAKY', 'LAST'])
    await pass(world, 3_600_000)
    expect(await world.claim()).toEqual([])
    await world.reconcile(id)
    expect(await codesOf(world)).toEqual([])
    await fail(world)
    expect((await see(world)).phase).toBe('INIT')
  })

  it.each<readonly [string, Partial<Policy>, Parameters<typeof failed>, string, readonly (string | null)[]]>([
    ['a code that `on` has', { on: ['FLAKY'] }, ['FLAKY'], 'INIT', [null, null]],
    ['a code that `on` lacks', { on: ['FLAKY'] }, ['OTHER'], 'FAILED', ['POLICY']],
    ['a code that `not` has', { not: ['FLAKY'] }, ['FLAKY'], 'FAILED', ['POLICY']],
    ['a code that both have', { on: ['FLAKY'], not: ['FLAKY'] }, ['FLAKY'], 'FAILED', ['POLICY']],
    ['a failure that its agent calls final', {}, ['FLAKY', false], 'FAILED', ['AGENT']],
    ['a failure that its agent calls retryable', {}, ['FLAKY', true], 'INIT', [null, null]],
    ['one attempt in all', { attempts: 1 }, ['FLAKY', false], 'FAILED', [null]],
  ])('after %s', async (_, policy, [code, retryable], phase, final) => {
    await using api = await createApi()
    const { world } = api
    await start(world, policy)
    await fail(world, code, retryable)
    const { id, phase: now } = await see(world)
    expect(now).toBe(phase)
    expect(await finalBy(api, id)).toEqual(final)
  })

  it('is final by nobody when it is cancelled', async () => {
    await using api = await createApi()
    const { world } = api
    const id = await start(world, { on: ['FLAKY'] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    await world.report({ fence, phase: 'ABORTED' })
    expect(await finalBy(api, (await see(world)).id)).toEqual([null])
  })

  it('counts no attempt for work that is given back, nor for a lost lease', async () => {
    await using world = await createWorld()
    await start(world, { attempts: 2 })
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'PROGRESSING', error: { code: 'BUSY', message: 'Not now.', retryable: true } })
    await pass(world, DEFAULT_BACKOFF.initialMs)
    expect(await world.claim(1)).toHaveLength(1)
    await pass(world, 30_000)
    await fail(world)
    expect((await see(world)).phase).toBe('INIT')
    expect(await codesOf(world)).toEqual(['FLAKY'])
  })

  it('has the first delay when it is given back for the first time in an attempt', async () => {
    await using world = await createWorld()
    await start(world, { attempts: 9 })
    for (let i = 0; i < 6; i++) {
      await fail(world)
      await pass(world, 1_000)
    }
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'PROGRESSING', error: { code: 'BUSY', message: 'Not now.', retryable: true } })
    await pass(world, 1_000)
    expect(await world.claim()).toHaveLength(1)
  })

  it('is unfinished in a backoff: dependents wait, and nothing fails', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [flaky(), item('b', ['a'])] })
    await fail(world)
    expect(await itemsOf(world)).toEqual({ a: 'INIT', b: 'PENDING' })
    expect((await world.see(...EXECUTION)).phase).toBe('PROGRESSING')
    await pass(world, 1_000)
    expect(await world.work()).toEqual(['a', 'b'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('takes a repeated report for what it is, and a late success for too late', async () => {
    await using world = await createWorld()
    await start(world)
    const fence = await fail(world)
    const before = await see(world)
    expect(await world.report({ fence, ...failed() })).toBe(false)
    expect(await world.report({ fence, progress: { step: 'late' } })).toBe(false)
    expect(await see(world)).toEqual(before)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe('TransitionError')
    expect(await renewed(world, fence)).toBe('LOST')
    await pass(world, 1_000)
    const next = only(await world.claim())
    expect(await world.report({ fence, ...failed() })).toBe('StaleReportError')
    expect(await world.report({ fence: next.fence, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('is not retried in a deletion', async () => {
    await using world = await createWorld()
    const id = await start(world)
    await world.work()
    await world.remove(id)
    const { fence } = only(await world.claim())
    await world.report({ fence, ...failed(), phase: 'DELETE_FAILED' })
    expect((await see(world)).phase).toBe('DELETE_FAILED')
    // The attempts before it were those of another job.
    expect((await rowOf(world)).attempts).toBeNull()
  })

  it('costs no statement more than an item without a policy, as long as nothing fails', async () => {
    await using api = await createApi()
    const run = (name: string, of: ItemInput) =>
      api.statements(async () => {
        await api.world.create(name, { deployItems: [of] })
        await api.world.work()
      })
    await run('warm', item('a'))
    const plain = await run('plain', item('a'))
    expect(await run('flaky', flaky())).toBe(plain)
  })

  it('without a policy keeps nothing of its attempts', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    await fail(world)
    expect((await see(world)).phase).toBe('FAILED')
    expect((await rowOf(world)).attempts).toBeNull()
  })
})

describe('the timeout of an attempt', () => {
  const timed = { attemptTimeoutMs: 10_000 }

  it('asks the deployer to stop, and the next attempt begins after its answer', async () => {
    await using world = await createWorld()
    await start(world, timed)
    const { fence } = only(await world.claim(1, undefined, undefined, 600_000))
    await pass(world, 9_999)
    expect(await renewed(world, fence, undefined, 600_000)).toBe('HELD')
    await pass(world, 1)
    expect(await renewed(world, fence, undefined, 600_000)).toBe('ABORT_REQUESTED')
    await pass(world, 5_000)
    expect(await see(world)).toMatchObject({ phase: 'PROGRESSING' })
    expect(await world.claim()).toEqual([])
    expect(await shown(world, { fence, phase: 'ABORTED' })).toMatchObject({ ok: true, changed: true })
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'ATTEMPT_TIMEOUT' } })
    expect(await rowOf(world)).toMatchObject({ abortRequestedAt: null, leaseUntil: null })
    await pass(world, 1_000)
    const next = only(await world.claim())
    expect(await renewed(world, next.fence)).toBe('HELD')
    await world.report({ fence: next.fence, phase: 'SUCCEEDED' })
    expect(await see(world)).toMatchObject({ phase: 'SUCCEEDED', error: null })
  })

  it('counts from the first claim of the attempt, through work that is given back', async () => {
    await using world = await createWorld()
    await start(world, timed)
    await pass(world, 60_000)
    const { fence } = only(await world.claim())
    await pass(world, 9_000)
    await world.report({ fence, phase: 'PROGRESSING', error: { code: 'BUSY', message: 'Not now.', retryable: true } })
    await pass(world, 1_000)
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'ATTEMPT_TIMEOUT' } })
  })

  it('with a deployer that is lost: the next attempt begins with the end of its lease', async () => {
    await using world = await createWorld()
    await start(world, timed)
    await world.claim(1, undefined, undefined, 15_000)
    await pass(world, 10_000)
    await pass(world, 4_999)
    expect((await see(world)).phase).toBe('PROGRESSING')
    await pass(world, 1)
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'ATTEMPT_TIMEOUT' } })
    await pass(world, 1_000)
    expect(await world.claim()).toHaveLength(1)
  })

  it('with a deployer that does not stop: nobody gets the work before its lease has ended', async () => {
    await using world = await createWorld()
    await start(world, timed, { timeouts: { aborting: { ms: 2_000 } } })
    const { fence } = only(await world.claim(1, undefined, undefined, 60_000))
    await pass(world, 10_000)
    await pass(world, 2_000)
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'ABORTING_TIMEOUT' } })
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    await pass(world, 47_999)
    expect(await world.claim()).toEqual([])
    await accepted(world.services.retryNow(USER, { id: (await see(world)).id })).catch(() => null)
    expect(await world.claim()).toEqual([])
    await pass(world, 1)
    expect(await world.claim()).toHaveLength(1)
  })

  it('with a deployer that renews its lease meanwhile: nobody gets the work before the new end', async () => {
    await using world = await createWorld()
    await start(world, timed, { timeouts: { aborting: { ms: 2_000 } } })
    await world.claim(1, undefined, undefined, 60_000)
    await pass(world, 10_000)
    const { id } = await see(world)
    const { leaseUntil } = await rowOf(world)
    const later = new Date((leaseUntil?.getTime() ?? 0) + 30_000)
    // A renewal without the tree's lock, which commits between the engine's read and its write.
    const renewal = await world.pool.connect()
    await renewal.query('begin')
    await renewal.query('update work set lease_until = $2 where object_id = $1', [id, later])
    const passing = pass(world, 2_000)
    await until(
      async () => {
        const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return ((await world.pool.query(waiting)).rowCount ?? 0) > 0
      },
      { what: 'the engine waits for the row' },
    )
    await renewal.query('commit')
    renewal.release()
    await passing
    expect(await see(world)).toMatchObject({ phase: 'INIT', error: { code: 'ABORTING_TIMEOUT' } })
    expect(await rowOf(world)).toMatchObject({ leaseUntil: later, offerAfter: later })
    await pass(world, 77_999)
    expect(await world.claim()).toEqual([])
    await pass(world, 1)
    expect(await world.claim()).toHaveLength(1)
  })

  it('is followed by a cancel: the item is aborted, not attempted again', async () => {
    await using world = await createWorld()
    const id = await start(world, timed)
    const { fence } = only(await world.claim(1, undefined, undefined, 600_000))
    await pass(world, 10_000)
    await world.cancel(id)
    await world.report({ fence, phase: 'ABORTED' })
    expect(await see(world)).toMatchObject({ phase: 'ABORTED', error: { code: 'ABORTED' } })
  })

  it.each([0, 20_000])('is followed by a cancel %i ms before the lease of its lost deployer ends', async (ms) => {
    await using world = await createWorld()
    const id = await start(world, timed, { timeouts: { aborting: { never: true } } })
    await world.claim()
    await pass(world, 10_000)
    world.clock.advance(20_000 - ms)
    await world.cancel(id)
    await pass(world, ms)
    expect(await see(world)).toMatchObject({ phase: 'ABORTED', error: { code: 'ABORTED' } })
    expect(await codesOf(world)).toEqual(['ABORTED'])
  })
})

describe('the whole job', () => {
  it('has one deadline: an attempt that could only begin after it is not waited for', async () => {
    await using world = await createWorld()
    await start(world, {}, { timeouts: { progressing: { ms: 2_500 } } })
    await fail(world)
    await pass(world, 1_000)
    await fail(world)
    await pass(world, 1_000)
    await fail(world, 'LATE')
    expect(await see(world)).toMatchObject({ phase: 'FAILED', error: { code: 'LATE' } })
  })

  it('ends at its deadline in the middle of an attempt, without another one', async () => {
    await using world = await createWorld()
    await start(world, {}, { timeouts: { progressing: { ms: 2_500 } } })
    await fail(world)
    await pass(world, 1_000)
    const { fence } = only(await world.claim())
    await pass(world, 1_500)
    await world.report({ fence, phase: 'ABORTED' })
    expect(await see(world)).toMatchObject({ phase: 'FAILED', error: { code: 'PROGRESSING_TIMEOUT' } })
    expect(await codesOf(world)).toEqual(['FLAKY', 'PROGRESSING_TIMEOUT'])
  })

  it('has a pickup clock for each attempt, which starts with the offer', async () => {
    await using world = await createWorld()
    await start(world, { backoff: { ...SECOND, initialMs: 60_000 } }, { timeouts: { pickup: { ms: 5_000 } } })
    await fail(world)
    await pass(world, 64_999)
    expect((await see(world)).phase).toBe('INIT')
    await pass(world, 1)
    const { phase, error } = await see(world)
    expect([phase, error?.code]).toEqual(['FAILED', 'PICKUP_TIMEOUT'])
    expect(error?.message).toContain('It ended FLAKY.')
  })

  it.each<readonly [string, (world: World, id: string) => Promise<unknown>, string]>([
    ['a cancel', (world, id) => world.cancel(id), 'ABORTED'],
    ['a requested job', (world, id) => world.reconcile(id), 'INIT'],
    ['another spec', (world, id) => world.update(id, { deployItems: [flaky({ attempts: 4 })] }), 'INIT'],
    ['another spec without a job', (world, id) => world.update(id, { deployItems: [item('a')] }, false), 'FAILED'],
    [
      '*Try now* and another spec',
      async (world, id) => {
        await accepted(world.services.retryNow(USER, { id: (await see(world)).id }))
        await world.settle()
        await world.update(id, { deployItems: [item('a')] }, false)
      },
      'FAILED',
    ],
  ])('ends a backoff at once after %s', async (_, act, phase) => {
    await using world = await createWorld()
    const id = await start(world)
    const { jobId } = await see(world)
    await fail(world)
    await act(world, id)
    const now = await see(world)
    expect(now.phase).toBe(phase)
    expect(now.jobId === jobId).toBe(phase !== 'INIT')
    expect(await codesOf(world)).toEqual(phase === 'INIT' ? [] : ['FLAKY'])
    expect(await world.claim()).toHaveLength(phase === 'INIT' ? 1 : 0)
  })

  it('ends a backoff at once for a deletion', async () => {
    await using world = await createWorld()
    const id = await start(world)
    await fail(world)
    await world.remove(id)
    expect(only(await world.claim()).action).toBe('DELETE')
  })

  it('does not attempt again what failed after another job was asked for', async () => {
    await using world = await createWorld()
    const id = await start(world)
    const { fence } = only(await world.claim())
    await world.reconcile(id)
    const { jobId } = await see(world)
    await world.report({ fence, ...failed() })
    expect((await see(world)).jobId).not.toBe(jobId)
    expect(await codesOf(world)).toEqual([])
  })
})

describe('a user', () => {
  it('has the next attempt begin at once', async () => {
    await using world = await createWorld()
    await start(world)
    await fail(world)
    const { id } = await see(world)
    await accepted(world.services.retryNow(USER, { id }))
    expect((await rowOf(world)).offerAfter).toBeNull()
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'SUCCEEDED' })
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
    expect((await refused(world.services.retryNow(USER, { id }))).type).toBe('TransitionError')
  })

  it('gives up: the last failure is final, and only for this item', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [flaky(), { ...flaky(), name: 'b' }] })
    const [a, b] = await world.claim()
    for (const { fence } of [a, b].flatMap((one) => one ?? [])) await world.report({ fence, ...failed() })
    const { id } = await see(world)
    await accepted(world.services.giveUpRetries(USER, { id }))
    await world.settle()
    expect(await itemsOf(world)).toEqual({ a: 'FAILED', b: 'INIT' })
    expect((await logOf(world, id)).at(-1)).toMatchObject({ actor: 'USER', to: 'FAILED', by: USER.name })
    await accepted(world.services.giveUpRetries(USER, { id: (await world.see(...at('b'))).id }))
    await world.settle()
    expect((await world.see('shop')).phase).toBe('FAILED')
  })
})
