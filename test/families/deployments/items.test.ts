import { describe, expect, it } from 'vitest'
import { step } from '../../../src/core/machine.ts'
import { deployItem } from '../../../src/families/deployments/machines.ts'
import { at, broken, EXECUTION, itemsOf, logOf, named, only } from '../../testkit/items.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, item, succeed, type World } from '../../testkit/world.ts'

async function exportsOf(world: World, name: string): Promise<unknown> {
  const { id } = await world.see(...at(name))
  const { rows } = await world.pool.query<{ exports: unknown }>(
    'select exports from deploy_item where object_id = $1',
    [id],
  )
  return rows[0]?.exports
}

describe('config', () => {
  it('is resolved over imports and the exports of items: one whole expression as a value, others as text', async () => {
    await using world = await createWorld()
    await world.setData('region', { name: 'eu-1', zones: 3 })
    await world.create('shop', {
      imports: [{ name: 'where', from: 'region' }],
      deployItems: [
        item('db', [], { zones: '${imports.where.zones}', at: 'in ${imports.where.name}', plain: [1, null, 'x'] }),
        item('app', [], {
          whole: '${deployItems.db.exports}',
          text: 'https://${deployItems.db.exports.host}:${deployItems.db.exports.port + 1}/',
        }),
      ],
    })
    const db = only(await world.claim())
    expect(db).toMatchObject({ name: 'db', config: { zones: 3, at: 'in eu-1', plain: [1, null, 'x'] } })
    await world.report({ fence: db.fence, phase: 'SUCCEEDED', exports: { host: 'db.eu-1', port: 5432 } })
    const app = only(await world.claim())
    expect(app.config).toEqual({ whole: { host: 'db.eu-1', port: 5432 }, text: 'https://db.eu-1:5433/' })
  })

  it('implies a dependsOn with each expression that refers to an item', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('b', [], { of: ['${deployItems.a.exports.n}'] }), item('a')] })
    expect(await itemsOf(world)).toEqual({ a: 'INIT', b: 'PENDING' })
  })

  it('sees the imports as they were read entering INIT, for the whole job', async () => {
    await using world = await createWorld()
    await world.setData('size', 1)
    const config = { size: '${imports.size}' }
    await world.create('shop', {
      imports: [{ name: 'size' }],
      deployItems: [item('first', [], config), item('second', ['first'], config)],
    })
    await world.setData('size', 2)
    const first = only(await world.claim())
    await world.report({ fence: first.fence, phase: 'SUCCEEDED' })
    expect(only(await world.claim())).toMatchObject({ name: 'second', config: { size: 1 } })
  })

  it('that cannot be resolved makes the item FAILED with code EXPRESSION, and no deployer is called', async () => {
    await using world = await createWorld()
    await world.create('shop', {
      deployItems: [item('a'), item('b', [], { host: '${deployItems.a.exports.host}' }), item('c', ['b'])],
    })
    await world.report({ fence: only(await world.claim()).fence, phase: 'SUCCEEDED', exports: { other: 1 } })
    expect(await world.claim()).toEqual([])
    const b = await world.see(...at('b'))
    expect(b).toMatchObject({ phase: 'FAILED', error: { code: 'EXPRESSION' } })
    expect(b.error?.message).toContain('host')
    expect(b.finishedJobId).toBe(b.jobId)
    expect((await logOf(world, b.id)).map(({ from, actor, to }) => [from, actor, to])).toEqual([
      [null, 'CONTROLLER', 'PENDING'],
      ['PENDING', 'CONTROLLER', 'INIT'],
      ['INIT', 'CONTROLLER', 'FAILED'],
    ])
    expect(await world.see(...EXECUTION)).toMatchObject({
      phase: 'FAILED',
      error: { causes: [{ name: 'b', code: 'EXPRESSION' }] },
    })
  })

  it('that can be resolved again is deployed by the next job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b', [], { host: '${deployItems.a.exports.host}' })],
    })
    await world.work()
    expect(await itemsOf(world)).toEqual({ a: 'SUCCEEDED', b: 'FAILED' })
    await world.reconcile(id)
    await world.work((work) => ({ ...succeed(work), exports: { host: 'here' } }))
    expect(await itemsOf(world)).toEqual({ a: 'SUCCEEDED', b: 'SUCCEEDED' })
    expect(await world.see(...at('b'))).toMatchObject({ error: null })
  })
})

describe('exports', () => {
  it('become visible with success, and not before', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'PROGRESSING', exports: { early: true } })
    expect(await exportsOf(world, 'a')).toBeNull()
    await world.report({ fence, phase: 'SUCCEEDED', exports: { url: 'x' } })
    expect(await exportsOf(world, 'a')).toEqual({ url: 'x' })
  })

  it('of the last success stay when a later job fails, and are replaced by the next success', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.work(() => ({ phase: 'SUCCEEDED', exports: { n: 1 } }))
    await world.reconcile(id)
    await world.work(() => ({ ...broken, exports: { n: 2 } }))
    expect(await exportsOf(world, 'a')).toEqual({ n: 1 })
    await world.reconcile(id)
    await world.work(() => ({ phase: 'SUCCEEDED', exports: { n: 3 } }))
    expect(await exportsOf(world, 'a')).toEqual({ n: 3 })
  })

  it('of an item that another depends on may be none at all', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b', [], { has: '${has(deployItems.a.exports.n)}' })] })
    await world.report({ fence: only(await world.claim()).fence, phase: 'SUCCEEDED' })
    expect(only(await world.claim()).config).toEqual({ has: false })
  })
})

describe('picked up', () => {
  it('is written by the claim itself: PROGRESSING, by the deployer', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a', [], { n: 1 })] })
    const before = await world.see(...at('a'))
    expect(before.phase).toBe('INIT')
    const outcome = await world.engineHost.agents.claim(viewerOf('AGENT', { name: 'eve', actor: 'DEPLOYER' }), {
      instance: 'one',
      types: ['mock'],
      targets: null,
      max: 5,
      leaseMs: 30_000,
    })
    const claimed = only(outcome.ok ? outcome.items : [])
    expect(claimed).toMatchObject({
      objectId: before.id,
      kind: 'DEPLOY_ITEM',
      name: 'a',
      jobId: before.jobId,
      action: 'RECONCILE',
      type: 'mock',
      target: null,
      config: { n: 1 },
      attempt: 1,
      leaseUntil: new Date(world.clock.now().getTime() + 30_000),
    })
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    expect((await logOf(world, before.id)).at(-1)).toMatchObject({
      from: 'INIT',
      actor: 'DEPLOYER',
      to: 'PROGRESSING',
      by: 'eve',
    })
  })

  it('is for a deletion DELETING, with the config that its deployer last got', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a', [], { version: 1 })] })
    await world.work()
    // Wanted, and never claimed.
    await world.update(id, { deployItems: [item('a', [], { version: 2 })] })
    await world.cancel(id)
    await world.remove(id)
    const claimed = only(await world.claim())
    expect(claimed).toMatchObject({ action: 'DELETE', config: { version: 1 } })
    expect((await logOf(world, claimed.objectId)).at(-1)).toMatchObject({
      from: 'INIT_DELETE',
      actor: 'DEPLOYER',
      to: 'DELETING',
      by: 'deployer',
    })
  })

  it('may have been missed: a deployer’s end is accepted from INIT and from INIT_DELETE', () => {
    for (const [from, to] of [
      ['INIT', 'SUCCEEDED'],
      ['INIT', 'FAILED'],
      ['INIT_DELETE', 'GONE'],
      ['INIT_DELETE', 'DELETE_FAILED'],
    ] as const) {
      expect(step(deployItem, from, 'DEPLOYER', to)).toMatchObject({ ok: true, changed: true })
    }
  })
})

describe('an object of one name', () => {
  it('is not ended by what is said of its predecessor, which is deleted', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const old = only(await world.claim())
    await world.report({ fence: old.fence, phase: 'SUCCEEDED' })
    await world.remove(id)
    await world.work()
    expect(await world.exists('shop')).toBe(false)
    await world.create('shop', { deployItems: [item('a')] })
    const fresh = named(await world.claim(), 'a')
    expect(await world.report({ fence: old.fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    expect(await world.report({ fence: fresh.fence, phase: 'SUCCEEDED' })).toBe(true)
  })
})
