import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { rules as deployments } from '../../src/families/deployments/server.ts'
import { loadObjects } from '../../src/store/loaders/objects.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item, USER, type World } from '../testkit/world.ts'

/** A new tree is decided in the transaction that creates it. The engine reconciles only where a test says so. */

const specOf = (names: readonly string[]) => ({
  deployItems: names.map((name) => item(name)),
  imports: [],
  exports: [],
  installations: [],
})
function create({ commands }: World, name: string, names: readonly string[]) {
  return commands.createInstallation(USER, { project: 'default', name, spec: specOf(names), reconcile: true })
}
const phases = async ({ pool }: World) =>
  (await pool.query('select name, phase, xmin::text as transaction from object order by id')).rows

test('a claim that waits has the first item from the transaction that has created it', async () => {
  await using world = await createWorld()
  const request = { instance: 'test', types: ['mock'], targets: null, max: 10, leaseMs: 30_000, waitMs: 20_000 }
  const claiming = world.engineHost.agents.claim(DEPLOYER, request)
  await until(() => world.engineHost.agents.waitingClaims === 1, { what: 'the claim waits' })
  expect(await create(world, 'shop', ['a', 'b'])).toMatchObject({ ok: true })
  expect(await claiming).toMatchObject({ ok: true, items: [{ name: 'a' }, { name: 'b' }] })
  const written = await phases(world)
  expect(written.map(({ phase }) => phase)).toEqual(written.map(() => 'PROGRESSING'))
  expect(new Set(written.map(({ transaction }) => transaction)).size).toBe(1)
  const { rows } = await world.pool.query('select count(*)::int as batches from log_batch')
  expect(rows).toEqual([{ batches: 1 }])
})

test('a tree that exceeds the budget under the lock of its project is completed by the engine, in order', async () => {
  await using world = await createWorld()
  const names = Array.from({ length: 700 }, (_, i) => `n${i}`)
  await create(world, 'shop', names)
  const offered = async () => (await world.pool.query('select count(*)::int as n from work')).rows[0].n
  expect(await offered()).toBe(0)
  await world.settle()
  expect(await offered()).toBe(700)
  expect((await world.claim(500)).map(({ name }) => name)).toEqual(names.slice(0, 500))
})

test('a tree that cannot be decided is created all the same', async () => {
  await using world = await createWorld()
  const { decide } = deployments
  const broken = (): never => {
    throw new Error('broken for a test')
  }
  Object.assign(deployments, { decide: broken })
  try {
    expect(await create(world, 'shop', ['a'])).toMatchObject({ ok: true })
  } finally {
    Object.assign(deployments, { decide })
  }
  expect(await phases(world)).toMatchObject([{ name: 'shop', phase: 'PENDING' }])
  await world.settle()
  expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING' })
})

test('a creation whose commit was pipelined with a failing statement leaves nothing', async () => {
  await using world = await createWorld({ ownDatabase: true })
  await world.pool.query(`alter table object_spec add check (labels ->> 'refused' is null)`)
  const creating = world.commands.createInstallation(USER, {
    project: 'default',
    name: 'shop',
    labels: [{ key: 'refused', value: 'yes' }],
    spec: specOf(['a']),
    reconcile: true,
  })
  await expect(creating).rejects.toThrow('object_spec')
  const { rows } = await world.pool.query(
    'select (select count(*) from object)::int as objects, (select count(*) from log_batch)::int as batches',
  )
  expect(rows).toEqual([{ objects: 0, batches: 0 }])
  expect(await create(world, 'shop', ['a'])).toMatchObject({ ok: true })
})

test('a project that was made anew by hand is found under its name', async () => {
  await using world = await createWorld()
  await create(world, 'old', ['a'])
  await world.pool.query(`update project set name = 'former' where name = 'default'`)
  const id = v7()
  await world.pool.query(
    `insert into project (id, name, created_at, updated_at) values ($1, 'default', now(), now())`,
    [id],
  )
  expect(await create(world, 'new', ['a'])).toMatchObject({ ok: true })
  const { rows } = await world.pool.query(`select project_id as id from object where name = 'new'`)
  expect(rows).toEqual([{ id }])
})

test('a taken name is refused without a query for it, and a waiting claim continues to wait', async () => {
  await using world = await createWorld()
  const first = await create(world, 'shop', ['a'])
  expect(await world.claim()).toHaveLength(1)
  const request = { instance: 'test', types: ['mock'], targets: null, max: 10, leaseMs: 30_000, waitMs: 20_000 }
  const claiming = world.engineHost.agents.claim(DEPLOYER, request)
  await until(() => world.engineHost.agents.waitingClaims === 1, { what: 'the claim waits' })
  expect(await create(world, 'shop', ['b'])).toMatchObject({
    ok: false,
    refusal: { type: 'ConflictError', code: 'ALREADY_EXISTS', objectId: first.ok && first.objectId },
  })
  expect((await phases(world)).map(({ name }) => name)).toEqual(['shop', 'deploy-items', 'a'])
  expect(await create(world, 'other', ['c'])).toMatchObject({ ok: true, object: { row: { phase: 'PROGRESSING' } } })
  expect(await claiming).toMatchObject({ ok: true, items: [{ name: 'c' }] })
})

test('what a creation is answered with is what was written', async () => {
  await using world = await createWorld()
  await create(world, 'first', ['a'])
  const created = await create(world, 'second', ['a'])
  if (!created.ok) throw new Error(created.refusal.message)
  const [row] = await loadObjects(world.pool, [created.objectId], null)
  expect(created.object?.row).toEqual(row)
})
