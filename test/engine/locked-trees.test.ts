import { expect, test } from 'vitest'
import { Busy } from '../../src/core/busy.ts'
import type { ClaimedItem } from '../../src/core/ports/agents.ts'
import { createPrincipal, updatePrincipal } from '../../src/graphql/auth/principal-commands.ts'
import { accepted, addProject } from '../testkit/pipelines.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item, USER, type World, type WorldOptions } from '../testkit/world.ts'

/** A tree or a project that someone else has locked, for as long as they like, costs only those who want it. */

const spec = (...names: string[]) => ({
  ...{ imports: [], exports: [], installations: [] },
  deployItems: names.map((name) => item(name)),
})
const create = ({ commands }: World, name: string, project = 'default') =>
  commands.createInstallation(USER, { project, name, spec: spec('a'), reconcile: true })
const cancel = ({ commands }: World, id: string) => commands.cancelInstallation(USER, { id, reason: null })

/** A world whose connections wait for a lock as briefly as those of the trees in production do. */
async function openWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld({ ...options, ownDatabase: true })
  world.pool.on('acquire', (client) => void client.query("set lock_timeout = '300ms'"))
  return world
}

/** Locks these rows until it is disposed, on a connection of its own. */
async function lock(
  { pool }: World,
  table: 'object' | 'project',
  ids: readonly string[],
): Promise<AsyncDisposableStack> {
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(`select from ${table} where id = any($1::uuid[]) order by id for update`, [ids])
  const held = new AsyncDisposableStack()
  held.defer(async () => {
    await holder.query('rollback')
    holder.release()
  })
  return held
}

/** Connections that wait for a lock at the moment. */
async function waiting({ pool }: World): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.n ?? 0
}

test('commands that wait for locked trees leave connections to others, and are done once the trees are free', async () => {
  await using world = await openWorld({ laneWaitMs: PATIENCE_MS })
  const names = Array.from({ length: 8 }, (_, i) => `locked-${i}`)
  const trees = await Promise.all(names.map((name) => world.create(name, spec('a'))))
  const free = await world.create('free', spec('a'))
  const [first = ''] = trees
  await using locked = await lock(world, 'object', trees)
  let answered = 0
  const cancels = [...Array.from({ length: 30 }, () => first), ...trees].map(async (id) => {
    const done = await cancel(world, id)
    answered += 1
    return done
  })
  // An update needs its tree under the lock of its project, which it does not keep meanwhile.
  const update = world.commands.updateInstallation(USER, {
    ...{ id: first, spec: spec('a', 'b'), reconcile: false },
    ...{ expectedGeneration: null, labels: null, ignored: null },
  })
  let most = 0
  for (let i = 0; i < 10; i++) {
    expect(await create(world, `new-${i}`)).toMatchObject({ ok: true })
    expect(await cancel(world, free)).toMatchObject({ ok: true })
    most = Math.max(most, await waiting(world))
  }
  expect(answered).toBe(0)
  expect(most).toBeLessThanOrEqual(world.pool.options.max / 2)
  await locked.disposeAsync()
  expect(await Promise.all(cancels)).toEqual(cancels.map(() => expect.objectContaining({ ok: true })))
  expect(await update).toMatchObject({ ok: true })
})

test('who waits for a locked tree, or a locked project, is refused in time, with what it waits for', async () => {
  await using world = await openWorld({ laneWaitMs: 500 })
  const tree = await world.create('shop', spec('a'))
  const refusalsOf = async (calls: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).map((call) => (call.status === 'rejected' ? call.reason : call.value))
  {
    await using _ = await lock(world, 'object', [tree])
    const refusals = await refusalsOf(Array.from({ length: 5 }, () => cancel(world, tree)))
    expect(refusals).toEqual(refusals.map(() => expect.any(Busy)))
    expect(refusals[0].message).toMatch(new RegExp(`^The tree ${tree} is busy: [1-5] requests? waits? for it`))
    // One too many is refused at once.
    const { trees } = world.engineHost
    const many = Array.from({ length: 1_010 }, () => trees.inTree(tree, async () => true))
    const first = await Promise.race(many.map((call) => call.catch((error: unknown) => error)))
    expect(first).toMatchObject({ message: `The tree ${tree} is busy: 1000 requests wait for it.` })
    await Promise.allSettled(many)
  }
  const { rows } = await world.pool.query<{ id: string }>("select id from project where name = 'default'")
  {
    await using _ = await lock(world, 'project', [rows[0]?.id ?? ''])
    const [refusal] = await refusalsOf([create(world, 'new')])
    expect(refusal).toMatchObject({
      name: 'Busy',
      message: expect.stringMatching(/^The project default is busy: 1 req/),
    })
  }
  expect(await create(world, 'new')).toMatchObject({ ok: true })
  expect(await cancel(world, tree)).toMatchObject({ ok: true })
})

test('an agent gets the work of other trees while one is locked, and keeps its leases', async () => {
  await using world = await openWorld()
  const tree = await world.create('locked', spec('a', 'b', 'c'))
  await world.create('other', spec('d', 'e'))
  const held = await world.claim(1)
  const claimed: ClaimedItem[] = []
  {
    await using _ = await lock(world, 'object', [tree])
    const claim = async () => {
      const { agents } = world.engineHost
      const done = await agents.claim(DEPLOYER, {
        instance: 'test',
        types: ['mock'],
        targets: null,
        max: 1,
        leaseMs: 30_000,
      })
      if (done.ok) claimed.push(...done.items)
      return claimed.length === 2
    }
    // The first one finds out that the tree is locked.
    await until(claim, { what: 'the work of the other tree is claimed', instead: () => claimed })
    world.clock.advance(10_000)
    const fences = [...held, ...claimed].map(({ fence }) => fence)
    expect(await world.engineHost.agents.renew(DEPLOYER, fences, 30_000)).toMatchObject({
      leases: fences.map(() => ({ state: 'HELD', leaseUntil: new Date(world.clock.now().getTime() + 30_000) })),
    })
    // The lease in the locked tree ends soon, and another agent may find it expired: it is not renewed. The other leases are.
    world.clock.advance(26_000)
    await expect(world.engineHost.agents.renew(DEPLOYER, fences, 30_000)).rejects.toThrow(Busy)
    const { rows } = await world.pool.query('select lease_until as at from work where object_id = any($1::uuid[])', [
      claimed.map(({ objectId }) => objectId),
    ])
    expect(rows).toEqual(claimed.map(() => ({ at: new Date(world.clock.now().getTime() + 30_000) })))
  }
  expect(claimed.map(({ name }) => name).sort()).toEqual(['d', 'e'])
  expect((await world.claim()).map(({ name }) => name).sort()).toEqual(['b', 'c'])
})

test('trees that are due and locked do not hide another one from the engine', async () => {
  await using world = await openWorld()
  const trees = await Promise.all(Array.from({ length: 40 }, (_, i) => world.create(`locked-${i}`, spec('a'))))
  const other = await world.create('other', spec('a'))
  const wake = (ids: readonly string[]) =>
    world.pool.query('insert into wake (root_id, object_ids) select id, array[id] from unnest($1::uuid[]) as u(id)', [
      ids,
    ])
  await using _ = await lock(world, 'object', trees)
  await wake(trees)
  await wake([other])
  world.engineHost.startEngine({ agentRetentionMs: 3_600_000 })
  const isDone = async () => !(await world.due()).includes(other)
  await until(isDone, { what: 'the other tree is decided' })
  expect((await world.due()).length).toBe(40)
})

test('trees of a project whose expressions take long leave the engine to those of others', async () => {
  await using world = await createWorld({ ownDatabase: true })
  await addProject(world, 'slow')
  const open = async (project: string, name: string, value: string) => {
    const tree = { ...spec(), deployItems: [item('a', [], { value })] }
    return await accepted(world.commands.createInstallation(USER, { project, name, spec: tree, reconcile: true }))
  }
  const numbers = JSON.stringify(Array.from({ length: 220 }, (_, i) => i))
  const slow = `\${${numbers}.exists(a, ${numbers}.exists(b, (string(a * b) + string(a) + string(b)).matches("(0|1|2|3)+x")))}`
  for (let i = 0; i < 20; i++) await open('slow', `slow-${i}`, slow)
  const { objectId: id } = await open('default', 'quick', '${1 + 1}')
  world.engineHost.startEngine({ agentRetentionMs: 3_600_000 })
  const isDone = async () => !(await world.due()).includes(id)
  await until(isDone, { what: 'the quick tree is decided' })
  expect((await world.due()).length).toBeGreaterThan(15)
})

test('principals, places and keys that others have locked leave connections to others', async () => {
  await using world = await openWorld({ laneWaitMs: 1_500 })
  const { pool, tokens, clock } = world
  const parts = { pool, tokens, system: clock, records: world.engineHost.trees, viewer: USER }
  const created = await createPrincipal(parts, { name: 'ada', actor: 'USER', administrator: true, grants: [] })
  const { id } = created.ok ? created.principal : { id: '' }
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from principal where id = $1 for update', [id])
  const refusals = Array.from({ length: pool.options.max + 5 }, () =>
    updatePrincipal(parts, { id, name: 'eve' }).catch((error: unknown) => error),
  )
  let most = 0
  for (let i = 0; i < 10; i++) {
    expect(await create(world, `new-${i}`)).toMatchObject({ ok: true })
    most = Math.max(most, await waiting(world))
  }
  expect(most).toBeLessThanOrEqual(1)
  for (const refusal of await Promise.all(refusals))
    expect(refusal).toMatchObject({ name: 'Busy', message: expect.stringContaining(`The principal ${id} is busy: `) })
  await holder.query('rollback')
  holder.release()
  expect(await updatePrincipal(parts, { id, name: 'eve' })).toMatchObject({ ok: true })
})

test('a lock that many trees need, and that others keep, costs those that do not need it next to nothing', async () => {
  await using world = await openWorld({ laneWaitMs: PATIENCE_MS })
  const { pool, engineHost } = world
  const holder = await pool.connect()
  await holder.query('begin')
  const LOCK = { text: "select pg_advisory_xact_lock(hashtext('phaseline slots'))" }
  await holder.query(LOCK)
  const wanting = Promise.allSettled(
    Array.from({ length: 2 * pool.options.max }, async (_, i) =>
      engineHost.trees.inRecord(`The tree ${i}`, (client) => client.query(LOCK)),
    ),
  )
  // Once somebody has waited in vain, nobody waits for long, and the pauses between two attempts grow.
  const looks: number[] = []
  const isCalm = async () => {
    // Postgres ends a transaction that is idle for long.
    await holder.query('select 1')
    expect(await create(world, `new-${looks.length}`)).toMatchObject({ ok: true })
    looks.push(await waiting(world))
    return looks.length >= 20 && (looks.slice(-20).toSorted((a, b) => a - b)[10] ?? 0) <= pool.options.max / 2
  }
  await until(isCalm, { what: 'most connections wait for nothing', instead: () => looks })
  await holder.query('rollback')
  holder.release()
  expect((await wanting).map(({ status }) => status)).not.toContain('rejected')
})
