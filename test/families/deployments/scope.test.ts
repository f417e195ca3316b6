import { describe, expect, it } from 'vitest'
import {
  anotherDriver,
  columnsOf,
  dataOf,
  everything,
  exporter,
  importer,
  refusal,
  specOf,
} from '../../testkit/deployments.ts'
import { createWorld, item, succeed, USER, type World } from '../../testkit/world.ts'

const update = (world: World, id: string, spec: object) =>
  world.commands.updateInstallation(USER, { id, spec, reconcile: true })
const setData = (world: World, name: string, value: unknown) =>
  world.commands.setDataObject(USER, { project: 'default', name, value })
const deleteData = (world: World, name: string) => world.commands.deleteDataObject(USER, { project: 'default', name })

describe('a duplicate export in the project', () => {
  it('is refused against another root, whether or not that has run yet', async () => {
    await using world = await createWorld()
    await world.create('db', exporter('url'), false)
    const other = await world.create('other', exporter('port'))
    const before = await everything(world)
    for (const outcome of [
      specOf(world, 'new', exporter('port', 'url')),
      update(world, other, exporter('port', 'url')),
    ]) {
      const { fields } = await refusal(outcome)
      expect(fields.at(-1)).toEqual({ path: 'input.spec.exports.1.name', message: 'url is exported by db already' })
    }
    expect(await everything(world)).toEqual(before)
  })

  it('is refused against data that a user has set', async () => {
    await using world = await createWorld()
    await world.setData('url', 'mine')
    const other = await world.create('other', {})
    const before = await everything(world)
    for (const outcome of [specOf(world, 'db', exporter('url')), update(world, other, exporter('url'))]) {
      expect((await refusal(outcome)).fields).toEqual([
        { path: 'input.spec.exports.0.name', message: 'url is set as data of the project already' },
      ])
    }
    expect(await everything(world)).toEqual(before)
    await deleteData(world, 'url')
    expect(await specOf(world, 'db', exporter('url'))).toMatchObject({ ok: true })
  })

  it('is refused while the data of a root that gave the name up is still there', async () => {
    await using world = await createWorld()
    const db = await world.create('db', { exports: [{ name: 'url', value: 1 }] })
    await world.update(db, {}, false)
    expect((await refusal(specOf(world, 'new', { exports: [{ name: 'url', value: 2 }] }))).fields).toHaveLength(1)
    await world.reconcile(db)
    await world.create('new', { exports: [{ name: 'url', value: 2 }] })
    expect(await dataOf(world, 'url')).toEqual({ value: 2 })
  })

  it('is no duplicate when a root keeps its own, or when the other one is gone', async () => {
    await using world = await createWorld()
    const db = await world.create('db', { exports: [{ name: 'url', value: 1 }] })
    await world.update(db, { exports: [{ name: 'url', value: 2 }] })
    expect(await dataOf(world, 'url')).toEqual({ value: 2 })
    await world.remove(db)
    await world.create('new', { exports: [{ name: 'url', value: 3 }] })
    expect(await dataOf(world, 'url')).toEqual({ value: 3 })
  })

  it('of two at once admits exactly one', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    const create = (commands: World['commands'], name: string) =>
      commands.createInstallation(USER, { project: 'default', name, spec: exporter('url'), reconcile: true })
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all([create(world.commands, `a${round}`), create(other.commands, `b${round}`)])
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
      const [winner] = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.objectId] : []))
      await world.settle()
      await world.work((work) => ({ ...succeed(work), exports: { url: round } }))
      await world.remove(winner ?? '')
      await world.work()
      expect(await dataOf(world, 'url')).toBeNull()
    }
  })
})

describe('a cycle between roots', () => {
  const link = (from: string, to: string) => ({ imports: [{ name: from }], exports: [{ name: to, value: 1 }] })

  it('is refused, named by its path', async () => {
    await using world = await createWorld()
    await world.create('a', link('x', 'y'), false)
    await world.create('b', link('y', 'z'), false)
    const before = await everything(world)
    const { fields } = await refusal(specOf(world, 'c', link('z', 'x')))
    expect(fields.map(({ path }) => path)).toEqual(['input.spec.imports'])
    expect(fields[0]?.message).toMatch(/: (a → c → b → a|b → a → c → b|c → b → a → c)$/)
    expect(await everything(world)).toEqual(before)
  })

  it('is refused when an update closes it', async () => {
    await using world = await createWorld()
    await world.create('a', link('x', 'y'), false)
    const b = await world.create('b', { exports: [{ name: 'x', value: 1 }] }, false)
    const { fields } = await refusal(update(world, b, link('y', 'x')))
    expect(fields[0]?.message).toMatch(/: (a → b → a|b → a → b)$/)
    expect(await world.see('b')).toMatchObject({ generation: 1 })
  })

  it('of one root is refused at its path', async () => {
    await using world = await createWorld()
    const spec = { imports: [{ name: 'ok' }, { name: 'x' }], exports: [{ name: 'x', value: 1 }] }
    expect((await refusal(specOf(world, 'a', spec))).fields.map(({ path }) => path)).toEqual(['input.spec.imports.1'])
  })

  it('of two at once is never closed', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let round = 0; round < 10; round++) {
      const [x, y] = [`x${round}`, `y${round}`]
      const outcomes = await Promise.all([
        specOf(world, `a${round}`, link(x, y)),
        other.commands.createInstallation(USER, {
          project: 'default',
          name: `b${round}`,
          spec: link(y, x),
          reconcile: true,
        }),
      ])
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
    }
  })

  it('is none with what a root gave up: neither waits for the other for ever', async () => {
    await using world = await createWorld()
    const a = await world.create('a', { exports: [{ name: 'x', value: 1 }] })
    const b = await world.create('b', {
      imports: [{ name: 'x' }],
      exports: [{ name: 'y', value: 1 }],
      deployItems: [item('i')],
    })
    await world.work(() => ({ phase: 'FAILED' }))
    await world.update(a, { imports: [{ name: 'y' }] })
    expect(await world.see('a')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.reconcile(b)
    expect(await world.work()).toEqual(['i'])
    expect(await world.see('a')).toMatchObject({ phase: 'SUCCEEDED' })
    // Only now the data that `a` no longer exports is deleted, and `b` still imports it.
    expect(await world.see('b')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.setData('x', 2)
    expect(await columnsOf(world, b)).toMatchObject({ imports: { x: 2 } })
  })

  it('does not exist once the name was removed', async () => {
    await using world = await createWorld()
    const a = await world.create('a', link('x', 'y'), false)
    await world.update(a, { imports: [{ name: 'x' }] }, false)
    await world.create('b', link('y', 'x'), false)
  })
})

describe('data that a user sets', () => {
  it('is refused under a name that a root exports, and under a bad one', async () => {
    await using world = await createWorld()
    const db = await world.create('db', exporter('url'), false)
    expect(await refusal(setData(world, 'url', 1))).toMatchObject({ code: 'IN_USE', objectId: db })
    expect((await refusal(setData(world, 'a b', 1))).fields.map(({ path }) => path)).toEqual(['input.name'])
    await world.reconcile(db)
    await world.work((work) => ({ ...succeed(work), exports: { url: 1 } }))
    expect(await refusal(deleteData(world, 'url'))).toMatchObject({ code: 'IN_USE', objectId: db })
    expect(await refusal(deleteData(world, 'nothing'))).toMatchObject({ type: 'NotFoundError' })
    expect(await dataOf(world, 'url')).toEqual({ value: 1 })
  })

  it('gives finished importers an IF_CHANGED job, but not when it is what it was', async () => {
    await using world = await createWorld()
    await world.setData('url', { a: 1, b: 2 })
    const id = await world.create('app', importer('url'))
    await world.work()
    const before = await world.see('app')
    await world.setData('url', { b: 2, a: 1 })
    expect(await world.see('app')).toEqual(before)
    await world.setData('url', null)
    expect((await world.claim()).map(({ config }) => config)).toEqual([{ url: null }])
    expect(await columnsOf(world, id)).toMatchObject({ mode: 'IF_CHANGED', imports: { url: null } })
  })

  it('is not read from Postgres to be set again, and keeps the time of its last change', async () => {
    await using world = await createWorld()
    const clients = new Set<{ readonly bytesRead: number }>()
    world.pool.on('acquire', (client) => clients.add(client as unknown as { readonly bytesRead: number }))
    const bytesRead = (): number => [...clients].reduce((sum, client) => sum + client.bytesRead, 0)
    const large = 'é'.repeat(500_000)
    const first = await setData(world, 'url', large)
    world.clock.advance(1_000)
    const before = bytesRead()
    const again = await setData(world, 'url', large)
    const other = await setData(world, 'url', `${large}!`)
    expect(clients.size).toBeGreaterThan(0)
    expect(bytesRead() - before).toBeLessThan(large.length)
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
  })

  it('gives importers a job when it is deleted, which then waits for it', async () => {
    await using world = await createWorld()
    await world.setData('url', 1)
    await world.create('app', importer('url'))
    await world.work()
    await deleteData(world, 'url')
    await world.settle()
    expect(await world.see('app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    await world.setData('url', 2)
    expect(await world.work()).toEqual(['use'])
  })

  it('asked for during their job, gives importers exactly one more', async () => {
    await using world = await createWorld()
    await world.setData('url', 1)
    const id = await world.create('app', importer('url'))
    const [use] = await world.claim()
    for (const value of [2, 3, 4]) await world.setData('url', value)
    await world.report({ fence: use?.fence ?? '', phase: 'SUCCEEDED' })
    expect((await world.claim()).map(({ config }) => config)).toEqual([{ url: 4 }])
    expect((await world.history(id)).filter((phase) => phase === 'INIT')).toHaveLength(2)
  })
})

describe('scopes of projects', () => {
  it('are apart: the same export in two of them, and no import across', async () => {
    await using world = await createWorld()
    await world.pool.query(
      `insert into project (id, name, created_at, updated_at) values (gen_random_uuid(), 'other', now(), now())`,
    )
    await world.create('db', { exports: [{ name: 'url', value: 1 }] })
    await world.create('app', importer('key'))
    expect(
      await specOf(
        world,
        'db',
        {
          exports: [
            { name: 'url', value: 2 },
            { name: 'key', value: 2 },
          ],
        },
        'other',
      ),
    ).toMatchObject({
      ok: true,
    })
    await world.settle()
    expect(await world.see('app')).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
    const { rows } = await world.pool.query('select value from data_object where name = $1 order by value', ['url'])
    expect(rows).toEqual([{ value: 1 }, { value: 2 }])
  })

  it('hold no name for what was never written', async () => {
    await using world = await createWorld()
    await refusal(specOf(world, 'db', { ...exporter('url'), deployItems: [item('a', ['b'])] }))
    await world.create('db', { exports: [{ name: 'url', value: 1 }] })
  })
})
