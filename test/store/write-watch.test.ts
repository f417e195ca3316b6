import { expect, test } from 'vitest'
import { WriteWatch } from '../../src/store/write-watch.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** A process that looks for work only after a write misses none. */

test('it tells of what another connection has committed, however long that took', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  let looks = 0
  const counted = {
    query: (async (...args: Parameters<typeof pool.query>) => {
      const answer = await pool.query(...args)
      looks += 1
      return answer
    }) as typeof pool.query,
  }
  await using watch = new WriteWatch(counted)
  let told = 0
  watch.onWrite(() => {
    told += 1
  })
  // The first look compares with nothing.
  await until(() => told >= 1, { what: 'it has looked' })
  const writer = await pool.connect()
  try {
    await writer.query('begin')
    await writer.query('update schema_range set oldest = oldest')
    const before = looks
    await until(() => looks >= before + 2, { what: 'it has looked at a transaction that goes on' })
    const known = told
    await writer.query('commit')
    await until(() => told > known, { what: 'it tells of the commit' })
  } finally {
    writer.release()
  }
})

test('it is quiet since a time if nothing was committed after what could be read then', async () => {
  const answers: PromiseWithResolvers<void>[] = []
  // A server's own are of all its databases, and so of the tests beside this one.
  let snapshot = '5:5:'
  const query = (async () => {
    const answered = Promise.withResolvers<void>()
    answers.push(answered)
    const answer = { rows: [{ snapshot, shown: 1_000 }] }
    await answered.promise
    return answer
  }) as never
  await using watch = new WriteWatch({ query })
  // The watch ends once its look is answered.
  using _ = {
    [Symbol.dispose]() {
      for (const { resolve } of answers) resolve()
    },
  }
  const look = async (count: number) => {
    await until(() => answers.length >= count, { what: `look ${count} has begun` })
  }
  await look(1)
  // It may have read what the first look has not seen, or the other way round.
  const beforeFirst = performance.now()
  answers[0]?.resolve()
  await look(2)
  const afterFirst = performance.now()
  answers[1]?.resolve()
  await look(3)
  expect([watch.isQuietSince(beforeFirst), watch.isQuietSince(afterFirst)]).toEqual([false, true])
  snapshot = '6:6:'
  answers[2]?.resolve()
  await look(4)
  answers[3]?.resolve()
  await until(() => !watch.isQuietSince(afterFirst), { what: 'it has seen the write' })
})

test('its looks measure the clock, and it tells of a time that has jumped', async () => {
  const shown: number[] = []
  let isJump = false
  const clock = {
    observe(_sentAt: number, time: number) {
      shown.push(time)
      return isJump
    },
  }
  const answer = { rows: [{ snapshot: '5:5:', shown: 1_000 }] }
  const query = (() => Promise.resolve(answer)) as never
  await using watch = new WriteWatch({ query }, { connected: false }, clock)
  let told = 0
  watch.onWrite(() => {
    told += 1
  })
  await until(() => shown.length >= 3, { what: 'it has looked' })
  expect([told, shown[0]]).toEqual([1, 1_000])
  isJump = true
  await until(() => told >= 2, { what: 'it tells of the jump' })
})

test('it looks less often where messages of other processes arrive', async () => {
  const looks = { connected: 0, alone: 0 }
  const counted = (name: keyof typeof looks) => ({
    query: (() => {
      looks[name] += 1
      return Promise.resolve({ rows: [{ snapshot: '5:5:', shown: 1_000 }] })
    }) as never,
  })
  await using _connected = new WriteWatch(counted('connected'), { connected: true })
  await using _alone = new WriteWatch(counted('alone'))
  await until(() => looks.connected >= 2 && looks.alone >= 5, { what: 'both have looked' })
  expect(looks.alone).toBeGreaterThanOrEqual(2 * looks.connected)
})

test('it tells of each look that fails, so that those who search find out why', async () => {
  let told = 0
  await using watch = new WriteWatch({ query: (() => Promise.reject(new Error('away'))) as never })
  watch.onWrite(() => {
    told += 1
  })
  await until(() => told >= 2, { what: 'it has failed twice' })
  expect(told).toBeGreaterThanOrEqual(2)
})
