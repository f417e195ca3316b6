import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Log } from '../../../src/core/ports/log.ts'
import { writeMessages } from '../../../src/families/notifications/commands/write-messages.ts'
import { createPrincipal } from '../../../src/graphql/auth/principal-commands.ts'
import { createLog } from '../../../src/log/reader.ts'
import { createMemorySignal } from '../../../src/log/signal/memory.ts'
import { accepted } from '../../testkit/pipelines.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** A world, and the log as another process reads it. */
async function open(world: World) {
  const logger = pino({ level: 'fatal' })
  const log = await createLog({ pool: world.pool, signal: createMemorySignal({ logger }), logger })
  let meanwhile: (() => Promise<void>) | null = null
  // No signal moves its live end: it reads what is in the database.
  const fromDatabase: Pick<Log, 'resolve' | 'next' | 'end'> = {
    ...{ resolve: log.resolve, end: log.end },
    next: async (query, cursor, limit) => {
      const first = meanwhile
      meanwhile = null
      await first?.()
      const batch = await log.next(query, { ...cursor, lineage: 0 }, limit)
      return batch?.through.sequence === cursor.sequence ? null : batch
    },
  }
  const parts = { pool: world.pool, log: fromDatabase, system: world.clock, machines: [] }
  const records = world.engineHost.trees
  const by = { pool: world.pool, tokens: world.tokens, system: world.clock, records, viewer: USER }
  const owner = { name: 'ada', actor: 'USER' as const, administrator: true, grants: [] }
  const { principal } = await accepted(createPrincipal(by, owner))
  const viewer = { ...USER, principalId: principal.id }
  const receiver = { webhook: { url: 'https://example.org/' } }
  const { createNotificationRule, updateNotificationRule } = world.services.notifications
  const rule = (name: string, enabled = true) =>
    accepted(createNotificationRule(viewer, { project: 'default', name, receiver, enabled }))
  return {
    log,
    rule,
    enable: (id: string) => accepted(updateNotificationRule(viewer, { id, receiver, enabled: true })),
    /** Runs it after a step has read the rules, and before it reads the log. */
    async write(duringStep: (() => Promise<void>) | null = null) {
      meanwhile = duringStep
      await log.caughtUp()
      while ((await writeMessages(parts)) === 'more');
    },
    messagesOf: async (id: string) =>
      (
        await world.pool.query<{ object: string; sequence: number }>(
          `select subject_id as object, told->'change'->'sequence' as sequence from notification where rule_id = $1 order by seq`,
          [id],
        )
      ).rows,
  }
}
const spec = { imports: [], exports: [], installations: [], deployItems: [] }

test('a rule that was behind misses nothing, and repeats nothing, however the others move meanwhile', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, write, messagesOf } = await open(world)
  await using _ = log
  const { objectId: front } = await rule('front')
  const { objectId: other } = await rule('other')
  for (let round = 0; round < 6; round += 1) {
    await world.create(`a-${round}`, spec)
    await write()
    await world.pool.query(
      `update notification_rule set behind_sequence = c.sequence, behind_mark = c.mark from notification_cursor c where id = $1`,
      [other],
    )
    await world.create(`b-${round}`, spec)
    await write()
  }
  const told = await messagesOf(front)
  expect(told.length).toBeGreaterThan(12)
  expect(await messagesOf(other)).toEqual(told)
})

test('a rule without room stays behind with all of its messages, and catches up; one that is held waits there', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, write, messagesOf } = await open(world)
  await using _ = log
  const { objectId: wide } = await rule('wide')
  const { objectId: front } = await rule('front')
  await world.pool.query(
    `insert into notification (id, rule_id, subject_id, told, state, attempts, is_late, created_at)
      select gen_random_uuid(), $1, gen_random_uuid(), '{"type": "TEST"}', 'PENDING', 0, false, now() from generate_series(1, 9999)`,
    [wide],
  )
  await world.create('first', spec)
  await write()
  const { automation } = world.services
  await accepted(automation.holdAutomation(USER, { project: 'default', reason: 'a drill' }))
  await world.pool.query(`delete from notification where told->>'type' = 'TEST'`)
  await write()
  expect(await messagesOf(wide)).toEqual([])
  await accepted(automation.releaseAutomation(USER, { project: 'default' }))
  await write()
  expect((await messagesOf(wide)).length).toBeGreaterThan(2)
  expect(await messagesOf(wide)).toEqual(await messagesOf(front))
})

test('a rule tells what is committed once it is enabled, and nothing from before, whatever has its number by then', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, enable, write, messagesOf } = await open(world)
  await using _ = log
  const { objectId: again } = await rule('again', false)
  await world.create('one', spec)
  await log.caughtUp()
  // A transaction with a smaller id than the next one commits after it.
  const late = await world.pool.connect()
  await late.query('begin')
  const { rows } = await late.query<{ id: string }>(`
    with last as (select c as content, b.n from log_content c join log_batch b on b.id = c.batch_id order by b.id desc limit 1),
      batch as (insert into log_batch (id, n) select nextval('log_batch_id_seq'), n from last returning id)
    insert into log_content select (jsonb_populate_record(content, jsonb_build_object('batch_id', batch.id))).* from last, batch
      returning batch_id as id`)
  await world.create('two', spec)
  await enable(again)
  const { objectId: created } = await rule('created')
  await late.query('commit')
  late.release()
  await write()
  const { rows: changes } = await world.pool.query(
    `select c.object_id as object, (b.first_seq + c.idx)::float8 as sequence
      from phase_change c join log_batch b on b.id = c.batch_id where b.id = $1 and not c.rejected order by c.idx`,
    [rows[0]?.id],
  )
  expect(changes.length).toBeGreaterThan(0)
  for (const id of [again, created]) expect(await messagesOf(id)).toEqual(changes)
})

test('a rule that is enabled during a step tells what is committed before that step reads the log', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, write, messagesOf } = await open(world)
  await using _ = log
  const { objectId: first } = await rule('first')
  await world.create('one', spec)
  let second = ''
  await write(async () => {
    second = (await rule('second')).objectId
    await world.create('two', spec)
    await log.caughtUp()
  })
  const objects = async (id: string) => (await messagesOf(id)).map(({ object }) => object)
  const { rows } = await world.pool.query<{ id: string }>("select id from object where name = 'two'")
  expect(await objects(second)).toContain(rows[0]?.id)
  expect(await objects(first)).toContain(rows[0]?.id)
  expect((await messagesOf(first)).slice(-(await messagesOf(second)).length)).toEqual(await messagesOf(second))
})

test('nothing is written while there is nothing to tell', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, write } = await open(world)
  await using _ = log
  const written = async () =>
    (await world.pool.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next')).rows[0]
      ?.next
  // Another test of the same Postgres may write, too.
  const idle = async () => {
    const before = await written()
    await write()
    await write()
    return before === (await written())
  }
  await until(idle, { what: 'nothing is written' })
  const { objectId: one } = await rule('one')
  await world.create('first', spec)
  await write()
  await until(idle, { what: 'nothing is written' })
  // Its receiver is dead: it has no room, and the log moves on.
  await world.pool.query(
    `insert into notification (id, rule_id, subject_id, told, state, attempts, is_late, created_at)
      select gen_random_uuid(), $1, gen_random_uuid(), '{"type": "TEST"}', 'PENDING', 0, false, now() from generate_series(1, 9999)`,
    [one],
  )
  await world.create('second', spec)
  await write()
  await world.create('third', spec)
  await write()
  await until(idle, { what: 'nothing is written' })
})

test('a hold of one project keeps no rule of another from telling', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { log, rule, write, messagesOf } = await open(world)
  await using _ = log
  const { objectId: told } = await rule('told')
  await world.pool.query(
    `insert into project (id, name, created_at, updated_at) values (gen_random_uuid(), 'other', now(), now())`,
  )
  await accepted(world.services.automation.holdAutomation(USER, { project: 'other', reason: 'a drill' }))
  await world.create('first', spec)
  await write()
  expect((await messagesOf(told)).length).toBeGreaterThan(0)
})
