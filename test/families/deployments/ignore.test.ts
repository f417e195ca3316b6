import { describe, expect, it } from 'vitest'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { columnsOf, exporter, expr, FAILED, importer, JOB, nested, using } from '../../testkit/deployments.ts'
import { createWorld, item, succeed, USER, type World } from '../../testkit/world.ts'

const ignoreNested = async (world: World, ignored: boolean, ...path: string[]) => {
  const { id } = await world.see(...path)
  await world.ignore(id, ignored)
}

describe('an ignored root', () => {
  it('starts nothing in a final phase until it is not ignored any more', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    await world.work()
    const before = await world.see('shop')
    await world.ignore(id, true)
    await world.reconcile(id)
    await world.update(id, { deployItems: [item('x'), item('y')] })
    expect(await world.claim()).toEqual([])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', jobId: before.jobId, generation: 2 })
    await world.ignore(id, false)
    expect(await world.work()).toEqual(['x', 'y'])
    expect(await world.history(id)).toEqual(['PENDING', ...JOB, ...JOB])
  })

  it('is not deleted either', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    await world.work(() => FAILED)
    await world.ignore(id, true)
    await world.remove(id)
    expect(await world.claim()).toEqual([])
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', deletionRequestedAt: null })
    await world.ignore(id, false)
    expect(await world.work()).toEqual(['x'])
    expect(await world.exists('shop')).toBe(false)
  })

  it('finishes the job that runs', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x'), item('y', ['x'])] })
    await world.ignore(id, true)
    expect(await world.work()).toEqual(['x', 'y'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('that was never reconciled is in no final phase: it starts', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] }, false)
    await world.ignore(id, true)
    await world.reconcile(id)
    expect(await world.work()).toEqual(['x'])
  })

  it('gets no job from its exporters', async () => {
    await using world = await createWorld()
    await world.setData('url', 1)
    const id = await world.create('app', importer('url'))
    await world.work()
    await world.ignore(id, true)
    await world.setData('url', 2)
    expect(await world.claim()).toEqual([])
    await world.ignore(id, false)
    expect((await world.claim()).map(({ config }) => config)).toEqual([{ url: 2 }])
  })
})

describe('of what is remembered', () => {
  it.each([
    [['IF_CHANGED', 'STANDARD'], 'STANDARD'],
    [['STANDARD', 'IF_CHANGED'], 'STANDARD'],
    [['STANDARD', 'FORCE', 'IF_CHANGED'], 'FORCE'],
    [['IF_CHANGED', 'IF_CHANGED'], 'IF_CHANGED'],
  ] as const)('the strongest mode wins: %s', async (modes, strongest) => {
    await using world = await createWorld()
    const id = await world.create('shop', {})
    await world.ignore(id, true)
    for (const mode of modes) await world.reconcile(id, mode)
    expect(await columnsOf(world, id)).toMatchObject({ nextMode: strongest })
    await world.ignore(id, false)
    expect(await columnsOf(world, id)).toMatchObject({ mode: strongest, nextMode: null })
  })

  it('deletion beats reconcile, whichever was asked for first', async () => {
    await using world = await createWorld()
    for (const [name, deletionFirst] of [
      ['a', true],
      ['b', false],
    ] as const) {
      const id = await world.create(name, {})
      await world.ignore(id, true)
      if (deletionFirst) await world.remove(id)
      await world.reconcile(id, 'STANDARD')
      if (!deletionFirst) await world.remove(id)
      await world.ignore(id, false)
      expect(await world.exists(name)).toBe(false)
    }
  })
})

describe('an ignored nested installation', () => {
  const spec = {
    installations: [nested('db', exporter('url')), nested('app', importer('url'))],
    deployItems: [item('own')],
  }
  const url = (work: Parameters<typeof succeed>[0]) => ({ ...succeed(work), exports: { url: 'u' } })

  it('counts with the phase that it has: SUCCEEDED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await ignoreNested(world, true, 'shop', 'db')
    const before = await world.history((await world.see('shop', 'db')).id)
    await world.reconcile(id)
    expect([...(await world.work(url))].sort()).toEqual(['own', 'use'])
    const { jobId } = await world.see('shop')
    expect(await world.see('shop', 'db')).toMatchObject({ phase: 'SUCCEEDED', jobId, finishedJobId: jobId })
    expect(await world.history((await world.see('shop', 'db')).id)).toEqual(before)
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('counts with the phase that it has: FAILED, and its dependents fail with it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work((work) => (work.name === 'make' ? FAILED : succeed(work)))
    await ignoreNested(world, true, 'shop', 'db')
    await world.reconcile(id)
    expect(await world.work(url)).toEqual(['own'])
    expect(await world.see('shop', 'app')).toMatchObject({ error: { code: 'PREDECESSOR_FAILED' } })
    const root = await world.see('shop')
    expect(root).toMatchObject({ phase: 'FAILED', error: { causeCount: 2 } })
    expect(root.error?.causes.map(({ name }) => name).sort()).toEqual(['app', 'db'])
  })

  it('is not deleted: the deletion of its root waits for it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await ignoreNested(world, true, 'shop', 'app')
    await world.remove(id)
    expect(await world.work()).toEqual(['own'])
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETING' })
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.see('shop', 'db')).toMatchObject({ phase: 'INIT_DELETE' })
    await ignoreNested(world, false, 'shop', 'app')
    expect(await world.work()).toEqual(['use', 'make'])
    expect(await world.exists('shop')).toBe(false)
  })

  it('is not deleted as an orphan: the job waits for it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(url)
    await ignoreNested(world, true, 'shop', 'app')
    await world.update(id, { ...spec, installations: [nested('db', exporter('url'))] })
    expect(await world.claim()).toEqual([])
    expect(await world.see('shop')).toMatchObject({ phase: 'CLEANUP_ORPHANED' })
    await ignoreNested(world, false, 'shop', 'app')
    const [first, ...others] = await world.work(url)
    expect([first, others.sort()]).toEqual(['use', ['make', 'own']])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.exists('shop', 'app')).toBe(false)
  })

  describe.each([
    ['its spec', async (world: World, id: string) => await world.update(id, OUTER({ size: 2 }))],
    ['what it imports', async (world: World) => await world.setData('region', 'south')],
  ])('that jobs passed over, while %s changed', (_, change) => {
    it('runs with the next job that runs what has changed, and nothing else does', async () => {
      await using world = await createWorld()
      await world.setData('region', 'north')
      const id = await world.create('shop', OUTER({ size: 1 }))
      await world.work()
      await ignoreNested(world, true, 'shop', 'mid', 'db')
      await change(world, id)
      await world.work()
      await world.reconcile(id, 'IF_CHANGED')
      expect(await world.claim()).toEqual([])
      const kept = await world.see('shop')
      expect(kept).toMatchObject({ phase: 'SUCCEEDED', generation: kept.observedGeneration })

      await ignoreNested(world, false, 'shop', 'mid', 'db')
      expect(await world.claim()).toEqual([])
      await world.reconcile(id, 'IF_CHANGED')
      expect(await world.work()).toEqual(['use'])
      const db = await world.see('shop', 'mid', 'db')
      expect(db).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: db.generation })
      const quiet = await world.history(id)
      await world.reconcile(id, 'IF_CHANGED')
      expect(await world.claim()).toEqual([])
      expect(await world.history(id)).toEqual(quiet)
    })

    it('runs as soon as it is not ignored any more', async () => {
      await using world = await createWorld()
      await world.setData('region', 'north')
      const id = await world.create('shop', OUTER({ size: 1 }))
      await world.work()
      await ignoreNested(world, true, 'shop', 'mid', 'db')
      await change(world, id)
      await world.work()
      const nestedId = (await world.see('shop', 'mid', 'db')).id
      const taken = await world.commands.updateInstallation(USER, { id: nestedId, ignored: false, reconcile: true })
      expect(taken).toMatchObject({ ok: true })
      await world.settle()
      expect(await world.work()).toContain('use')
      expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    })
  })

  it('that is not ignored any more while its deletion waits for it gets no other job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { installations: [nested('db', { deployItems: [item('x')] })] })
    await world.work()
    await ignoreNested(world, true, 'shop', 'db')
    await world.remove(id)
    const { id: nestedId } = await world.see('shop', 'db')
    await world.commands.updateInstallation(USER, { id: nestedId, ignored: false, reconcile: true })
    await world.settle()
    expect(await columnsOf(world, id)).toMatchObject({ nextMode: null })
    expect(await world.work()).toEqual(['x'])
    expect(await world.exists('shop')).toBe(false)
  })
})

/** The change is two levels below the root; an item beside each level stays as it is. */
const OUTER = (config: object): SpecInput => ({
  imports: [{ name: 'region' }],
  deployItems: [item('own')],
  installations: [
    nested('mid', {
      imports: [{ name: 'region' }],
      deployItems: [item('beside')],
      installations: [
        nested('db', {
          imports: [{ name: 'region' }],
          deployItems: [{ ...using('use', ['region']), config: { region: expr('imports.region'), ...config } }],
        }),
      ],
    }),
  ],
})
