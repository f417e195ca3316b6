import { describe, expect, it } from 'vitest'
import { rootCauseOf } from '../../../src/core/errors.ts'
import type { Report } from '../../../src/core/ports/agents.ts'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { loadRun } from '../../../src/families/deployments/store/load-runs.ts'
import { at, broken, countsOf, dependOn, EXECUTION, itemsOf, logOf, named, names, only } from '../../testkit/items.ts'
import { createWorld, DEPLOYER, item, type World } from '../../testkit/world.ts'

/** Ends some of the claimed items, in one message. */
async function end(world: World, reports: readonly Report[]): Promise<void> {
  const outcome = await world.engineHost.agents.report(DEPLOYER, reports)
  if (!outcome.ok) throw new Error(outcome.refusal.message)
  for (const result of outcome.results) if (!result.ok) throw new Error(result.refusal.message)
  await world.settle()
}
const well = (fence: string): Report => ({ fence, phase: 'SUCCEEDED' })
const badly = (fence: string): Report => ({ fence, ...broken })
const gone = (fence: string): Report => ({ fence, phase: 'GONE' })

async function error(world: World, ...path: string[]) {
  return (await world.see(...path)).error
}
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `n${from + i}`)

describe('progressing', () => {
  it('all in class A: complete', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    expect(await world.work()).toEqual(['a', 'b'])
    const execution = await world.see(...EXECUTION)
    expect(await world.history(execution.id)).toEqual(['PENDING', 'INIT', 'PROGRESSING', 'COMPLETING', 'SUCCEEDED'])
    expect(execution).toMatchObject({ error: null, observedGeneration: 1 })
    expect(execution.finishedJobId).toBe(execution.jobId)
    expect(await countsOf(world, execution.id)).toMatchObject({ total: 2, untriggered: 0, open: 0, failed: 0 })
  })

  it('is not complete before the last item has succeeded', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const claimed = await world.claim()
    await end(world, [well(named(claimed, 'a').fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('PROGRESSING')
    await end(world, [well(named(claimed, 'b').fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('SUCCEEDED')
  })

  it('triggers all of D at once; E waits and is not offered', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('e', ['d1']), item('d1'), item('d2'), item('d3')] })
    expect(await itemsOf(world)).toEqual({ d1: 'INIT', e: 'PENDING', d2: 'INIT', d3: 'INIT' })
    const claimed = await world.claim()
    expect(names(claimed)).toEqual(['d1', 'd2', 'd3'])
    expect(await countsOf(world, (await world.see(...EXECUTION)).id)).toMatchObject({ untriggered: 1, open: 3 })
    expect(await world.see(...at('e'))).toMatchObject({ jobId: null })
    await end(world, [well(named(claimed, 'd1').fence)])
    expect(names(await world.claim())).toEqual(['e'])
  })

  it('goes along a chain one by one', async () => {
    await using world = await createWorld()
    const chain = numbered(0, 6)
    const items = chain.map((name, i) => item(name, i === 0 ? [] : [`n${i - 1}`]))
    await world.create('shop', { deployItems: items.toReversed() })
    for (const name of chain) {
      const claimed = only(await world.claim())
      expect(claimed.name).toBe(name)
      await end(world, [well(claimed.fence)])
    }
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('waits at the end of a diamond for both sides', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [item('top'), item('left', ['top']), item('right', ['top']), item('end', ['left', 'right'])],
    })
    await end(world, [well(only(await world.claim()).fence)])
    const sides = await world.claim()
    expect(names(sides)).toEqual(['left', 'right'])
    await end(world, [well(named(sides, 'left').fence)])
    expect(await world.claim()).toEqual([])
    await end(world, [well(named(sides, 'right').fence)])
    expect(names(await world.claim())).toEqual(['end'])
  })

  it('counts both sides of a diamond when they end in one message', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('left'), item('right'), item('end', ['left', 'right'])] })
    const sides = await world.claim()
    await end(
      world,
      sides.map(({ fence }) => well(fence)),
    )
    expect(names(await world.claim())).toEqual(['end'])
  })

  it('fans out to fifty at once and in again', async () => {
    await using world = await createWorld()
    const many = numbered(0, 50)
    const deployItems = [item('first'), ...many.map((name) => item(name, ['first'])), item('last', many)]
    await world.create('shop', { deployItems })
    await end(world, [well(only(await world.claim()).fence)])
    const claimed = await world.claim()
    expect(names(claimed)).toEqual(many)
    await end(
      world,
      claimed.slice(1).map(({ fence }) => well(fence)),
    )
    expect(await world.claim()).toEqual([])
    await end(world, [well(claimed[0]?.fence ?? '')])
    expect(names(await world.claim())).toEqual(['last'])
  })

  it('triggers each of more items than one run checks exactly once, in the order of the spec', async () => {
    await using world = await createWorld()
    const many = numbered(0, 1_201)
    await world.create('shop', { deployItems: many.map((name) => item(name)) })
    const claimed = [...(await world.claim()), ...(await world.claim()), ...(await world.claim())]
    expect(names(claimed)).toEqual(many)
    expect(await countsOf(world, (await world.see(...EXECUTION)).id)).toMatchObject({ untriggered: 0, open: 1_201 })
    for (let from = 0; from < claimed.length; from += 500) {
      await end(
        world,
        claimed.slice(from, from + 500).map(({ fence }) => well(fence)),
      )
    }
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
    const { rows } = await world.pool.query(
      `select count(*)::integer as n from phase_change where kind = 'DEPLOY_ITEM' and "to" = 'INIT'`,
    )
    expect(rows[0]).toEqual({ n: 1_201 })
  })
})

describe('any in class B', () => {
  it('triggers nothing more, waits for C to empty, then FAILED', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [item('bad'), item('running'), item('after-running', ['running']), item('after-bad', ['bad'])],
    })
    const claimed = await world.claim()
    await end(world, [badly(named(claimed, 'bad').fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('PROGRESSING')
    expect((await world.see('shop')).phase).toBe('PROGRESSING')
    await end(world, [well(named(claimed, 'running').fence)])
    expect(await world.claim()).toEqual([])
    expect(await itemsOf(world)).toEqual({
      bad: 'FAILED',
      running: 'SUCCEEDED',
      'after-running': 'PENDING',
      'after-bad': 'PENDING',
    })
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
    expect((await world.see('shop')).phase).toBe('FAILED')
  })

  it.each(['bad first', 'good first'])('holds for what became ready in the same message: %s', async (order) => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('bad'), item('good'), item('next', ['good'])] })
    const claimed = await world.claim()
    const reports = [badly(named(claimed, 'bad').fence), well(named(claimed, 'good').fence)]
    await end(world, order === 'bad first' ? reports : reports.toReversed())
    expect(await itemsOf(world)).toEqual({ bad: 'FAILED', good: 'SUCCEEDED', next: 'PENDING' })
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
  })

  it('does not stop what was offered before: it is in class C', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('bad'), item('offered')] })
    await end(world, [badly(only(await world.claim(1)).fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('PROGRESSING')
    await end(world, [well(only(await world.claim()).fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
  })

  it('is where an aborted item belongs too', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('stopped'), item('next', ['stopped'])] })
    await end(world, [{ fence: only(await world.claim()).fence, phase: 'ABORTED', message: 'A person stopped it.' }])
    expect(await itemsOf(world)).toEqual({ stopped: 'ABORTED', next: 'PENDING' })
    expect(await world.see(...EXECUTION)).toMatchObject({
      phase: 'FAILED',
      error: { causes: [{ name: 'stopped', code: 'ABORTED', message: 'A person stopped it.' }] },
    })
  })

  it('names the failed items as causes, ten at most, with their number', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('fine'), ...numbered(0, 12).map((name) => item(name))] })
    const [fine, ...bad] = await world.claim()
    await end(world, [well(fine?.fence ?? ''), ...bad.map(({ fence }) => badly(fence))])
    const found = await error(world, ...EXECUTION)
    expect(found).toMatchObject({ code: 'CHILDREN_FAILED', causeCount: 12 })
    expect(found?.causes).toEqual(
      numbered(0, 10).map((name) => expect.objectContaining({ name, code: 'BROKEN', message: 'It broke.' })),
    )
    expect(found?.message).toContain('n0 (BROKEN)')
    expect(found?.message).toContain('2 more')
    const root = await error(world, 'shop')
    expect(root).toMatchObject({ code: 'CHILDREN_FAILED', causeCount: 1, causes: [{ name: 'deploy-items' }] })
  })

  it('tells the root of a nested tree, and its run, what failed by itself', async () => {
    await using world = await createWorld()
    const nested = { installations: [{ name: 'inner', spec: { deployItems: [item('db')] } }] }
    const id = await world.create('shop', { installations: [{ name: 'outer', spec: nested }] })
    await end(world, [badly(only(await world.claim()).fence)])
    const root = { name: 'db', code: 'BROKEN', message: 'It broke.' }
    expect((await error(world, 'shop'))?.causes).toMatchObject([{ name: 'outer', code: 'CHILDREN_FAILED', root }])
    await world.reconcile(id)
    await end(world, [well(only(await world.claim()).fence)])
    const run = await loadRun(world.pool, id, 1)
    expect(run?.error && rootCauseOf(run.error)).toMatchObject(root)
  })

  it('leaves items that were never triggered in their old phase, and in their old job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    const before = await world.see(...at('b'))
    await world.reconcile(id)
    await end(world, [badly(only(await world.claim()).fence)])
    expect(await world.see(...at('b'))).toMatchObject({ phase: before.phase, jobId: before.jobId })
    expect(before.phase).toBe('SUCCEEDED')
    const execution = await world.see(...EXECUTION)
    expect(execution.phase).toBe('FAILED')
    expect(before.jobId).not.toBe(execution.jobId)
    expect(await countsOf(world, execution.id)).toMatchObject({ total: 2, untriggered: 1, open: 0, failed: 1 })
  })

  it('is forgotten by the next job, which succeeds', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await end(world, [badly(only(await world.claim()).fence)])
    await world.reconcile(id)
    expect(await world.work()).toEqual(['a', 'b'])
    for (const path of [['shop'], EXECUTION, at('a'), at('b')]) {
      expect(await world.see(...path)).toMatchObject({ phase: 'SUCCEEDED', error: null })
    }
  })
})

describe('a failed child', () => {
  it('makes the parent FAILED only after nothing below it is running; its error names the failed children', async () => {
    await using world = await createWorld()
    const bad = { name: 'bad', spec: { deployItems: [item('x')] } }
    const slow = { name: 'slow', spec: { deployItems: [item('y')] } }
    const fine = { name: 'fine', spec: { deployItems: [item('z')] } }
    await world.create('shop', { installations: [bad, slow, fine], deployItems: [item('own')] })
    const claimed = await world.claim()
    await end(world, [badly(named(claimed, 'x').fence), badly(named(claimed, 'own').fence)])
    await end(world, [well(named(claimed, 'z').fence)])
    expect((await world.see('shop', 'bad')).phase).toBe('FAILED')
    expect((await world.see(...EXECUTION)).phase).toBe('FAILED')
    expect((await world.see('shop')).phase).toBe('PROGRESSING')
    await end(world, [well(named(claimed, 'y').fence)])
    const root = await world.see('shop')
    expect(root.phase).toBe('FAILED')
    expect(root.error?.causes.map(({ name }) => name)).toEqual(['bad', 'deploy-items'])
    expect(root.error?.causeCount).toBe(2)
    expect(root.finishedJobId).toBe(root.jobId)
  })
})

/** Makes x and y depend on each other; until then, both wait only for a gate. */
async function knot(world: World): Promise<{ gate: string }> {
  await world.create('shop', { deployItems: [item('gate'), item('x', ['gate']), item('y', ['gate'])] })
  const { fence } = only(await world.claim())
  const [x, y] = [await world.see(...at('x')), await world.see(...at('y'))]
  await dependOn(world, x.id, y.id)
  await dependOn(world, y.id, x.id)
  return { gate: fence }
}

describe('neither C nor D but E remains', () => {
  it('is stuck: FAILED with code STUCK and the cycle in the message', async () => {
    await using world = await createWorld()
    const { gate } = await knot(world)
    await end(world, [well(gate)])
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'FAILED', error: { code: 'STUCK' } })
    expect((await error(world, ...EXECUTION))?.message).toMatch(/x → y → x|y → x → y/)
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { causes: [{ code: 'STUCK' }] } })
    expect(await itemsOf(world)).toEqual({ gate: 'SUCCEEDED', x: 'PENDING', y: 'PENDING' })
  })

  it('is not stuck as long as something runs', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('gate'), item('slow'), item('x', ['gate'])] })
    const claimed = await world.claim()
    const x = await world.see(...at('x'))
    await dependOn(world, x.id, x.id)
    await end(world, [well(named(claimed, 'gate').fence)])
    expect((await world.see(...EXECUTION)).phase).toBe('PROGRESSING')
    await end(world, [well(named(claimed, 'slow').fence)])
    expect(await error(world, ...EXECUTION)).toMatchObject({ code: 'STUCK' })
    expect((await error(world, ...EXECUTION))?.message).toContain('x → x')
  })

  it('is repaired by the next job, whose spec has no cycle', async () => {
    await using world = await createWorld()
    const { gate } = await knot(world)
    await end(world, [well(gate)])
    await world.reconcile((await world.see('shop')).id)
    expect(await world.work()).toEqual(['gate', 'x', 'y'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', error: null })
  })

  it('on deletion is DELETE_FAILED with code STUCK and the cycle in the message', async () => {
    await using world = await createWorld()
    const { gate } = await knot(world)
    await end(world, [well(gate)])
    await world.remove((await world.see('shop')).id)
    expect(await world.claim()).toEqual([])
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'STUCK' } })
    expect((await error(world, ...EXECUTION))?.message).toMatch(/x → y → x|y → x → y/)
    expect((await world.see('shop')).phase).toBe('DELETE_FAILED')
  })
})

describe('an item that disappeared', () => {
  const vanish = async (world: World, name: string) => {
    const { id } = await world.see(...at(name))
    // The database itself refuses it as long as its guard is on.
    const drop = 'delete from object where id = $1'
    await world.pool.query('alter table object disable trigger user')
    await world.pool.query(drop, [id])
    await world.pool.query('alter table object enable trigger user')
  }

  it('counts as failed while it waits', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    const { fence } = only(await world.claim())
    await vanish(world, 'b')
    await end(world, [well(fence)])
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'FAILED', error: { code: 'ITEM_DISAPPEARED' } })
    expect((await world.see('shop')).phase).toBe('FAILED')
  })

  it('counts as failed once it had succeeded', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const claimed = await world.claim()
    await end(world, [well(named(claimed, 'a').fence)])
    await vanish(world, 'a')
    await end(world, [well(named(claimed, 'b').fence)])
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'FAILED', error: { code: 'ITEM_DISAPPEARED' } })
  })

  it('counts as failed while it is in a deployer’s hands, at the latest when its clock runs out', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const claimed = await world.claim()
    await vanish(world, 'a')
    await end(world, [well(named(claimed, 'b').fence)])
    world.clock.advance(600_000)
    await world.engineHost.runner.reconcile((await world.see('shop')).id, false)
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'FAILED', error: { code: 'ITEM_DISAPPEARED' } })
    expect((await world.see('shop')).phase).toBe('FAILED')
    const { rows } = await world.pool.query('select * from root_queue')
    expect(rows).toEqual([])
  })

  it('is created anew by the next job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    await vanish(world, 'a')
    await world.reconcile(id)
    expect(await world.work()).toEqual(['a', 'b'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })
})

describe('deleting is the mirror image', () => {
  it('triggers an item only when all its successors are gone', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('top'), item('left', ['top']), item('right', ['top']), item('end', ['left', 'right'])],
    })
    await world.work()
    await world.remove(id)
    const last = only(await world.claim())
    expect(last).toMatchObject({ name: 'end', action: 'DELETE' })
    await end(world, [gone(last.fence)])
    const sides = await world.claim()
    expect(names(sides)).toEqual(['left', 'right'])
    await end(world, [gone(named(sides, 'right').fence)])
    expect(await world.claim()).toEqual([])
    await end(world, [gone(named(sides, 'left').fence)])
    await end(world, [gone(only(await world.claim()).fence)])
    expect(await world.exists('shop')).toBe(false)
  })

  it('class B is DELETE_FAILED: nothing more is triggered, what runs is waited for, nothing is lost', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('base'), item('x', ['base']), item('y', ['base'])] })
    await world.work()
    await world.remove(id)
    const claimed = await world.claim()
    await end(world, [{ ...badly(named(claimed, 'x').fence), phase: 'DELETE_FAILED' }])
    expect((await world.see(...EXECUTION)).phase).toBe('DELETING')
    await end(world, [gone(named(claimed, 'y').fence)])
    expect(await itemsOf(world)).toEqual({ base: 'SUCCEEDED', x: 'DELETE_FAILED' })
    expect(await world.see(...EXECUTION)).toMatchObject({
      phase: 'DELETE_FAILED',
      error: { code: 'CHILDREN_FAILED', causes: [{ name: 'x', code: 'BROKEN' }] },
    })
    expect((await world.see('shop')).phase).toBe('DELETE_FAILED')
    await world.remove(id)
    expect(await world.work()).toEqual(['x', 'base'])
    expect(await world.exists('shop')).toBe(false)
  })
})

describe('orphans', () => {
  const three = [item('a'), item('b', ['a']), item('c', ['b'])]

  it('are deleted in reverse order under the current job while the execution is still in INIT', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('stays'), ...three] })
    await world.work()
    await world.update(id, { deployItems: [item('stays'), item('new')] })
    const phases: Phase[] = []
    const order: string[] = []
    for (let claimed = await world.claim(); claimed[0]?.action === 'DELETE'; claimed = await world.claim()) {
      const { name, fence, jobId } = only(claimed)
      const execution = await world.see(...EXECUTION)
      expect(jobId).toBe(execution.jobId)
      order.push(name)
      phases.push(execution.phase)
      await end(world, [gone(fence)])
    }
    expect(order).toEqual(['c', 'b', 'a'])
    expect(phases).toEqual(['INIT', 'INIT', 'INIT'])
    expect(await itemsOf(world)).toEqual({ stays: 'PROGRESSING', new: 'PROGRESSING' })
  })

  it('that end DELETE_FAILED fail the execution, and the next job tries again', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('stays'), ...three] })
    await world.work()
    await world.update(id, { deployItems: [item('stays')] })
    await end(world, [{ fence: only(await world.claim()).fence, ...broken, phase: 'DELETE_FAILED' }])
    expect(await world.see(...EXECUTION)).toMatchObject({ phase: 'FAILED', error: { causes: [{ name: 'c' }] } })
    expect(await itemsOf(world)).toMatchObject({ stays: 'SUCCEEDED', b: 'SUCCEEDED', c: 'DELETE_FAILED' })
    await world.reconcile(id)
    expect(await world.work()).toEqual(['c', 'b', 'a', 'stays'])
    expect(await itemsOf(world)).toEqual({ stays: 'SUCCEEDED' })
  })

  it('keep their name until they are gone: an item that is added again, or has another type, waits for that', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x'), item('y', ['x'])] })
    await world.work()
    const before = await world.see(...at('x'))
    await world.update(id, { deployItems: [{ ...item('x'), type: 'gadget' }, item('y', ['x'])] })
    const old = only(await world.claim())
    expect(old).toMatchObject({ name: 'x', action: 'DELETE', type: 'mock', objectId: before.id })
    expect((await world.see(...EXECUTION)).phase).toBe('INIT')
    await end(world, [gone(old.fence)])
    const fresh = only(await world.claim(10, DEPLOYER, ['mock', 'gadget']))
    expect(fresh).toMatchObject({ name: 'x', action: 'RECONCILE', type: 'gadget' })
    expect(fresh.objectId).not.toBe(before.id)
    await end(world, [well(fresh.fence)])
    expect(await world.work()).toEqual(['y'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('that were never deployed are deleted without a deployer, on record under the current job too', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('stays'), item('never', ['stays'])] })
    await world.cancel(id)
    const { id: never } = await world.see(...at('never'))
    await world.update(id, { deployItems: [item('stays')] })
    expect(await itemsOf(world)).toEqual({ stays: 'INIT' })
    const { jobId } = await world.see(...EXECUTION)
    const { rows } = await world.pool.query('select "to", job_id from phase_change where object_id = $1', [never])
    expect(rows.at(-1)).toEqual({ to: 'GONE', job_id: jobId })
  })

  it('include the whole execution, when its installation has no items any more', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: three })
    await world.work()
    const execution = await world.see(...EXECUTION)
    await world.update(id, {})
    expect((await world.see('shop')).phase).toBe('CLEANUP_ORPHANED')
    expect(await world.work()).toEqual(['c', 'b', 'a'])
    expect(await world.exists(...EXECUTION)).toBe(false)
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
    expect((await logOf(world, execution.id)).slice(-3).map(({ to }) => to)).toEqual([
      'INIT_DELETE',
      'DELETING',
      'GONE',
    ])
  })
})
