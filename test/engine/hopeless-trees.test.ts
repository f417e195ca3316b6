import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { until } from '../testkit/wait.ts'
import { createWorld, item, USER, type World } from '../testkit/world.ts'

/** A tree that cannot progress costs little: its attempts become ever rarer, and other trees do not queue behind it. */

const create = ({ commands }: World, name: string) =>
  commands.createInstallation(USER, {
    ...{ project: 'default', name, reconcile: true },
    spec: { deployItems: [item('a')], imports: [], exports: [], installations: [] },
  })

test('a tree that breaks its connection each time is tried again ever less often', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { pool, clock, engineHost } = world
  expect(await create(world, 'poison')).toMatchObject({ ok: true })
  await world.settle()
  const [tree] = (await pool.query<{ id: string }>(`select id from object where name = 'poison'`)).rows
  await pool.query(`
    create sequence attempts;
    create function end_connection() returns trigger language plpgsql as $$ begin
      perform nextval('attempts'), pg_terminate_backend(pg_backend_pid());
      return old;
    end $$;
    create trigger poison before delete on wake for each row execute function end_connection();`)
  await pool.query('insert into wake (root_id, object_ids) values ($1, array[$1::uuid])', [tree?.id])
  engineHost.startEngine({ agentRetentionMs: 3_600_000 })
  const attempts = async () => Number((await pool.query('select last_value from attempts')).rows[0]?.last_value)
  const delayed = async (failures: number) => {
    const { rows } = await pool.query<{ ms: number }>(
      'select extract(epoch from wake_at - $2::timestamptz)::float8 * 1000 as ms from root_queue where failures = $1',
      [failures, clock.now()],
    )
    return rows[0]
  }
  // Its clock stands still, so nothing is due before the test says so.
  for (let failures = 2; failures < 6; failures += 1) {
    const delay = await until(() => delayed(failures), { what: `it has failed ${failures} times` })
    const full = 1_000 * 2 ** (failures - 1)
    expect(delay.ms).toBeGreaterThanOrEqual(full / 2)
    expect(delay.ms).toBeLessThanOrEqual(full)
    expect(await attempts()).toBe(failures)
    clock.advance(full)
  }
})

test('writes that wait in vain for a lock wait once, together', async () => {
  await using world = await createWorld({ ownDatabase: true, laneWaitMs: 1_500 })
  const { pool } = world
  const holder = await pool.connect()
  using held = new DisposableStack()
  held.defer(() => holder.release(true))
  await holder.query('begin')
  await holder.query(`select from project where name = 'default' for update`)
  const watched = new WeakSet<PoolClient>()
  let waits = 0
  pool.on('acquire', (client) => {
    // The pool's own option is too long for a test.
    void client.query("set lock_timeout = '1s'")
    if (watched.has(client)) return
    watched.add(client)
    const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter }
    connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === '55P03') waits += 1
    })
  })
  const written = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => create(world, `shop-${i}`)))
  expect(written.map((one) => (one.status === 'rejected' ? one.reason.name : one))).toEqual(written.map(() => 'Busy'))
  expect(waits).toBe(1)
  held.dispose()
  expect(await create(world, 'shop')).toMatchObject({ ok: true })
})
