import { expect, test } from 'vitest'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import { lockRoot, lockRoots } from '../../src/store/queue.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item, type World } from '../testkit/world.ts'

/** Claims and reports of one call share transactions over several trees. A fault of one tree stays with it. */

const NAMES = ['fine', 'gone', 'ill', 'locked', 'well'] as const
const spec = { deployItems: [item('a'), item('b', ['a'])] }

interface Claims {
  readonly trees: ReadonlyMap<string, string>
  readonly claimed: ReadonlyMap<string, ClaimedItem>
}

/** Trees whose first item is claimed, all in one call. */
async function claimAll(world: World): Promise<Claims> {
  const ids = await Promise.all(NAMES.map((name) => world.create(name, spec)))
  const trees = new Map(NAMES.map((name, i) => [name, ids[i] as string]))
  const items = await world.claim()
  expect(items.map(({ name }) => name)).toEqual(NAMES.map(() => 'a'))
  const { rows } = await world.pool.query<{ id: string; root: string }>('select id, root_id as root from object')
  const rootOf = new Map(rows.map(({ id, root }) => [id, root]))
  const of = (root: string) => items.find(({ objectId }) => rootOf.get(objectId) === root) as ClaimedItem
  return { trees, claimed: new Map([...trees].map(([name, root]) => [name, of(root)])) }
}

const commits = async ({ pool }: World): Promise<number> => {
  const { rows } = await pool.query<{ n: string }>('select count(distinct xmin::text::bigint) as n from work')
  return Number(rows[0]?.n)
}

test('work of several trees is claimed and reported in one transaction', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { claimed } = await claimAll(world)
  expect(await commits(world)).toBe(1)
  const reports = [...claimed.values()].map(({ fence }): Report => ({ fence, phase: 'SUCCEEDED' }))
  const done = await world.engineHost.agents.report(DEPLOYER, reports)
  expect(done).toMatchObject({ ok: true, results: NAMES.map(() => ({ ok: true, changed: true })) })
  expect(await commits(world)).toBe(1)
  expect(await world.work()).toEqual(NAMES.map(() => 'b'))
  for (const name of NAMES) expect(await world.see(name)).toMatchObject({ phase: 'SUCCEEDED' })
})

test('several roots are locked as one is, and none is waited for', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const [free = '', held = '', paused = '', gone = ''] = await Promise.all(
    ['free', 'held', 'paused', 'gone'].map((name) => world.create(name, spec)),
  )
  await world.pool.query(`insert into root_pause (root_id, at, by) values ($1, now(), 'x')`, [paused])
  const root = `delete from object where root_id = '${gone}'`
  await world.pool.query(`begin; set local session_replication_role = replica; ${root}; commit`)
  const [holder, one, other] = [await world.pool.connect(), await world.pool.connect(), await world.pool.connect()]
  using clients = new DisposableStack()
  for (const client of [holder, one, other]) clients.defer(() => client.release(true))
  await Promise.all([holder, one, other].map((client) => client.query('begin')))
  await holder.query('select from object where id = $1 for update', [held])
  const time = world.clock.now()
  const ids = [free, held, paused, gone]
  const alone = new Map<string, unknown>()
  for (const id of ids) alone.set(id, await lockRoot(other, id, { skipLocked: true, time }))
  await other.query('rollback')
  const together = await lockRoots(one, ids, time)
  expect(ids.map((id) => together.get(id))).toEqual(ids.map((id) => alone.get(id)))
  expect(ids.map((id) => together.get(id))).toMatchObject([
    { isPaused: false, at: time },
    'locked',
    { isPaused: true, row: { name: 'paused' } },
    'gone',
  ])
  expect(await lockRoot(other, free, { skipLocked: true, time })).toBe('locked')
})

test('trees that share a transaction share its bound of phase writes, and the engine does the rest', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const wide = { deployItems: [item('a'), ...Array.from({ length: 200 }, (_, i) => item(`b-${i}`, ['a']))] }
  const names = Array.from({ length: 16 }, (_, i) => `wide-${i}`)
  for (const name of names) await world.create(name, wide)
  const items = await world.claim()
  expect(items.map(({ name }) => name)).toEqual(names.map(() => 'a'))
  const reports = items.map(({ fence }): Report => ({ fence, phase: 'SUCCEEDED' }))
  const done = await world.engineHost.agents.report(DEPLOYER, reports)
  expect(done).toMatchObject({ ok: true, results: names.map(() => ({ ok: true, changed: true })) })
  const { rows } = await world.pool.query<{ n: number }>('select n from log_batch order by id desc limit 16')
  expect(rows.reduce((sum, { n }) => sum + n, 0)).toBeLessThanOrEqual(2_000 + names.length)
  expect((await world.due()).length).toBe(16)
  await world.settle()
  expect((await world.claim()).length).toBe(500)
})

test('a tree that is gone, locked or cannot be decided costs the reports on others nothing', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { trees, claimed } = await claimAll(world)
  const gone = `delete from object where root_id = '${trees.get('gone')}'`
  await world.pool.query(`begin; set local session_replication_role = replica; ${gone}; commit`)
  await world.pool.query(`
    create function refuse_move() returns trigger language plpgsql as $$ begin
      raise exception using errcode = 'disk_full', message = 'could not extend file';
    end $$`)
  await world.pool.query(`
    create trigger refuse_move before update on object for each row
      when (new.root_id = '${trees.get('ill')}' and new.name = 'b' and new.phase is distinct from old.phase)
      execute function refuse_move()`)
  const reports = NAMES.map((name): Report => ({ fence: claimed.get(name)?.fence ?? '', phase: 'SUCCEEDED' }))
  {
    const holder = await world.pool.connect()
    await holder.query('begin')
    await holder.query('select from object where id = $1 for update', [trees.get('locked')])
    using held = new DisposableStack()
    held.defer(() => holder.release(true))
    // A repetition of the call shows which were accepted.
    await expect(world.engineHost.agents.report(DEPLOYER, reports)).rejects.toThrow(
      `The tree ${trees.get('locked')} is busy`,
    )
    const phases = await world.pool.query<{ name: string; phase: string }>(
      `select r.name, o.phase from object o join object r on r.id = o.root_id where o.name = 'a' order by r.name`,
    )
    expect(phases.rows).toEqual([
      { name: 'fine', phase: 'SUCCEEDED' },
      { name: 'ill', phase: 'SUCCEEDED' },
      { name: 'locked', phase: 'PROGRESSING' },
      { name: 'well', phase: 'SUCCEEDED' },
    ])
  }
  const again = await world.engineHost.agents.report(DEPLOYER, reports)
  if (!again.ok) throw new Error(again.refusal.message)
  expect(again.results.map((result) => (result.ok ? result.changed : result.refusal.type))).toEqual([
    ...[false, 'NotFoundError', false, true, false],
  ])
  await world.pool.query('drop trigger refuse_move on object')
  await world.settle()
  const living = NAMES.filter((name) => name !== 'gone')
  const isDone = async () => {
    await world.work()
    const phases = await Promise.all(living.map(async (name) => (await world.see(name)).phase))
    return phases.every((phase) => phase === 'SUCCEEDED')
  }
  // For a moment no claim searches in a tree that was locked.
  await until(isDone, { what: 'all others succeed' })
})
