import { describe, expect, it } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import { changesOf, EXECUTION, exporter, importer, nested, reached } from '../../testkit/deployments.ts'
import { createWorld, DEPLOYER, item, succeed, type World } from '../../testkit/world.ts'

const stuck = (work: ClaimedItem) =>
  work.action === 'DELETE'
    ? ({ phase: 'DELETE_FAILED', error: { code: 'LOCKED', message: 'It is locked.', retryable: false } } as const)
    : succeed(work)
const url = (work: ClaimedItem) => ({ ...succeed(work), exports: work.action === 'DELETE' ? null : { url: 'u' } })
/** The actions of agents, in order, e.g. `DELETE x`. */
async function workList(world: World, answer = succeed as Parameters<World['work']>[0]): Promise<readonly string[]> {
  const asked: string[] = []
  await world.work((work) => {
    asked.push(`${work.action} ${work.name}`)
    return (answer ?? succeed)(work)
  })
  return asked
}

describe('items that the spec no longer has', () => {
  it('are deleted first, in reverse order of their dependencies, under the current job, while the execution is in INIT', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b', ['a']), item('c', ['b']), item('keep')],
    })
    await world.work()
    await world.update(id, { deployItems: [item('keep'), item('new')] })
    for (const name of ['c', 'b', 'a']) {
      const [orphan, ...others] = await world.claim()
      expect(others).toEqual([])
      expect(orphan).toMatchObject({ name, action: 'DELETE', jobId: (await world.see('shop')).jobId })
      expect(await world.see('shop', EXECUTION)).toMatchObject({ phase: 'INIT' })
      expect(await world.exists('shop', EXECUTION, 'new')).toBe(false)
      await world.report({ fence: orphan?.fence ?? '', phase: 'GONE' })
    }
    expect(await workList(world)).toEqual(['RECONCILE keep', 'RECONCILE new'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    const { jobId } = await world.see('shop')
    const gone = (await changesOf(world, id)).filter(({ to }) => to === 'GONE')
    expect(gone.map((entry) => [entry.name, entry.jobId])).toEqual([
      ['c', jobId],
      ['b', jobId],
      ['a', jobId],
    ])
  })

  it('go although items that stay used to depend on them', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    await world.update(id, { deployItems: [item('b')] })
    expect(await workList(world)).toEqual(['DELETE a', 'RECONCILE b'])
  })

  it('that no deployer has ever had go without one', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    world.clock.advance(300_000)
    await world.settle()
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
    await world.update(id, { deployItems: [item('c')] })
    expect(await workList(world)).toEqual(['RECONCILE c'])
    expect(reached(await changesOf(world, id), 'GONE')).toEqual(['b', 'a'])
  })

  it('fail the execution when one ends DELETE_FAILED: nothing is created, and the next job tries again', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a']), item('c')] })
    await world.work()
    await world.update(id, { deployItems: [item('new')] })
    expect(await workList(world, (work) => (work.name === 'b' ? stuck(work) : succeed(work)))).toEqual([
      'DELETE b',
      'DELETE c',
    ])
    expect(await world.see('shop', EXECUTION, 'b')).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'LOCKED' } })
    expect(await world.see('shop', EXECUTION)).toMatchObject({
      phase: 'FAILED',
      error: { causes: [{ name: 'b', code: 'LOCKED' }] },
    })
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
    expect(await world.see('shop', EXECUTION, 'a')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.exists('shop', EXECUTION, 'new')).toBe(false)
    await world.reconcile(id)
    expect(await workList(world)).toEqual(['DELETE b', 'DELETE a', 'RECONCILE new'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', error: null })
  })

  it('whose name is added again are waited for: the new one is another object', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a', [], { size: 1 })] })
    await world.work()
    const old = await world.see('shop', EXECUTION, 'a')
    await world.update(id, { deployItems: [item('b')] })
    await workList(world, stuck)
    await world.update(id, { deployItems: [item('a', [], { size: 2 })] })
    const [orphan] = await world.claim()
    expect(orphan).toMatchObject({ action: 'DELETE', objectId: old.id, config: { size: 1 } })
    expect(await world.claim()).toEqual([])
    await world.report({ fence: orphan?.fence ?? '', phase: 'GONE' })
    const [fresh] = await world.claim()
    expect(fresh).toMatchObject({ action: 'RECONCILE', name: 'a', config: { size: 2 } })
    expect(fresh?.objectId).not.toBe(old.id)
  })

  it.each([
    ['type', { type: 'other' }],
    ['target', { target: 'north' }],
  ])('or have it with another %s are replaced: the old one goes first, with its old deployer', async (_, change) => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    const old = await world.see('shop', EXECUTION, 'a')
    await world.update(id, { deployItems: [{ ...item('a'), ...change }, item('b', ['a'])] })
    const both = ['mock', 'other']
    const [orphan, ...rest] = await world.claim(10, DEPLOYER, both)
    expect(orphan).toMatchObject({ action: 'DELETE', type: 'mock', target: null, objectId: old.id })
    expect(rest).toEqual([])
    await world.report({ fence: orphan?.fence ?? '', phase: 'GONE' })
    const [fresh, ...others] = await world.claim(10, DEPLOYER, both)
    expect(fresh).toMatchObject({ action: 'RECONCILE', name: 'a', ...change })
    expect(others).toEqual([])
    await world.report({ fence: fresh?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await workList(world)).toEqual(['RECONCILE b'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })
})

describe('nested installations that the spec no longer has', () => {
  const spec = { installations: [nested('db', exporter('url')), nested('app', importer('url')), nested('keep', {})] }

  it('are deleted first, in reverse order of their dependencies, under the current job, in CLEANUP_ORPHANED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await world.update(id, { installations: [nested('keep', {}), nested('new', {})] })
    const { jobId } = await world.see('shop')
    for (const name of ['use', 'make']) {
      const [orphan, ...others] = await world.claim()
      expect(others).toEqual([])
      expect(orphan).toMatchObject({ name, action: 'DELETE', jobId })
      expect(await world.see('shop')).toMatchObject({ phase: 'CLEANUP_ORPHANED', jobId })
      expect(await world.exists('shop', 'new')).toBe(false)
      await world.report({ fence: orphan?.fence ?? '', phase: 'GONE' })
    }
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', jobId })
    expect(reached(await changesOf(world, id), 'GONE', 'INSTALLATION')).toEqual(['app', 'db'])
  })

  it('go although a sibling that stays used to import from them', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await world.update(id, { installations: [nested('app', { deployItems: [item('use')] })] })
    expect(await workList(world)).toEqual(['DELETE make', 'RECONCILE use'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('fail the installation when one ends DELETE_FAILED, and nothing new is created', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await world.update(id, { installations: [nested('new', {})] })
    expect(await workList(world, stuck)).toEqual(['DELETE use'])
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'DELETE_FAILED' })
    expect(await world.see('shop')).toMatchObject({
      phase: 'FAILED',
      error: { causes: [{ name: 'app' }], causeCount: 1 },
    })
    expect(await world.exists('shop', 'new')).toBe(false)
    await world.reconcile(id)
    expect(await workList(world)).toEqual(['DELETE use', 'DELETE make'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('whose name is added again are waited for: the new one is another object', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    const old = await world.see('shop', 'db')
    await world.update(id, { installations: [nested('keep', {})] })
    await workList(world, (work) => (work.name === 'make' ? stuck(work) : succeed(work)))
    await world.update(id, { installations: [nested('db', exporter('url'))] })
    expect(await workList(world, url)).toEqual(['DELETE make', 'RECONCILE make'])
    const fresh = await world.see('shop', 'db')
    expect(fresh).toMatchObject({ phase: 'SUCCEEDED' })
    expect(fresh.id).not.toBe(old.id)
  })
})

describe('an execution whose installation has no items any more', () => {
  it('is deleted completely, in reverse order, before the job continues', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b', ['a'])],
      installations: [nested('n', {})],
    })
    await world.work()
    const execution = await world.see('shop', EXECUTION)
    await world.update(id, { installations: [nested('n', {})] })
    expect(await world.see('shop')).toMatchObject({ phase: 'CLEANUP_ORPHANED' })
    expect(await workList(world)).toEqual(['DELETE b', 'DELETE a'])
    expect(await world.exists('shop', EXECUTION)).toBe(false)
    expect((await world.history(execution.id)).slice(-3)).toEqual(['INIT_DELETE', 'DELETING', 'GONE'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    await world.update(id, { deployItems: [item('a')] })
    expect(await workList(world)).toEqual(['RECONCILE a'])
  })

  it('fails the installation when it ends DELETE_FAILED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.work()
    await world.update(id, {})
    await workList(world, stuck)
    expect(await world.see('shop', EXECUTION)).toMatchObject({ phase: 'DELETE_FAILED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { causes: [{ name: EXECUTION }] } })
    await world.update(id, { deployItems: [item('a')] })
    expect(await workList(world)).toEqual(['DELETE a', 'RECONCILE a'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })
})

it('a deletion without uninstalling that is only remembered keeps no agent from the orphans of the job that runs', async () => {
  await using world = await createWorld()
  const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
  await world.work()
  await world.update(id, { deployItems: [item('c')] })
  const [b] = await world.claim()
  await world.remove(id, { withoutUninstall: true })
  await world.report({ fence: b?.fence ?? '', phase: 'GONE' })
  expect(await workList(world)).toEqual(['DELETE a', 'RECONCILE c'])
  expect(await world.exists('shop')).toBe(false)
})
