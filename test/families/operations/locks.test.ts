import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import { pino } from 'pino'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_DEADLINES } from '../../../src/core/database-deadlines.ts'
import {
  blockersOfLocks,
  countLocks,
  type LockQuery,
  type LockRow,
  listLocks,
  locksOf,
} from '../../../src/families/operations/store/lock-queries.ts'
import { acquire, type LockRequest, release } from '../../../src/families/operations/store/locks.ts'
import { createPool } from '../../../src/store/pool.ts'
import { createTestDatabase, type TestDatabase } from '../../testkit/postgres.ts'
import { until } from '../../testkit/wait.ts'
import { Crowd, within } from './lock-crowd.ts'

/** Locks are granted by ticket: on the real database, each call in a transaction of its own. */

let database: TestDatabase
/** As the engine has them: plans depend on the settings of a session. */
let writers: Pool
beforeAll(async () => {
  database = await createTestDatabase(10)
  const options = { planOnce: true, deadlines: DEFAULT_DEADLINES, logger: pino({ level: 'silent' }) }
  writers = createPool(database.connection, { ...options, max: 10 })
})
afterAll(async () => {
  await writers.end()
  await database[Symbol.asyncDispose]()
})
afterEach(() => database.pool.query('truncate object, wake cascade'))

const NOW = new Date('2026-11-21T10:00:00.000Z')
const s = (resource: string): LockRequest => ({ resource, mode: 'SHARED' })
const x = (resource: string): LockRequest => ({ resource, mode: 'EXCLUSIVE' })

/** Jobs of one task, in a project of its own. */
async function addJobs(count: number, projectId = v7()): Promise<{ rootId: string; ids: readonly string[] }> {
  const [rootId, ids] = [v7(), Array.from({ length: count }, () => v7())]
  await database.pool.query(
    `with p as (
      insert into project (id, name, created_at, updated_at) values ($2::uuid, $2::uuid::text, now(), now()) returning id
    ), r as (
      insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
      select $1::uuid, $1::uuid, p.id, 'TASK', 'task', 0, 'PENDING', now(), now(), now() from p returning id, project_id
    ) insert into object (id, root_id, parent_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
      select j.id, r.id, r.id, r.project_id, 'GADGET_JOB', j.n::text, j.n, 'PENDING', now(), now(), now()
      from r, unnest($3::uuid[]) with ordinality j(id, n)`,
    [rootId, projectId, ids],
  )
  return { rootId, ids }
}

const inTransaction = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => within(writers, work)
const ask = (objectId: string | undefined, ...locks: readonly LockRequest[]): Promise<boolean> =>
  inTransaction((client) => acquire(client, { objectId: objectId ?? '', locks, now: NOW }))
/** Resolves to those that can run now. */
const leave = async (...ids: readonly (string | undefined)[]): Promise<readonly string[]> => {
  const rootsToWake = await inTransaction((client) => release(client, ids.map(String), NOW))
  return rootsToWake.map(({ objectId }) => objectId)
}
async function holders(): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    'select distinct object_id as id, ticket from lock where held order by ticket',
  )
  return rows.map(({ id }) => id)
}

describe('modes', () => {
  test('two jobs hold shared locks at the same time', async () => {
    const [a, b] = (await addJobs(2)).ids
    expect([await ask(a, s('r')), await ask(b, s('r'))]).toEqual([true, true])
  })

  test.each([
    ['exclusive waits for shared', s('r'), x('r')],
    ['shared waits for exclusive', x('r'), s('r')],
    ['exclusive waits for exclusive', x('r'), x('r')],
  ])('%s', async (_, first, second) => {
    const [a, b] = (await addJobs(2)).ids
    expect([await ask(a, first), await ask(b, second)]).toEqual([true, false])
    expect(await leave(a)).toEqual([b])
    expect(await holders()).toEqual([b])
  })

  test('what is declared twice is one lock of the stronger mode', async () => {
    const [a, b] = (await addJobs(2)).ids
    expect(await ask(a, s('q'), s('r'), x('r'), s('r'), s('q'))).toBe(true)
    const own = (await locksOf(database.pool, [a ?? ''])).get(a ?? '')
    expect(own?.map(({ resource, mode }) => [resource, mode])).toEqual([
      ['q', 'SHARED'],
      ['r', 'EXCLUSIVE'],
    ])
    expect(await ask(b, s('r'))).toBe(false)
  })

  test('without locks there is nothing to wait for', async () => {
    const [a] = (await addJobs(1)).ids
    expect(await ask(a)).toBe(true)
    expect(await leave(a)).toEqual([])
  })
})

describe('order', () => {
  test('no overtaking: a stream of shared locks behind a waiting exclusive one', async () => {
    const [reader, writer, ...stream] = (await addJobs(12)).ids
    await ask(reader, s('r'))
    expect(await ask(writer, x('r'))).toBe(false)
    for (const id of stream) expect(await ask(id, s('r'))).toBe(false)
    expect(await leave(reader)).toEqual([writer])
    expect(await leave(writer)).toEqual(stream)
  })

  test('first come, first served, and asking again changes no position', async () => {
    const [holder, ...queue] = (await addJobs(6)).ids
    await ask(holder, x('r'))
    for (const id of queue) await ask(id, x('r'))
    for (const id of queue.toReversed()) expect(await ask(id, x('r'))).toBe(false)
    const served: string[] = []
    for (let next = await leave(holder); next.length > 0; next = await leave(...next)) served.push(...next)
    expect(served).toEqual(queue)
  })

  test('all or nothing: a waiter holds nothing, and yet keeps its place', async () => {
    const [holder, waiter, late] = (await addJobs(3)).ids
    await ask(holder, x('busy'))
    expect(await ask(waiter, x('busy'), x('free'))).toBe(false)
    expect(await holders()).toEqual([holder])
    // The lock is free, but the first waiter is next all the same.
    expect(await ask(late, x('free'))).toBe(false)
    expect(await leave(holder)).toEqual([waiter])
    expect(await leave(waiter)).toEqual([late])
  })

  test('a job that has its locks already keeps them', async () => {
    const [a, b] = (await addJobs(2)).ids
    await ask(a, x('r'))
    await ask(b, x('r'))
    expect(await ask(a, x('r'))).toBe(true)
    expect(await ask(b, s('elsewhere'))).toBe(false)
    await leave(a)
    expect(await ask(b, x('r'))).toBe(true)
  })

  test('locks of an object that was deleted without a release do not block a job that asks again', async () => {
    const [a, b, c] = (await addJobs(3)).ids
    await ask(a, x('r'))
    await ask(b, x('r'))
    await ask(c, s('r'))
    await database.pool.query('delete from lock where object_id = $1', [a])
    expect(await ask(c, s('r'))).toBe(false)
    expect(await ask(b, x('r'))).toBe(true)
    expect(await holders()).toEqual([b])
  })
})

describe('release', () => {
  test('wakes exactly the jobs that can run now, once, with wake requests for their trees', async () => {
    const one = await addJobs(5)
    const two = await addJobs(2)
    const [holder, other, reader, both, writer] = one.ids
    const [far, behind] = two.ids
    await ask(holder, x('r'), x('q'))
    await ask(other, x('p'))
    await ask(reader, s('r'))
    await ask(both, s('r'), s('p'))
    await ask(far, s('r'), s('q'))
    await ask(writer, x('r'))
    await ask(behind, s('r'))
    expect(await leave(holder)).toEqual([reader, far])
    const { rows } = await database.pool.query('select root_id, object_ids from wake order by root_id')
    expect(rows).toEqual([
      { root_id: one.rootId, object_ids: [reader] },
      { root_id: two.rootId, object_ids: [far] },
    ])
    expect(await leave(other)).toEqual([both])
    expect(await leave(reader, far)).toEqual([])
    expect(await leave(both)).toEqual([writer])
    expect(await leave(writer)).toEqual([behind])
  })

  test('a waiter that is cancelled lets those behind it pass, and no others', async () => {
    const [reader, writer, second, third, last] = (await addJobs(5)).ids
    await ask(reader, s('r'))
    await ask(writer, x('r'), x('q'))
    await ask(second, s('r'))
    await ask(third, s('q'))
    await ask(last, x('r'))
    expect(await leave(writer)).toEqual([second, third])
    expect(await leave(second)).toEqual([])
    expect(await leave(reader)).toEqual([last])
  })

  test('several at once: what one gives back and another still keeps away', async () => {
    const [a, b, c, d] = (await addJobs(4)).ids
    await ask(a, x('r'))
    await ask(b, x('r'))
    await ask(c, s('r'))
    await ask(d, s('r'))
    expect(await leave(b, c)).toEqual([])
    expect(await leave(a, b, c)).toEqual([d])
    expect(await leave(a, b, c)).toEqual([])
  })

  // Postgres counts the rows that a statement reads; unlike time, the count is the same in every run. The plan is made while
  // hardly anybody has a lock, by the statistics of the table at that time.
  describe.each<[string, ...LockRequest[]]>([
    ['next to nothing'],
    ['a shared lock', s('old')],
    ['an exclusive lock', x('old')],
    ['both', s('old'), x('older')],
  ])('planned when the table had %s', (_, ...known) => {
    const countRead = async (client: PoolClient): Promise<number> => {
      const { rows } = await client.query<{ n: number }>(
        `select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables where relname = 'lock'`,
      )
      return rows[0]?.n ?? Number.NaN
    }

    const forIt = `('r', 'EXCLUSIVE'::lock_mode)`
    test.each([
      ['that wait for it', forIt, 1, false, false],
      ['that waited for it when the table was analyzed, and were not committed yet', forIt, 1, false, true],
      ['that wait for something else', `('r', 'SHARED'::lock_mode), ('q', 'EXCLUSIVE')`, 0, true, false],
    ])(
      'looks at few rows with 10,000 waiters %s, and so does a new one',
      async (_, locks, granted, isFree, isMissed) => {
        const [planned, ...old] = (await addJobs(known.length + 1)).ids
        for (const [i, lock] of known.entries()) await ask(old[i], lock)
        await ask(planned, s('p'))
        await database.pool.query('analyze lock')
        await leave(planned)
        const { ids } = await addJobs(10_004)
        const [first, second, keeper, late = '', ...queue] = ids
        await ask(keeper, x('q'))
        await ask(first, s('r'))
        await ask(second, s('r'))
        await inTransaction(async (client) => {
          await client.query(
            `insert into lock (object_id, resource, mode, ticket, held, declared_at)
           select j.id, v.resource, v.mode, j.ticket, false, now()
           from (select id, nextval('lock_ticket') as ticket from unnest($1::uuid[]) id) j
           cross join (values ${locks}) v(resource, mode)`,
            [queue],
          )
          // As autovacuum may do: the statistics have the pages of the waiters, and not the waiters.
          if (isMissed) await database.pool.query('analyze lock')
        })
        const read = await inTransaction(async (client) => {
          // Postgres adds rows counted earlier on this connection, and not yet published, to this transaction's count.
          const before = await countRead(client)
          await release(client, [first ?? ''], NOW)
          expect(await release(client, [second ?? ''], NOW)).toHaveLength(granted)
          expect(await acquire(client, { objectId: late, locks: [s('r')], now: NOW })).toBe(isFree)
          return (await countRead(client)) - before
        })
        expect(read).toBeGreaterThan(0)
        expect(read).toBeLessThan(30)
      },
    )
  })
})

describe('two connections at once', () => {
  test('the second one waits for the first one to commit, and then sees what it took', async () => {
    const [a, b] = (await addJobs(2)).ids
    const engine = await database.pool.connect()
    try {
      await engine.query('begin')
      expect(await acquire(engine, { objectId: a ?? '', locks: [x('r')], now: NOW })).toBe(true)
      const asking = ask(b, x('r'))
      await oneWaits()
      await engine.query('commit')
      expect(await asking).toBe(false)
      await engine.query('begin')
      expect(await release(engine, [a ?? ''], NOW)).toHaveLength(1)
      const again = ask(b, x('r'))
      await oneWaits()
      await engine.query('commit')
      expect(await again).toBe(true)
    } finally {
      engine.release()
    }
  })

  test('what is rolled back gives nothing and takes nothing', async () => {
    const [a, b] = (await addJobs(2)).ids
    await ask(a, x('r'))
    await ask(b, x('r'))
    const failing = inTransaction(async (client) => {
      await release(client, [a ?? ''], NOW)
      throw new Error('the engine fails')
    })
    await expect(failing).rejects.toThrow('the engine fails')
    expect(await holders()).toEqual([a])
    expect((await database.pool.query('select from wake')).rowCount).toBe(0)
    expect(await leave(a)).toEqual([b])
  })
})

async function oneWaits(): Promise<void> {
  const blocked = `select from pg_locks where locktype = 'advisory' and not granted and database = (
    select oid from pg_database where datname = current_database())`
  await until(async () => (await database.pool.query(blocked)).rowCount === 1, { what: 'the other one waits' })
}

describe('queries', () => {
  const shape = ({ objectId, resource, held, position }: LockRow) => [objectId, resource, held, position]

  test('list holders and waiters with their positions, from both ends, of what may be seen', async () => {
    const shown = v7()
    const [holder, first, third] = (await addJobs(3, shown)).ids
    const [second] = (await addJobs(1)).ids
    await ask(holder, s('r'), s('q'))
    await ask(first, x('r'))
    await ask(second, s('r'))
    await ask(third, s('r'))
    const all = { after: null, before: null, limit: 10, backward: false }
    const list = async (query: LockQuery, window: object = {}) =>
      await listLocks(database.pool, { ...query, window: { ...all, ...window } })
    const rows = await list({ projects: [shown] })
    expect(rows.map(shape)).toEqual([
      [holder, 'q', true, null],
      [holder, 'r', true, null],
      [first, 'r', false, 1],
      [third, 'r', false, 3],
    ])
    expect(await countLocks(database.pool, { projects: [shown] })).toBe(4)
    expect(await countLocks(database.pool, { projects: null, resource: 'r' })).toBe(4)
    const place = ({ resource, ticket, objectId }: LockRow) => [resource, ticket, objectId]
    const [, second_, third_] = rows
    if (!second_ || !third_) throw new Error('there are too few')
    expect((await list({ projects: null, resource: 'r' }, { after: place(third_) })).map(shape)).toEqual([
      [second, 'r', false, 2],
      [third, 'r', false, 3],
    ])
    expect((await list({ projects: null }, { backward: true, limit: 2 })).map(shape)).toEqual([
      [second, 'r', false, 2],
      [third, 'r', false, 3],
    ])
    expect((await list({ projects: null }, { before: place(second_) })).map(shape)).toEqual([[holder, 'q', true, null]])
  })

  test('list what a job waits for: the holders and waiters before it', async () => {
    const [holder, reader, writer, late] = (await addJobs(4)).ids
    await ask(holder, x('q'))
    await ask(reader, s('r'))
    await ask(writer, x('r'), s('q'), x('free'))
    await ask(late, s('r'))
    const found = await blockersOfLocks(database.pool, [holder, writer, late].map(String))
    expect(found.get(holder ?? '')).toEqual([])
    expect(found.get(writer ?? '')).toEqual([
      { resource: 'q', mode: 'SHARED', position: 1, ahead: [{ objectId: holder, mode: 'EXCLUSIVE', held: true }] },
      { resource: 'r', mode: 'EXCLUSIVE', position: 1, ahead: [{ objectId: reader, mode: 'SHARED', held: true }] },
    ])
    expect(found.get(late ?? '')).toEqual([
      { resource: 'r', mode: 'SHARED', position: 2, ahead: [{ objectId: writer, mode: 'EXCLUSIVE', held: false }] },
    ])
  })
})

describe('1,000 random jobs over 20 resources, on eight connections', () => {
  const request = fc.record({
    resource: fc.nat(19).map((n) => `host-${n}`),
    mode: fc.constantFrom<LockRequest['mode']>('SHARED', 'SHARED', 'EXCLUSIVE'),
  })
  const job = fc.record({
    locks: fc.array(request, { minLength: 1, maxLength: 4 }),
    /** The next action of its worker. */
    luck: fc.nat(999),
  })
  const jobs = fc.array(job, { minLength: 1_000, maxLength: 1_000, size: 'max' })

  test('never two conflicting holders, no deadlock, and all jobs run in order', async () => {
    await fc.assert(
      fc.asyncProperty(jobs, async (plan) => {
        const { ids } = await addJobs(plan.length)
        const crowd = new Crowd(
          database.pool,
          plan.map(({ locks, luck }, i) => ({ id: ids[i] ?? '', locks, luck })),
        )
        await crowd.run(8)
        crowd.check()
        expect((await database.pool.query('select from lock')).rowCount).toBe(0)
        const { rows } = await database.pool.query<{ id: string }>('select unnest(object_ids) as id from wake')
        expect(rows.map(({ id }) => id).toSorted()).toEqual([...crowd.rootsToWake].toSorted())
      }),
      { numRuns: 1, endOnFailure: true },
    )
  })
})
