import { expect, test } from 'vitest'
import { WriteWatch } from '../../src/store/write-watch.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** Who looks for work only when something was written misses nothing. */

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

test('it tells of each look that fails, so that those who search find out why', async () => {
  let told = 0
  await using watch = new WriteWatch({ query: (() => Promise.reject(new Error('away'))) as never })
  watch.onWrite(() => {
    told += 1
  })
  await until(() => told >= 2, { what: 'it has failed twice' })
  expect(told).toBeGreaterThanOrEqual(2)
})
