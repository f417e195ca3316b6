import { describe, expect, it } from 'vitest'
import { isClaimable } from '../../../src/engine/agents/claim-one.ts'
import { clocksOf } from '../../../src/families/pipelines/rules/clocks.ts'
import type { WorkloadInput } from '../../../src/projects/rules/normalise-workload.ts'
import { FigureReader } from '../../../src/store/figures.ts'
import { createApi } from '../../graphql/api.ts'
import { finalBy } from '../../graphql/final-by.ts'
import { logOf, pass, renewed } from '../../testkit/items.ts'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  claimAt,
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
import { addPrincipal, createWorld, TIMEOUTS, USER, type World } from '../../testkit/world.ts'

type Policy = NonNullable<WorkloadInput['retry']>
/** Delays of exactly ten seconds. */
const TEN = { initialMs: 10_000, factor: 1, jitter: 0 } as const
const failed = (code = 'EXIT_CODE', retryable?: boolean) => ({
  phase: 'FAILED' as const,
  exports: { exitCode: 3, signal: null },
  error: { code, message: 'It exited with 3.', ...(retryable !== undefined && { retryable }) },
})

/** A running worker, and a job of it that runs as well. */
async function started(world: World, retry: Partial<Policy> = {}, more: WorkloadInput = {}, maxJobs?: number) {
  await addProject(world, 'p', maxJobs === undefined ? {} : { limits: { maxJobs } })
  const event = await addEvent(world, 'p')
  const [worker] = await runAll(world)
  // Its worker outlives every clock here.
  await renewed(world, worker?.fence ?? '', RUNTIME, 600_000)
  const spec = { ...TEMPLATE, ...more, retry: { attempts: 3, backoff: TEN, ...retry } }
  const job = await addJob(world, event, 'job', spec)
  const [item] = await runAll(world)
  if (!item) throw new Error('nothing was claimed')
  return { event, job, fence: item.fence }
}
const seen = async (world: World, event: string) => (await treeOf(world, event)).job
async function retryOf(world: World, job: string) {
  const { rows } = await world.pool.query<{
    codes: (string | null)[]
    nextAt: string | null
    held: number
    slot: number
  }>(
    `select array(select a -> 'error' ->> 'code' from jsonb_array_elements(w.retry -> 'attempts') a) as codes,
       w.retry ->> 'nextAt' as "nextAt", w.state as slot, (select count(*)::int from workload h join object o on o.id = h.object_id
         where h.pool = 'JOB' and h.state = 1 and o.phase in ('STARTING', 'RUNNING', 'UNKNOWN')) as held
     from workload w where object_id = $1`,
    [job],
  )
  return rows[0]
}
/** True if a claim that reaches the row at any later time takes it. */
async function mayBeClaimed(world: World, id: string): Promise<boolean> {
  const { rows } = await world.pool.query(
    'select state, lease_until as "leaseUntil", offer_after as "offerAfter", abort_requested_at as "abortRequestedAt" from work where object_id = $1',
    [id],
  )
  return isClaimable({ work: rows[0] } as never, { now: new Date(Date.UTC(2100, 0)), isPaused: false })
}
/** Ends the removal of the last attempt, which has to be offered. */
async function remove(world: World): Promise<void> {
  const items = (await claimAt(world)).filter(({ action }) => action === 'REMOVE')
  expect(items).toHaveLength(1)
  for (const { fence } of items) await sendReport(world, { fence, done: true })
}
const endRemovals = async (world: World, items: Awaited<ReturnType<typeof claimAt>>): Promise<void> => {
  for (const { action, fence } of items) if (action === 'REMOVE') await sendReport(world, { fence, done: true })
}
async function start(world: World) {
  const items = (await claimAt(world)).filter(({ action }) => action === 'START')
  expect(items).toHaveLength(1)
  return items[0] as NonNullable<(typeof items)[0]>
}

describe('a job with a retry policy', () => {
  it('is started again after its failure, once the last attempt is removed and the backoff is over', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world)
    expect(await sendReport(world, { fence, ...failed() })).toBe(true)
    expect(await seen(world, event)).toMatchObject({ phase: 'PENDING', code: 'EXIT_CODE', exitCode: 3 })
    // Nothing is held: no slot, no place.
    expect(await retryOf(world, job)).toMatchObject({ codes: ['EXIT_CODE'], held: 0 })
    await pass(world, 9_999)
    expect(await claimAt(world)).toEqual([])
    await pass(world, 1)
    // The removal of the last attempt comes first.
    await remove(world)
    const next = await start(world)
    expect(next).toMatchObject({ attempt: 1, objectId: job })
    expect(next.fence).not.toBe(fence)
    expect(await sendReport(world, { fence, ...failed() })).toBe('StaleReportError')
    await sendReport(world, { fence: next.fence, phase: 'RUNNING' })
    await sendReport(world, { fence: next.fence, ...succeeded })
    expect(await seen(world, event)).toMatchObject({ phase: 'SUCCEEDED', code: null, exitCode: 0 })
    expect((await retryOf(world, job))?.codes).toEqual(['EXIT_CODE', null])
    const reasons = (await logOf(world, job)).map(({ actor, to, reason }) => `${actor} ${to} ${reason}`)
    expect(reasons).toContain('CONTROLLER PENDING retry: attempt 1 of 3 ended EXIT_CODE')
  })

  it('waits for its time although its removal is done', async () => {
    await using world = await createWorld()
    const { event, job } = await started(world, { attemptTimeoutMs: 5_000 })
    await pass(world, 5_000)
    expect(await seen(world, event)).toMatchObject({ phase: 'PENDING', code: 'ATTEMPT_TIMEOUT' })
    await remove(world)
    // A claim that had found its removal must not get it now.
    expect(await mayBeClaimed(world, job)).toBe(false)
    await pass(world, 9_999)
    expect(await claimAt(world)).toEqual([])
    await pass(world, 1)
    await start(world)
  })

  it('does not begin before the removal of the last attempt, and ends if no runtime takes that', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world, { attemptTimeoutMs: 5_000 })
    await pass(world, 5_000)
    await pass(world, 309_999)
    expect((await seen(world, event))?.phase).toBe('PENDING')
    // The old agent learns that it was overruled.
    expect(await sendReport(world, { fence, phase: 'RUNNING' })).toBe('TransitionError')
    await pass(world, 1)
    expect(await seen(world, event)).toMatchObject({ phase: 'FAILED', code: 'ATTEMPT_TIMEOUT' })
    await pass(world, 600_000)
    // The rest is removed should the runtime come back.
    await remove(world)
  })

  it('begins although an engine without retries has taken the report of the removal', async () => {
    await using world = await createWorld()
    const { job, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    // As that engine leaves it: the work is done, and nothing wakes the job.
    await world.pool.query(
      `update work set state = 2, done_at = $2, due_at = null, lease_until = null where object_id = $1`,
      [...[job, world.clock.now()]],
    )
    await pass(world, 500_000)
    expect(await claimAt(world)).toEqual([])
    await world.recoverStalled()
    await world.settle()
    expect(await start(world)).toMatchObject({ objectId: job })
  })

  it('begins after a removal that takes long', async () => {
    await using world = await createWorld()
    const { event } = await started(world, { attemptTimeoutMs: 5_000 })
    await pass(world, 5_000)
    const [removal] = await claimAt(world)
    const fence = removal?.fence ?? ''
    await renewed(world, fence, RUNTIME, 600_000)
    await pass(world, 500_000)
    expect((await seen(world, event))?.phase).toBe('PENDING')
    await sendReport(world, { fence, done: true })
    await start(world)
  })

  it('ends as it failed when its attempts are used up', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world, { attempts: 2 })
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    await remove(world)
    const next = await start(world)
    await sendReport(world, { fence: next.fence, phase: 'SCHEDULING_FAILED', error: { code: 'NO_IMAGE', message: '' } })
    expect(await seen(world, event)).toMatchObject({ phase: 'SCHEDULING_FAILED', code: 'NO_IMAGE' })
    expect((await retryOf(world, job))?.codes).toEqual(['EXIT_CODE', 'NO_IMAGE'])
    expect((await phasesOf(world, event)).worker).toBe('RUNNING')
  })

  it.each<readonly [string, Partial<Policy>, ReturnType<typeof failed>, string]>([
    ['a code that `on` lacks', { on: ['OTHER'] }, failed(), 'POLICY'],
    ['a code that `not` has', { not: ['EXIT_CODE'] }, failed(), 'POLICY'],
    ['a failure that its runtime calls final', {}, failed('EXIT_CODE', false), 'AGENT'],
  ])('is not started again after %s', async (_, policy, report, final) => {
    await using api = await createApi()
    const { world } = api
    const { event, job, fence } = await started(world, policy)
    await sendReport(world, { fence, ...report })
    expect((await seen(world, event))?.phase).toBe('FAILED')
    expect(await finalBy(api, job)).toEqual([final])
  })

  it('is not started again when a user or its worker ends it, nor after the timeout of all attempts', async () => {
    await using world = await createWorld()
    const { event, job } = await started(world)
    await accepted(world.pipelines.cancelJob(workerViewer(event), { id: job, timedOut: true }))
    expect((await seen(world, event))?.phase).toBe('TIMED_OUT')
    const other = await addJob(world, event, 'other', {
      ...TEMPLATE,
      timeoutMs: 20_000,
      retry: { attempts: 5, backoff: TEN },
    })
    await runAll(world)
    await pass(world, 20_000)
    expect(await treeOf(world, event)).toMatchObject({ other: { id: other, phase: 'TIMED_OUT', code: 'TIMEOUT' } })
  })

  it('has one timeout for all attempts, from the first claim', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world, {}, { timeoutMs: 25_000 })
    await pass(world, 5_000)
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    await remove(world)
    const next = await start(world)
    await sendReport(world, { fence: next.fence, phase: 'RUNNING' })
    await pass(world, 9_999)
    expect((await seen(world, event))?.phase).toBe('RUNNING')
    await pass(world, 1)
    expect(await seen(world, event)).toMatchObject({ phase: 'TIMED_OUT', code: 'TIMEOUT' })
  })

  it('frees its slot in a backoff for others, and queues again', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world, {}, {}, 1)
    await addJob(world, event, 'second')
    expect((await phasesOf(world, event)).second).toBe('PENDING')
    await sendReport(world, { fence, ...failed() })
    await world.settle()
    expect((await phasesOf(world, event)).second).toBe('STARTING')
    const [second] = await runAll(world)
    await pass(world, 10_000)
    await remove(world)
    expect((await seen(world, event))?.phase).toBe('PENDING')
    await sendReport(world, { fence: second?.fence ?? '', ...succeeded })
    expect((await seen(world, event))?.phase).toBe('STARTING')
  })

  it('that took too long keeps its slot until its runtime has removed it, or its lease is over', async () => {
    for (const isRemoved of [true, false]) {
      await using world = await createWorld()
      const { event } = await started(world, { attemptTimeoutMs: 5_000 }, {}, 1)
      await addJob(world, event, 'second')
      await pass(world, 5_000)
      expect(await seen(world, event)).toMatchObject({ phase: 'PENDING', code: 'ATTEMPT_TIMEOUT' })
      expect((await phasesOf(world, event)).second).toBe('PENDING')
      if (isRemoved) await remove(world)
      else await pass(world, 24_999)
      if (!isRemoved) {
        expect((await phasesOf(world, event)).second).toBe('PENDING')
        await pass(world, 1)
      }
      expect((await phasesOf(world, event)).second).toBe('STARTING')
    }
  })

  it('is retried elsewhere no sooner than its lost runtime has removed it', async () => {
    await using world = await createWorld()
    const { event } = await started(world)
    await pass(world, 30_000)
    await pass(world, 300_000)
    expect(await seen(world, event)).toMatchObject({ phase: 'PENDING', code: 'RUNTIME_LOST' })
    await pass(world, 10_000)
    expect(await claimAt(world, 'there')).toEqual([])
    await remove(world)
    expect((await claimAt(world, 'there')).map(({ action }) => action)).toEqual(['START'])
  })

  it('is started again at the one place, though that has room for one job', async () => {
    await using world = await createWorld()
    await addPrincipal(world.pool, RUNTIME)
    await accepted(world.pipelines.registerPlace(RUNTIME, { name: 'here', type: 'process', labels: [], capacity: 1 }))
    const { fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    await remove(world)
    await start(world)
  })

  it('has a failure whose message is cut within a character', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world)
    const error = { code: 'LONG', message: `${'x'.repeat(1_023)}\u{1f600}` }
    expect(await sendReport(world, { fence, phase: 'FAILED', error })).toBe(true)
    expect(await seen(world, event)).toMatchObject({ phase: 'PENDING', code: 'LONG' })
  })

  it('is not started again after it was deleted from outside, since it may have succeeded', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world)
    await sendReport(world, { fence, phase: 'ABORTED', error: { code: 'REMOVED', message: 'Its outcome is unknown.' } })
    expect(await seen(world, event)).toMatchObject({ phase: 'ABORTED', code: 'REMOVED' })
  })

  it.each<readonly [string, (world: World, event: string, fence: string) => Promise<unknown>]>([
    ['its lost runtime has to remove it', (world) => pass(world, 30_000).then(() => pass(world, 300_000))],
    [
      'it queues for a slot after a late removal',
      async (world, event, fence) => {
        await addJob(world, event, 'second')
        await sendReport(world, { fence, ...failed() })
        await runAll(world)
        await pass(world, 10_000)
        const items = await claimAt(world)
        await pass(world, 15_000)
        await endRemovals(world, items)
      },
    ],
    [
      'it queues for a slot after an early removal',
      async (world, event) => {
        await addJob(world, event, 'second')
        await pass(world, 5_000)
        await endRemovals(world, await runAll(world))
        await pass(world, 10_000)
      },
    ],
    [
      'no runtime has taken its next attempt',
      async (world) => {
        await pass(world, 5_000)
        await remove(world)
        await pass(world, 10_000)
      },
    ],
  ])('has its timeout also while %s', async (name, act) => {
    await using world = await createWorld()
    const isLost = name.includes('lost')
    const more = { timeoutMs: isLost ? 350_000 : 40_000 }
    const { event, job, fence } = await started(world, isLost ? {} : { attemptTimeoutMs: 5_000 }, more, 1)
    const begun = world.clock.now()
    await act(world, event, fence)
    expect((await seen(world, event))?.phase).toBe(name.startsWith('no runtime') ? 'STARTING' : 'PENDING')
    // Nothing is due for ever.
    const { rows } = await world.pool.query('select 1 from work where object_id = $1 and state < 2 and due_at <= $2', [
      job,
      world.clock.now(),
    ])
    expect(rows).toEqual([])
    await pass(world, more.timeoutMs - (world.clock.now().getTime() - begun.getTime()) - 1)
    expect((await seen(world, event))?.code).not.toBe('TIMEOUT')
    await pass(world, 1)
    expect(await seen(world, event)).toMatchObject({ phase: 'TIMED_OUT', code: 'TIMEOUT' })
  })

  it('has no late output of an attempt that has ended', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    const write = async (by: string) => {
      const line = { fence: by, at: null, stream: 'STDOUT' as const, text: 'built' }
      return (await accepted(world.engineHost.agents.appendLogs(RUNTIME, [line]))).accepted
    }
    // A lease that is lost and claimed again continues the attempt.
    await pass(world, 30_000)
    const again = (await claimAt(world)).find(({ name }) => name === 'job')?.fence ?? ''
    expect([await write(fence), await write(again)]).toEqual([1, 1])
    await sendReport(world, { fence: again, ...failed() })
    await pass(world, 10_000)
    await remove(world)
    const next = await start(world)
    expect([await write(again), await write(next.fence)]).toEqual([0, 1])
  })

  it('takes a repeated failure for what it is', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    const before = await seen(world, event)
    expect(await sendReport(world, { fence, ...failed() })).toBe(false)
    expect(await seen(world, event)).toEqual(before)
    expect((await retryOf(world, job))?.codes).toEqual(['EXIT_CODE'])
  })
})

describe('between two attempts', () => {
  it.each<readonly [string, (world: World, job: string, event: string) => Promise<unknown>]>([
    ['a user cancels the job', (world, id) => accepted(world.pipelines.cancelJob(USER, { id, timedOut: false }))],
    ['the event is cancelled', (world, _, id) => accepted(world.pipelines.cancelEvent(USER, { id }))],
  ])('the job is cancelled for good when %s', async (_, act) => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await act(world, job, event)
    await world.settle()
    expect((await seen(world, event))?.phase).toBe('CANCELED')
    // The rest of the last attempt is removed at once, and only once.
    expect((await claimAt(world)).filter(({ objectId }) => objectId === job)).toMatchObject([{ action: 'REMOVE' }])
    await pass(world, 600_000)
    expect((await seen(world, event))?.phase).toBe('CANCELED')
  })

  it('a removal that is done is not repeated by a cancel', async () => {
    await using world = await createWorld()
    const { event, job } = await started(world, { attemptTimeoutMs: 1_000 })
    await pass(world, 1_000)
    await remove(world)
    await accepted(world.pipelines.cancelJob(USER, { id: job, timedOut: false }))
    await pass(world, 60_000)
    expect((await seen(world, event))?.phase).toBe('CANCELED')
    expect(await claimAt(world)).toEqual([])
  })

  it('no work counts as claimed, and no clock of an attempt runs', async () => {
    await using world = await createWorld()
    const { event, job } = await started(world, { attemptTimeoutMs: 1_000 }, { timeoutMs: 60_000 })
    await pass(world, 1_000)
    await remove(world)
    const figures = await new FigureReader(world.pool).read()
    // The worker alone.
    expect(figures.work).toEqual([{ labels: { type: 'process', state: 'claimed' }, value: 1 }])
    const { rows } = await world.pool.query(
      `select o.phase, o.phase_since as "phaseSince", w.triggered_at as "triggeredAt", w.picked_up_at as "pickedUpAt",
         w.progressing_ms::integer as "progressingMs", d.started_at as "startedAt"
       from object o join work w on w.object_id = o.id join workload d on d.object_id = o.id where o.id = $1`,
      [job],
    )
    const work = { ...rows[0], action: 'START' as const }
    const clocks = clocksOf({ ...rows[0], work, attemptMs: 1_000, removal: null }, TIMEOUTS)
    expect(clocks.map(({ name }) => name)).toEqual(['timeout'])
    expect((await seen(world, event))?.phase).toBe('PENDING')
  })

  it('a user tries at once, or gives up', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await accepted(world.services.retryNow(USER, { id: job }))
    await world.settle()
    await remove(world)
    const next = await start(world)
    await sendReport(world, { fence: next.fence, ...failed('AGAIN') })
    await accepted(world.services.giveUpRetries(USER, { id: job }))
    expect(await seen(world, event)).toMatchObject({ phase: 'FAILED', code: 'AGAIN' })
    expect((await refused(world.services.retryNow(USER, { id: job }))).type).toBe('TransitionError')
    expect((await logOf(world, job)).at(-1)).toMatchObject({ actor: 'USER', to: 'FAILED' })
  })

  it('a user gives up while the job queues for a slot again', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world, {}, {}, 1)
    await addJob(world, event, 'second')
    await sendReport(world, { fence, ...failed() })
    await world.settle()
    await runAll(world)
    await pass(world, 10_000)
    await remove(world)
    expect((await refused(world.services.retryNow(USER, { id: job }))).type).toBe('TransitionError')
    await accepted(world.services.giveUpRetries(USER, { id: job }))
    expect(await seen(world, event)).toMatchObject({ phase: 'FAILED', code: 'EXIT_CODE' })
    await pass(world, 60_000)
    expect((await seen(world, event))?.phase).toBe('FAILED')
  })

  it('the event is deleted with what is left of the last attempt', async () => {
    await using world = await createWorld()
    const { event, job, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await accepted(world.pipelines.deleteEvent(USER, { id: event }))
    const removals = (await claimAt(world)).filter(({ objectId }) => objectId === job)
    expect(removals).toMatchObject([{ action: 'REMOVE' }])
  })
})
