import { describe, expect, it } from 'vitest'
import type { Report } from '../../../src/core/ports/agents.ts'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { anotherDriver, everything } from '../../testkit/deployments.ts'
import { at, broken, EXECUTION, itemsOf, logOf, named, only, pass, shown, tryAgain } from '../../testkit/items.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, DEPLOYER, item, type World } from '../../testkit/world.ts'

/** Another agent of the same name. */
const OTHER = viewerOf('AGENT', { name: DEPLOYER.name, actor: 'DEPLOYER' })

async function started(world: World): Promise<{ id: string; fence: string; a: string }> {
  const id = await world.create('shop', { deployItems: [item('a')] })
  const { fence, objectId } = only(await world.claim())
  return { id, fence, a: objectId }
}
async function deleting(world: World) {
  const { id, fence, a } = await started(world)
  await world.report({ fence, phase: 'SUCCEEDED' })
  await world.remove(id)
  return { id, a, fence: only(await world.claim()).fence, old: fence }
}
async function progressOf(world: World, id: string): Promise<unknown> {
  const { rows } = await world.pool.query<{ progress: unknown }>(
    'select progress from object_status where object_id = $1',
    [id],
  )
  return rows[0]?.progress ?? null
}
/** All stored rows except the log and its numbers. */
async function persisted(world: World): Promise<unknown> {
  const { log_content: _, log_object: __, log_batch: ___, ...rest } = await everything(world)
  return rest
}
async function all(world: World, reports: readonly Report[]) {
  const outcome = await world.engineHost.agents.report(DEPLOYER, reports)
  await world.settle()
  if (!outcome.ok) throw new Error(outcome.refusal.message)
  return outcome.results.map((result) => (result.ok ? result.changed : result.refusal.type))
}

describe('a report', () => {
  it.each<[Phase, Partial<Report>]>([
    ['SUCCEEDED', { exports: { n: 1 } }],
    ['FAILED', broken],
    ['ABORTED', { message: 'By hand.' }],
  ])('of %s that is repeated is accepted, changes nothing and is not recorded again', async (phase, more) => {
    await using world = await createWorld()
    const { fence, a } = await started(world)
    expect(await world.report({ fence, ...more, phase })).toBe(true)
    const log = await logOf(world, a)
    const before = await persisted(world)
    const result = await shown(world, { fence, ...more, phase, exports: { n: 2 } })
    expect(result).toEqual({ ok: true, objectId: a, changed: false })
    expect(await logOf(world, a)).toEqual(log)
    expect(await persisted(world)).toEqual(before)
  })

  it('of the phase the object is in stores its progress and its message, and records no phase change', async () => {
    await using world = await createWorld()
    const { fence, a } = await started(world)
    const log = await logOf(world, a)
    const progress = { step: 'copy', value: 3, total: 10, unit: 'files' }
    expect(await world.report({ fence, phase: 'PROGRESSING', progress })).toBe(false)
    expect(await progressOf(world, a)).toEqual(progress)
    expect(await world.report({ fence, progress: { value: 4 }, message: 'Copying the fourth.' })).toBe(false)
    expect(await progressOf(world, a)).toEqual({ step: 'Copying the fourth.', value: 4, total: null, unit: null })
    expect(await logOf(world, a)).toEqual(log)
  })

  it('records its agent and its message', async () => {
    await using world = await createWorld()
    const { fence, a } = await started(world)
    await world.report({ fence, phase: 'SUCCEEDED', message: 'Two pods are up.' })
    expect((await logOf(world, a)).at(-1)).toMatchObject({ actor: 'DEPLOYER', by: 'deployer', to: 'SUCCEEDED' })
    const { rows } = await world.pool.query('select message from phase_change where object_id = $1 and "to" = $2', [
      a,
      'SUCCEEDED',
    ])
    expect(rows).toEqual([{ message: 'Two pods are up.' }])
  })

  it('of a failure without a reason still leaves an error', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    await world.report({ fence, phase: 'FAILED' })
    expect((await world.see(...at('a'))).error).toMatchObject({ code: 'FAILED', message: expect.stringMatching(/./) })
  })

  it('in a new job finds neither error nor progress of the last one', async () => {
    await using world = await createWorld()
    const { id, fence, a } = await started(world)
    await world.report({ fence, phase: 'FAILED', progress: { value: 1 }, error: broken.error })
    await world.reconcile(id)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'INIT', error: null })
    expect(await progressOf(world, a)).toBeNull()
  })
})

describe('a row that does not exist', () => {
  const cases: readonly [Phase, readonly Phase[], Phase][] = [
    ['PROGRESSING', ['SUCCEEDED', 'FAILED', 'ABORTED'], 'GONE'],
    ['PROGRESSING', ['SUCCEEDED', 'FAILED', 'ABORTED'], 'DELETE_FAILED'],
    ['PROGRESSING', ['SUCCEEDED', 'FAILED', 'ABORTED'], 'INIT'],
    ['PROGRESSING', ['SUCCEEDED', 'FAILED', 'ABORTED'], 'RUNNING'],
    ['SUCCEEDED', [], 'PROGRESSING'],
    ['SUCCEEDED', [], 'FAILED'],
    ['FAILED', [], 'SUCCEEDED'],
    ['FAILED', [], 'ABORTED'],
    ['ABORTED', [], 'SUCCEEDED'],
    ['DELETING', ['GONE', 'DELETE_FAILED'], 'SUCCEEDED'],
    ['DELETING', ['GONE', 'DELETE_FAILED'], 'ABORTED'],
    ['DELETE_FAILED', [], 'GONE'],
  ]
  it.each(cases)('is refused: from %s (allowed: %j) to %s', async (from, allowed, to) => {
    await using world = await createWorld()
    const deletes = from === 'DELETING' || from === 'DELETE_FAILED'
    const { fence, a } = deletes ? await deleting(world) : await started(world)
    if ((await world.see(...at('a'))).phase !== from) await world.report({ fence, phase: from })
    const before = await persisted(world)
    const log = await logOf(world, a)
    const result = await shown(world, {
      fence,
      phase: to,
      progress: { value: 9 },
      exports: { n: 9 },
      error: { ...broken.error, retryable: true },
    })
    const refusal = { type: 'TransitionError', kind: 'DEPLOY_ITEM', from, to, actor: 'DEPLOYER', allowed }
    expect(result).toMatchObject({ ok: false, refusal })
    // Nothing is written but the rejection record.
    expect(await persisted(world)).toEqual(before)
    expect((await logOf(world, a)).slice(log.length)).toEqual([
      { from, to, actor: 'DEPLOYER', by: 'deployer', reason: expect.stringContaining(to), rejected: true },
    ])
    expect((await world.see(...at('a'))).phase).toBe(from)
  })
})

describe('a late report', () => {
  it('does not move an item out of a final phase that a timeout put it in', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    await pass(world, 600_000)
    for (const phase of ['SUCCEEDED', 'ABORTED', 'PROGRESSING'] as const) {
      const result = await world.report({ fence, phase })
      // Stopping after the timeout is the very failure that is recorded.
      expect(result).toBe(phase === 'ABORTED' ? false : 'TransitionError')
    }
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'FAILED', error: { code: 'PROGRESSING_TIMEOUT' } })
  })

  it('of an earlier job is refused from the moment the item is triggered anew', async () => {
    await using world = await createWorld()
    const { id, fence } = await started(world)
    await world.report({ fence, phase: 'SUCCEEDED' })
    await world.reconcile(id)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    const { fence: second } = only(await world.claim())
    expect(await world.report({ fence, phase: 'FAILED' })).toBe('StaleReportError')
    expect(await world.report({ fence: second, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('of the job before is accepted as a repetition while a new job has not triggered the item', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('first'), item('a', ['first'])] })
    await world.report({ fence: only(await world.claim()).fence, phase: 'SUCCEEDED' })
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'SUCCEEDED' })
    await world.reconcile(id)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(false)
    expect((await world.see(...at('a'))).phase).toBe('SUCCEEDED')
  })

  it('of a deployment is refused once the deletion is triggered', async () => {
    await using world = await createWorld()
    const { old, fence } = await deleting(world)
    expect(await world.report({ fence: old, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    expect(await world.report({ fence, phase: 'GONE' })).toBe(true)
  })
})

describe('a fence', () => {
  it('that is none is stale, one of nothing that there ever was is not found', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    const nowhere = Buffer.from(fence, 'base64url').fill(7, 0, 16).toString('base64url')
    const forged = Buffer.from(fence, 'base64url').fill(7, 16).toString('base64url')
    expect(await all(world, [{ fence: '' }, { fence: `${fence}A` }, { fence: nowhere }, { fence: forged }])).toEqual([
      'StaleReportError',
      'StaleReportError',
      'NotFoundError',
      'StaleReportError',
    ])
  })
})

describe('a batch', () => {
  it('gets one result per report, in order, over several trees; what is wrong with one does not touch the others', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    await world.create('other', { deployItems: [item('c'), item('d')] })
    const claimed = await world.claim()
    const fence = (name: string) => named(claimed, name).fence
    expect(
      await all(world, [
        { fence: fence('c'), phase: 'SUCCEEDED' },
        { fence: fence('a'), phase: 'GONE' },
        { fence: 'nonsense', phase: 'SUCCEEDED' },
        { fence: fence('b'), phase: 'SUCCEEDED' },
        { fence: fence('d'), progress: { value: 1 } },
        { fence: fence('b'), phase: 'SUCCEEDED' },
        { fence: fence('b'), phase: 'FAILED' },
      ]),
    ).toEqual([true, 'TransitionError', 'StaleReportError', true, false, false, 'TransitionError'])
    expect(await itemsOf(world)).toEqual({ a: 'PROGRESSING', b: 'SUCCEEDED' })
    expect(await itemsOf(world, 'other')).toEqual({ c: 'SUCCEEDED', d: 'PROGRESSING' })
  })

  it('may be empty, or have many about the same work', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    const many = Array.from({ length: 500 }, (): Report => ({ fence, phase: 'SUCCEEDED' }))
    expect(await all(world, [])).toEqual([])
    expect(await all(world, many)).toEqual([true, ...Array.from({ length: 499 }, () => false)])
  })
})

describe('two racing writers', () => {
  it('exactly one wins, the other gets the fresh state judged again', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let i = 0; i < 5; i++) {
      const name = `race-${i}`
      await world.create(name, { deployItems: [item('a')] })
      const { fence, objectId } = only(await world.claim())
      const outcomes = await Promise.all([
        world.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'SUCCEEDED' }]),
        other.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'FAILED', error: broken.error }]),
      ])
      const results = outcomes.flatMap((outcome) => (outcome.ok ? outcome.results : []))
      expect(results.filter((result) => result.ok && result.changed)).toHaveLength(1)
      expect(results.filter((result) => !result.ok && result.refusal.type === 'TransitionError')).toHaveLength(1)
      await world.settle()
      const item_ = await world.see(name, 'deploy-items', 'a')
      expect(item_.phase).toBe(results[0]?.ok ? 'SUCCEEDED' : 'FAILED')
      expect((await world.see(name)).phase).toBe(item_.phase)
      expect((await logOf(world, objectId)).filter(({ rejected }) => rejected)).toHaveLength(1)
    }
  })
})

describe('PROGRESSING with a retryable error', () => {
  it('gives the work back: it is offered again after a backoff, with a higher attempt and a new fence', async () => {
    await using world = await createWorld()
    const { fence, a } = await started(world)
    expect(await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })).toBe(false)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'PROGRESSING', error: { code: 'BUSY' } })
    await pass(world, 749)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    const second = only(await world.claim(1, OTHER))
    expect(second).toMatchObject({ objectId: a, attempt: 2, action: 'RECONCILE' })
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    expect(await world.report({ fence: second.fence, phase: 'SUCCEEDED' }, OTHER)).toBe(true)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'SUCCEEDED', error: null })
    expect(await world.history(a)).toEqual(['PENDING', 'INIT', 'PROGRESSING', 'SUCCEEDED'])
  })

  it('waits longer each time', async () => {
    await using world = await createWorld()
    let { fence } = await started(world)
    for (const wait of [750, 1_500, 3_000]) {
      await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })
      await pass(world, wait - 1)
      expect(await world.claim()).toEqual([])
      await pass(world, 1)
      fence = only(await world.claim()).fence
    }
  })

  it('that is repeated, because its answer was lost, does not start the backoff anew', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })
    await pass(world, 700)
    expect(await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })).toBe(false)
    await pass(world, 50)
    expect(only(await world.claim()).attempt).toBe(2)
  })

  it('returns a deletion in the same way', async () => {
    await using world = await createWorld()
    const { fence } = await deleting(world)
    expect(await world.report({ fence, phase: 'DELETING', error: tryAgain })).toBe(false)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'DELETING', error: { code: 'BUSY' } })
    await pass(world, 749)
    expect(await world.claim()).toEqual([])
    await pass(world, 1)
    const second = only(await world.claim())
    expect(second).toMatchObject({ action: 'DELETE', attempt: 2 })
    expect(await world.report({ fence: second.fence, phase: 'GONE' })).toBe(true)
    expect(await world.exists('shop')).toBe(false)
  })

  it('is not what FAILED is: that is final for the job, retryable or not', async () => {
    await using world = await createWorld()
    const { fence } = await started(world)
    expect(await world.report({ fence, phase: 'FAILED', error: tryAgain })).toBe(true)
    expect((await world.see(...at('a'))).phase).toBe('FAILED')
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
    await pass(world, 60_000)
    expect(await world.claim()).toEqual([])
  })
})

describe('GONE', () => {
  it('that is repeated after the object is gone is accepted, with no object; any other phase is not found', async () => {
    await using world = await createWorld()
    const { fence, old } = await deleting(world)
    const first = await shown(world, { fence, phase: 'GONE' })
    expect(first).toEqual({ ok: true, objectId: null, changed: true })
    expect(await world.exists('shop')).toBe(false)
    const log = await world.pool.query('select count(*) from phase_change')
    expect(await shown(world, { fence, phase: 'GONE' })).toEqual({ ok: true, objectId: null, changed: false })
    for (const phase of ['DELETE_FAILED', 'SUCCEEDED', 'DELETING'] as const) {
      expect(await world.report({ fence, phase })).toBe('NotFoundError')
    }
    expect(await world.report({ fence, progress: { value: 1 } })).toBe('NotFoundError')
    expect(await world.report({ fence, phase: 'GONE' }, OTHER)).toBe('StaleReportError')
    expect(await world.report({ fence: old, phase: 'GONE' })).toBe('StaleReportError')
    expect((await world.pool.query('select count(*) from phase_change')).rows).toEqual(log.rows)
  })

  it('is repeated within one message, and while the tree is still there', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('base'), item('top', ['base'])] })
    await world.work()
    await world.remove(id)
    const { fence } = only(await world.claim())
    expect(
      await all(world, [
        { fence, phase: 'GONE' },
        { fence, phase: 'GONE' },
        { fence, phase: 'DELETE_FAILED' },
      ]),
    ).toEqual([true, false, 'NotFoundError'])
    expect(await all(world, [{ fence, phase: 'GONE' }])).toEqual([false])
    expect(await itemsOf(world)).toEqual({ base: 'INIT_DELETE' })
  })
})
