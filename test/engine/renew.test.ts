import { expect, test } from 'vitest'
import { until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item } from '../testkit/world.ts'

test('a renewal waits for the trees of its work, and is judged by what has become of it there', async () => {
  await using world = await createWorld()
  const { pool, engineHost } = world
  const roots = [
    await world.create('one', { deployItems: [item('a'), item('b')] }),
    await world.create('two', { deployItems: [item('c')] }),
  ]
  const claimed = await world.claim(3)
  expect(claimed.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from object where id = any($1::uuid[]) for no key update', [roots])
  await holder.query('update work set state = 2, done_at = now(), lease_until = null where object_id = $1', [
    claimed[0]?.objectId,
  ])
  const fences = claimed.map(({ fence }) => fence)
  let isDone = false
  const renewing = engineHost.agents.renew(DEPLOYER, fences, 90_000).finally(() => {
    isDone = true
  })
  const waiting = `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  await until(async () => (await pool.query(waiting)).rowCount === 1, { what: 'the renewal waits for the trees' })
  expect(isDone).toBe(false)
  await holder.query('commit')
  holder.release()
  expect(await renewing).toMatchObject({ ok: true, leases: [{ state: 'LOST' }, { state: 'HELD' }, { state: 'HELD' }] })
})

test('of two fences of one object, only that of the last claim is renewed', async () => {
  await using world = await createWorld()
  await world.create('one', { deployItems: [item('a')] })
  const [first] = await world.claim(1)
  world.clock.advance(60_000)
  const [second] = await world.claim(1)
  const fences = [first, second].map((claimed) => claimed?.fence ?? '')
  const renewal = await world.engineHost.agents.renew(DEPLOYER, fences, 30_000)
  expect(renewal).toMatchObject({ ok: true, leases: [{ state: 'LOST' }, { state: 'HELD' }] })
})
