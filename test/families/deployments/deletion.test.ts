import { describe, expect, it } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import { sweep } from '../../../src/store/sweep.ts'
import {
  changesOf,
  columnsOf,
  dataOf,
  EXECUTION,
  exporter,
  expr,
  importer,
  nested,
  reached,
  rowsOf,
} from '../../testkit/deployments.ts'
import { createWorld, DEPLOYER, item, succeed, type World } from '../../testkit/world.ts'

const DELETE_FAILED = {
  phase: 'DELETE_FAILED',
  error: { code: 'LOCKED', message: 'It is locked.', retryable: false },
} as const
const refusing =
  (...names: readonly string[]) =>
  (work: ClaimedItem) =>
    work.action === 'DELETE' && names.includes(work.name) ? DELETE_FAILED : succeed(work)
const exports = (work: ClaimedItem) => ({
  ...succeed(work),
  exports: work.action === 'DELETE' ? null : { url: 'u', port: 1, key: 'k' },
})
/** `db` exports what `app` imports; both have succeeded. */
async function twoRoots(world: World): Promise<{ db: string; app: string }> {
  const db = await world.create('db', exporter('url'))
  const app = await world.create('app', importer('url'))
  await world.work(exports)
  expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED' })
  return { db, app }
}
const RICH = {
  imports: [{ name: 'region' }],
  exports: [{ name: 'shopUrl', value: expr('installations.web.exports.webUrl') }],
  deployItems: [item('a'), item('b', ['a']), item('c', ['a', 'b'])],
  installations: [
    nested('db', exporter('url', 'port')),
    nested('web', {
      imports: [{ name: 'url' }, { name: 'region' }],
      exports: [{ name: 'webUrl', value: 'w' }],
      deployItems: [item('w')],
      installations: [nested('deep', { deployItems: [item('d')] })],
    }),
  ],
}

describe('deletion', () => {
  it('goes in the reverse of the order of creation: items', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b', ['a']), item('c', ['b']), item('d', ['b'])],
    })
    await world.work()
    await world.remove(id)
    const order = await world.work()
    expect(order.slice(0, 2).toSorted()).toEqual(['c', 'd'])
    expect(order.slice(2)).toEqual(['b', 'a'])
  })

  it('goes in the reverse of the order of creation: nested installations, what is below first', async () => {
    await using world = await createWorld()
    await world.setData('region', 'north')
    const id = await world.create('shop', RICH)
    await world.work(exports)
    await world.remove(id)
    await world.work()
    const gone = reached(await changesOf(world, id), 'GONE')
    const follows = (later: string, earlier: string) =>
      expect(gone.indexOf(later)).toBeGreaterThan(gone.indexOf(earlier))
    follows('make', 'web')
    follows('db', 'make')
    follows('web', 'deep')
    follows('deep', 'd')
    follows('a', 'b')
    follows('b', 'c')
    expect(gone.at(-1)).toBe('shop')
    expect(gone).toHaveLength(14)
  })

  it('leaves no row of the tree behind but its history', async () => {
    await using world = await createWorld()
    await world.setData('region', 'north')
    const upstream = await world.create('upstream', { exports: [{ name: 'certificate', value: 1 }] })
    const id = await world.create('shop', { ...RICH, imports: [...RICH.imports, { name: 'certificate' }] })
    const downstream = await world.create('downstream', importer('shopUrl'))
    await world.work((work) => ({ ...exports(work), progress: { step: 'on it' } }))
    expect(await world.see('downstream')).toMatchObject({ phase: 'SUCCEEDED' })
    const { rows } = await world.pool.query('select count(*)::integer as n from export_pin')
    expect(rows).toEqual([{ n: 2 }])
    await world.remove(downstream)
    await world.work()
    await world.remove(id)
    for (let work = await world.claim(); work.length > 0; work = await world.claim()) {
      const lines = work.map(({ fence }) => ({ fence, stream: 'STDOUT', text: 'going' }) as const)
      expect(await world.engineHost.agents.appendLogs(DEPLOYER, lines)).toEqual({ ok: true, accepted: lines.length })
      for (const { fence } of work) await world.report({ fence, phase: 'GONE' })
    }
    expect(await rowsOf(world, id)).toEqual({})
    expect(await rowsOf(world, downstream)).toEqual({})
    expect(await dataOf(world, 'shopUrl')).toBeNull()
    expect(await dataOf(world, 'region')).toEqual({ value: 'north' })
    expect((await world.history(id)).at(-1)).toBe('GONE')
    await world.remove(upstream)
    expect(await rowsOf(world, upstream)).toEqual({})
    // Work is kept for a day, so that a repeated last report is answered.
    await sweep(world.pool, new Date(world.clock.now().getTime() + 24 * 3_600_000 + 1), {
      outlivingActions: [],
      agentRetentionMs: null,
    })
    const { rowCount } = await world.pool.query('select 1 from work')
    expect(rowCount).toBe(0)
  })

  it('leaves no row of a tree that never ran, that failed, that was without agents, or that waited', async () => {
    await using world = await createWorld()
    const idle = await world.create('idle', RICH, false)
    const waiting = await world.create('waiting', importer('nothing'))
    const failed = await world.create('failed', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work(() => ({ phase: 'FAILED' }))
    for (const id of [idle, waiting, failed]) {
      await world.remove(id)
      await world.work()
      expect(await rowsOf(world, id)).toEqual({})
    }
  })

  it('frees the name: its successor is another object with a history of its own', async () => {
    await using world = await createWorld()
    const first = await world.create('shop', {})
    await world.remove(first)
    const second = await world.create('shop', {})
    expect(second).not.toBe(first)
    expect(await world.see('shop')).toMatchObject({ id: second, generation: 1, phase: 'SUCCEEDED' })
  })
})

describe('an object', () => {
  it('vanishes only after its agent said that its real counterpart is gone', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.work()
    await world.remove(id)
    expect(await world.see('shop', EXECUTION, 'a')).toMatchObject({ phase: 'INIT_DELETE' })
    const [a] = await world.claim()
    expect(a).toMatchObject({ action: 'DELETE', name: 'a' })
    expect(await world.see('shop', EXECUTION, 'a')).toMatchObject({ phase: 'DELETING' })
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETING' })
    const gone = { fence: a?.fence ?? '', phase: 'GONE' } as const
    expect(await world.report(gone)).toBe(true)
    expect(await world.exists('shop')).toBe(false)
    // The answer was lost: said again, it is accepted and changes nothing.
    expect(await world.report(gone)).toBe(false)
  })

  it('is uninstalled with the config that its deployer last got, not with a spec that was never deployed', async () => {
    await using world = await createWorld()
    const spec = (size: number) => ({
      deployItems: [item('a', [], { size }), item('b', [], { of: expr('deployItems.a.exports.url') })],
    })
    const id = await world.create('shop', spec(1))
    await world.work(exports)
    await world.update(id, { deployItems: [...spec(2).deployItems, item('new')] }, false)
    await world.remove(id)
    const configs: unknown[] = []
    await world.work((work) => {
      configs.push([work.name, work.action, work.config])
      return succeed(work)
    })
    expect(configs).toEqual([
      ['b', 'DELETE', { of: 'u' }],
      ['a', 'DELETE', { size: 1 }],
    ])
  })

  it('is uninstalled with the config that its deployer last got, not with one that was offered and never claimed', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a', [], { size: 1 })] })
    await world.work()
    await world.update(id, { deployItems: [item('a', [], { size: 2 })] })
    world.clock.advance(300_000)
    await world.settle()
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED' })
    await world.remove(id)
    expect((await world.claim()).map(({ config }) => config)).toEqual([{ size: 1 }])
  })

  it('vanishes without its agent when withoutUninstall is asked for', async () => {
    await using world = await createWorld()
    await world.setData('region', 'north')
    const id = await world.create('shop', RICH)
    await world.work(exports)
    await world.remove(id, { withoutUninstall: true })
    expect(await world.claim()).toEqual([])
    expect(await rowsOf(world, id)).toEqual({})
  })
})

describe('a second deletion', () => {
  const WITHOUT = { withoutUninstall: true } as const
  const twoItems = { deployItems: [item('base'), item('top', ['base'])] }

  it('that calls no deployer waits for the one that runs, and changes nothing of it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', twoItems)
    await world.work()
    await world.remove(id)
    const [top] = await world.claim()
    await world.remove(id, WITHOUT)
    expect(await columnsOf(world, id)).toMatchObject({ nextDeletion: true })
    await world.report({ fence: top?.fence ?? '', phase: 'GONE' })
    expect(await world.work()).toEqual(['base'])
    expect(await world.exists('shop')).toBe(false)
  })

  it.each(['fails', 'is cancelled'] as const)('begins when the one that runs %s', async (how) => {
    await using world = await createWorld()
    const id = await world.create('shop', twoItems)
    await world.work()
    await world.remove(id)
    const [top] = await world.claim()
    await world.remove(id, WITHOUT)
    if (how === 'is cancelled') await world.cancel(id)
    await world.report({ fence: top?.fence ?? '', ...DELETE_FAILED })
    expect(await world.claim()).toEqual([])
    expect(await world.exists('shop')).toBe(false)
  })

  it('that calls deployers is the last word on one that calls none', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', twoItems)
    await world.work()
    await world.ignore(id, true)
    await world.remove(id, WITHOUT)
    await world.remove(id)
    await world.ignore(id, false)
    expect(await world.work()).toEqual(['top', 'base'])
  })

  it('that an earlier version has remembered is done as it was requested', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', twoItems)
    await world.work()
    await world.ignore(id, true)
    await world.remove(id, WITHOUT)
    await world.pool.query(
      `update installation set without_uninstall = true, next_origin = next_origin - 'withoutUninstall' where object_id = $1`,
      [id],
    )
    await world.ignore(id, false)
    expect(await world.claim()).toEqual([])
    expect(await world.exists('shop')).toBe(false)
  })
})

describe('a deletion that failed', () => {
  it('is DELETE_FAILED, with the failed children named, after nothing below is running', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b'), item('c', ['b'])],
      installations: [nested('n', { deployItems: [item('d')] })],
    })
    await world.work()
    await world.remove(id)
    const claimed = new Map((await world.claim()).map(({ name, fence }) => [name, fence]))
    expect([...claimed.keys()].toSorted()).toEqual(['a', 'c', 'd'])
    await world.report({ fence: claimed.get('c') ?? '', ...DELETE_FAILED })
    expect(await world.see('shop', EXECUTION)).toMatchObject({ phase: 'DELETING' })
    await world.report({ fence: claimed.get('a') ?? '', phase: 'GONE' })
    expect(await world.see('shop', EXECUTION)).toMatchObject({
      phase: 'DELETE_FAILED',
      error: { causes: [{ name: 'c', code: 'LOCKED' }] },
    })
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETING' })
    await world.report({ fence: claimed.get('d') ?? '', phase: 'GONE' })
    expect(await world.see('shop')).toMatchObject({
      phase: 'DELETE_FAILED',
      error: { causeCount: 1, causes: [{ name: EXECUTION }] },
    })
    expect(await world.claim()).toEqual([])
    expect(await world.exists('shop', EXECUTION, 'b')).toBe(true)
  })

  it('is only ever repeated, never undone: by asking for it again, or for a reconcile', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    await world.remove(id)
    expect(await world.work(refusing('b'))).toEqual(['b'])
    const failed = await world.see('shop')
    expect(failed).toMatchObject({ phase: 'DELETE_FAILED', finishedJobId: failed.jobId })
    await world.reconcile(id)
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETING' })
    expect(await world.work(refusing('a'))).toEqual(['b', 'a'])
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETE_FAILED' })
    await world.remove(id)
    expect(await world.work()).toEqual(['a'])
    expect(await rowsOf(world, id)).toEqual({})
  })

  it('may be repeated without the agents', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.work()
    await world.remove(id)
    await world.work(refusing('b'))
    await world.remove(id, { withoutUninstall: true })
    expect(await world.claim()).toEqual([])
    expect(await world.exists('shop')).toBe(false)
  })
})

describe('a root from which a sibling imports', () => {
  it('ends in DELETE_FAILED with SIBLING_IMPORT, naming it', async () => {
    await using world = await createWorld()
    const { db, app } = await twoRoots(world)
    await world.remove(db)
    expect(await world.claim()).toEqual([])
    const seen = await world.see('db')
    expect(seen).toMatchObject({
      phase: 'DELETE_FAILED',
      error: { code: 'SIBLING_IMPORT', causes: [{ objectId: app, name: 'app' }] },
    })
    expect(seen.error?.message).toContain('app')
    expect((await world.history(db)).slice(-2)).toEqual(['INIT_DELETE', 'DELETE_FAILED'])
    expect(await dataOf(world, 'url')).toEqual({ value: 'u' })
    await world.remove(app)
    await world.work()
    await world.remove(db)
    expect(await world.work()).toEqual(['make'])
    expect(await world.exists('db')).toBe(false)
  })

  it('is protected by every sibling that declares the import: optional, never started, or not yet removed', async () => {
    await using world = await createWorld()
    const db = await world.create('db', exporter('url'))
    const app = await world.create('app', importer('url'))
    await world.work(exports)
    const optional = await world.create('optional', { imports: [{ name: 'url', required: false }] }, false)
    await world.remove(db)
    expect((await world.see('db')).error?.causes.map(({ name }) => name)).toEqual(['app', 'optional'])
    await world.remove(optional)
    // The spec no longer imports it, but the deployed state does.
    await world.update(app, { deployItems: [item('use')] }, false)
    await world.remove(db)
    expect((await world.see('db')).error?.causes.map(({ name }) => name)).toEqual(['app'])
    await world.reconcile(app)
    await world.work()
    await world.remove(db)
    await world.work()
    expect(await world.exists('db')).toBe(false)
  })

  it('waits for that sibling while its own deletion is running', async () => {
    await using world = await createWorld()
    const { db, app } = await twoRoots(world)
    await world.remove(app)
    await world.remove(db)
    expect(await world.see('db')).toMatchObject({ phase: 'INIT_DELETE', error: null })
    expect(await world.work()).toEqual(['use', 'make'])
    expect(await world.exists('db')).toBe(false)
  })

  it('waits for that sibling while its deletion is only remembered', async () => {
    await using world = await createWorld()
    const { db, app } = await twoRoots(world)
    await world.reconcile(app)
    const [use] = await world.claim()
    await world.remove(app)
    await world.remove(db)
    expect(await world.see('db')).toMatchObject({ phase: 'INIT_DELETE' })
    await world.report({ fence: use?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.work()).toEqual(['use', 'make'])
    expect(await world.exists('db')).toBe(false)
  })

  it('ends in DELETE_FAILED when the deletion that it waited for fails', async () => {
    await using world = await createWorld()
    const { db, app } = await twoRoots(world)
    await world.remove(app)
    await world.remove(db)
    expect(await world.work(refusing('use'))).toEqual(['use'])
    expect(await world.see('db')).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'SIBLING_IMPORT' } })
    await world.remove(app)
    expect(await world.work()).toEqual(['use'])
  })

  it('is deleted all the same with FORCE', async () => {
    await using world = await createWorld()
    const { db } = await twoRoots(world)
    await world.remove(db, { force: true })
    expect(await world.work()).toEqual(['make'])
    expect(await world.exists('db')).toBe(false)
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('is deleted all the same once a failed deletion is repeated in mode FORCE', async () => {
    await using world = await createWorld()
    const { db } = await twoRoots(world)
    await world.remove(db)
    await world.reconcile(db, 'FORCE')
    expect(await world.work()).toEqual(['make'])
    expect(await world.exists('db')).toBe(false)
  })
})

describe('a nested installation from which a sibling imports', () => {
  const spec = { installations: [nested('db', exporter('url')), nested('app', importer('url'))] }

  it('waits for it to be gone', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(exports)
    await world.remove(id)
    expect(await world.see('shop', 'db')).toMatchObject({ phase: 'INIT_DELETE' })
    expect(await world.work()).toEqual(['use', 'make'])
    expect(await world.exists('shop')).toBe(false)
  })

  it('ends in DELETE_FAILED with SIBLING_IMPORT when that one cannot be deleted', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', spec)
    await world.work(exports)
    await world.remove(id)
    expect(await world.work(refusing('use'))).toEqual(['use'])
    expect(await world.see('shop', 'db')).toMatchObject({
      phase: 'DELETE_FAILED',
      error: { code: 'SIBLING_IMPORT', causes: [{ name: 'app' }] },
    })
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETE_FAILED', error: { causeCount: 2 } })
    await world.remove(id)
    expect(await world.work()).toEqual(['use', 'make'])
    expect(await world.exists('shop')).toBe(false)
  })

  it('is deleted at once with FORCE, which applies to its children', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { installations: [nested('inner', spec)] })
    await world.work(exports)
    await world.remove(id, { force: true })
    expect((await world.claim()).map(({ name }) => name).toSorted()).toEqual(['make', 'use'])
  })

  it('is deleted at once when FORCE comes while it waits', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { installations: [nested('inner', spec)] })
    await world.work(exports)
    await world.remove(id)
    expect((await world.claim()).map(({ name }) => name)).toEqual(['use'])
    await world.remove(id, { force: true })
    expect((await world.claim()).map(({ name }) => name)).toEqual(['make'])
  })
})
