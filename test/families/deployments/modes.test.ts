import { describe, expect, it } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import {
  changesOf,
  columnsOf,
  EXECUTION,
  exporter,
  expr,
  FAILED,
  importer,
  JOB,
  nested,
  using,
} from '../../testkit/deployments.ts'
import { createWorld, item, succeed, type World } from '../../testkit/world.ts'

/** Names of the objects that changed their phase in the tree's present job. */
async function movedIn(world: World, rootId: string): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ job_id: string }>('select job_id from object where id = $1', [rootId])
  const changes = (await changesOf(world, rootId)).filter(
    ({ jobId, from }) => jobId === rows[0]?.job_id && from !== null,
  )
  return [...new Set(changes.map(({ name }) => name))].sort()
}
/** It has had the job of its parent, and ended it. */
async function countsInJob(world: World, ...path: string[]): Promise<void> {
  const { jobId } = await world.see(...path.slice(0, -1))
  expect(await world.see(...path)).toMatchObject({ phase: 'SUCCEEDED', jobId, finishedJobId: jobId })
}
const exports = (values: Readonly<Record<string, Readonly<Record<string, unknown>>>>) => (work: ClaimedItem) => ({
  ...succeed(work),
  exports: values[work.name] ?? {},
})

describe('STANDARD', () => {
  it('runs every object again and calls every agent', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x'), item('y')], installations: [nested('db', {})] })
    await world.work()
    await world.reconcile(id, 'STANDARD')
    expect(await world.work()).toEqual(['x', 'y'])
    expect(await movedIn(world, id)).toEqual(['db', EXECUTION, 'shop', 'x', 'y'])
  })
})

describe('IF_CHANGED', () => {
  it('gives an unchanged root its job and ends it in one write, with no phase change and no agent called', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')], installations: [nested('db', {})] })
    await world.work()
    const before = await world.see('shop')
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.claim()).toEqual([])
    const after = await world.see('shop')
    expect(after.jobId).not.toBe(before.jobId)
    expect(after).toMatchObject({ phase: 'SUCCEEDED', finishedJobId: after.jobId })
    expect(await world.history(id)).toEqual(['PENDING', ...JOB])
  })

  it('runs a changed item again, and others only if their resolved config differs', async () => {
    await using world = await createWorld()
    const spec = (size: number) => ({
      deployItems: [
        item('a', [], { size }),
        item('b', [], { host: expr('deployItems.a.exports.host') }),
        item('c', ['a']),
        item('d'),
      ],
    })
    const id = await world.create('shop', spec(1))
    await world.work(exports({ a: { host: 'one' } }))
    await world.update(id, spec(2), false)
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work(exports({ a: { host: 'one' } }))).toEqual(['a'])
    expect(await movedIn(world, id)).toEqual(['a', EXECUTION, 'shop'])
    for (const name of ['b', 'c', 'd']) await countsInJob(world, 'shop', EXECUTION, name)
    await world.update(id, spec(3), false)
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work(exports({ a: { host: 'two' } }))).toEqual(['a', 'b'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 3 })
  })

  it('runs again exactly what takes in a changed import', async () => {
    await using world = await createWorld()
    await world.setData('key', 1)
    await world.setData('other', 1)
    const id = await world.create('shop', {
      imports: [{ name: 'key' }, { name: 'other' }],
      installations: [
        nested('a', importer('key')),
        nested('b', { imports: [{ name: 'other' }], deployItems: [item('still')] }),
        nested('c', { imports: [{ name: 'made' }], deployItems: [using('last', ['made'])] }),
        nested('d', {
          imports: [{ name: 'key' }],
          exports: [{ name: 'made', value: expr('deployItems.make.exports.made') }],
          deployItems: [using('make', ['key'])],
        }),
      ],
      deployItems: [using('own', ['key']), using('not', ['other'])],
    })
    await world.work(exports({ make: { made: 'm' } }))
    // Set by a user: the finished root gets an IF_CHANGED job by itself.
    await world.setData('key', 2)
    expect(await columnsOf(world, id)).toMatchObject({ mode: 'IF_CHANGED' })
    expect([...(await world.work(exports({ make: { made: 'm' } })))].sort()).toEqual(['make', 'own', 'use'])
    // The import of c was unknown before d had run, so c waited for d; no agent of c was called.
    expect(await movedIn(world, id)).toEqual(['a', 'c', 'd', EXECUTION, 'make', 'own', 'shop', 'use'])
    await countsInJob(world, 'shop', 'b')
    await countsInJob(world, 'shop', 'c')
    await countsInJob(world, 'shop', EXECUTION, 'not')
    await world.setData('key', 3)
    expect([...(await world.work(exports({ make: { made: 'n' } })))].sort()).toEqual(['last', 'make', 'own', 'use'])
  })

  it('runs again what failed, and only that', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('good'), item('bad'), item('after', ['bad'])],
      installations: [nested('fine', { deployItems: [item('z')] }), nested('poor', { deployItems: [item('y')] })],
    })
    await world.work((work) => (work.name === 'bad' || work.name === 'y' ? FAILED : succeed(work)))
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
    await world.reconcile(id, 'IF_CHANGED')
    expect([...(await world.work())].sort()).toEqual(['after', 'bad', 'y'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', error: null })
    await countsInJob(world, 'shop', 'fine')
    await countsInJob(world, 'shop', EXECUTION, 'good')
  })

  it('runs what depends on kept items, however the job was asked for', async () => {
    await using world = await createWorld()
    await world.setData('key', 1)
    const spec = (size: number) => ({
      imports: [{ name: 'key' }],
      deployItems: [item('a'), item('b', ['a']), item('c', ['b'], { size }), using('d', ['key'], ['c'])],
    })
    const id = await world.create('shop', spec(1))
    await world.work((work) => (work.name === 'b' ? FAILED : succeed(work)))
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work()).toEqual(['b', 'c', 'd'])
    await world.update(id, spec(2), false)
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work()).toEqual(['c'])
    await world.setData('key', 2)
    expect(await world.work()).toEqual(['d'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    await countsInJob(world, 'shop', EXECUTION, 'a')
  })

  it('keeps a nested installation that is decided before the unchanged one from which it imports', async () => {
    await using world = await createWorld()
    const spec = (size: number) => ({
      installations: [
        nested('c', { imports: [{ name: 'w' }], deployItems: [using('third', ['w'])] }),
        nested('b', {
          imports: [{ name: 'v' }],
          exports: [{ name: 'w', value: 1 }],
          deployItems: [using('second', ['v'])],
        }),
        nested('a', { exports: [{ name: 'v', value: 1 }], deployItems: [item('first')] }),
      ],
      deployItems: [item('own', [], { size })],
    })
    const id = await world.create('shop', spec(1))
    await world.work()
    await world.update(id, spec(2), false)
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work()).toEqual(['own'])
    expect(await movedIn(world, id)).toEqual([EXECUTION, 'own', 'shop'])
    for (const name of ['a', 'b', 'c']) await countsInJob(world, 'shop', name)
  })

  it('runs a root again whose spec changed and was never applied', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    await world.work()
    await world.update(id, { deployItems: [item('x'), item('y')] }, false)
    await world.reconcile(id, 'IF_CHANGED')
    expect(await world.work()).toEqual(['y'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 2 })
  })
})

describe('FORCE', () => {
  const spec = {
    installations: [nested('db', exporter('url')), nested('app', importer('url'))],
  }

  it('keeps the order of a healthy tree: what runs in this job is waited for, and its new exports are taken in', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(exports({ make: { url: 'one' } }))
    await world.reconcile(id, 'FORCE')
    const [make, ...others] = await world.claim()
    expect(others).toEqual([])
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.report({ fence: make?.fence ?? '', phase: 'SUCCEEDED', exports: { url: 'two' } })
    expect((await world.claim()).map(({ name, config }) => [name, config])).toEqual([['use', { url: 'two' }]])
  })

  it('lets a nested installation start although its predecessor failed', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(exports({ make: { url: 'one' } }))
    const failing = (work: ClaimedItem) => (work.name === 'make' ? FAILED : succeed(work))
    await world.reconcile(id)
    expect(await world.work(failing)).toEqual(['make'])
    await world.reconcile(id, 'FORCE')
    expect([...(await world.work(failing))].sort()).toEqual(['make', 'use'])
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
  })

  it.each([
    ['fails first', ['bad', 'slow']],
    ['fails last', ['slow', 'bad']],
  ])('waits for what runs where one of two predecessors %s', async (_, order) => {
    await using world = await createWorld()
    const made = (name: string) =>
      nested(name, {
        exports: [{ name, value: expr(`deployItems.${name}.exports.v`) }],
        deployItems: [item(name)],
      })
    const id = await world.create('shop', {
      installations: [made('bad'), made('slow'), nested('app', importer('bad', 'slow'))],
    })
    await world.work(exports({ bad: { v: 1 }, slow: { v: 1 } }))
    await world.reconcile(id, 'FORCE')
    const fences = new Map((await world.claim()).map(({ name, fence }) => [name, fence]))
    expect([...fences.keys()].sort()).toEqual(['bad', 'slow'])
    for (const name of order) {
      expect(await world.see('shop', 'app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
      const fence = fences.get(name) ?? ''
      await world.report(name === 'bad' ? { fence, ...FAILED } : { fence, phase: 'SUCCEEDED', exports: { v: 2 } })
    }
    expect((await world.claim()).map(({ name, config }) => [name, config])).toEqual([['use', { bad: 1, slow: 2 }]])
  })

  it('does not wait for a predecessor that is ignored in a phase without success', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(exports({ make: { url: 'one' } }))
    await world.reconcile(id)
    await world.work(() => FAILED)
    await world.ignore((await world.see('shop', 'db')).id, true)
    await world.reconcile(id, 'FORCE')
    expect(await world.work()).toEqual(['use'])
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('needs the imports of a nested installation satisfied all the same', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec, false)
    await world.reconcile(id, 'FORCE')
    expect(await world.work(() => FAILED)).toEqual(['make'])
    expect(await world.see('shop', 'app')).toMatchObject({ phase: 'FAILED', error: { code: 'PREDECESSOR_FAILED' } })
  })

  it('lets a root start although the root that it imports from failed or is running', async () => {
    await using world = await createWorld()
    const db = await world.create('db', exporter('url'))
    await world.work(exports({ make: { url: 'one' } }))
    const app = await world.create('app', importer('url'))
    await world.work()
    await world.reconcile(db)
    await world.work(() => FAILED)
    await world.reconcile(app)
    expect(await world.see('app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.reconcile(app, 'FORCE')
    expect(await world.work()).toEqual(['use'])
    await world.reconcile(db)
    expect(await world.see('db')).toMatchObject({ phase: 'PROGRESSING' })
    await world.reconcile(app, 'FORCE')
    expect(await world.see('app')).toMatchObject({ phase: 'PROGRESSING' })
  })

  it('needs the imports of a root satisfied all the same', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'), false)
    await world.reconcile(id, 'FORCE')
    expect(await world.see('app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.setData('url', 'one')
    expect(await world.work()).toEqual(['use'])
    expect(await columnsOf(world, id)).toMatchObject({ mode: 'FORCE' })
  })
})
