import { expect, test } from 'vitest'
import { PHASES } from '../../src/core/vocabulary.ts'
import { type RowColumn, RowStatement } from '../../src/store/rows.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

/** A value that is sent in binary arrives as the same value. */

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  uuid: ['0193a5f0-0000-7abc-8def-0123456789ab', 'ffffffff-ffff-4fff-bfff-ffffffffffff', null],
  integer: [0, -2_147_483_648, 2_147_483_647],
  smallint: [0, -32_768, 32_767],
  bigint: [-1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 32, -(2 ** 32) - 1, null],
  boolean: [true, false, null],
  timestamptz: [
    new Date('2000-01-01T00:00:00Z'),
    new Date('1969-12-31T23:59:59.999Z'),
    new Date('2262-04-11T23:47:16.854Z'),
    null,
  ],
  text: ['', 'plain', '{"\\,NULL}', 'zażółć 漢字 😀', null],
  jsonb: [{ a: [1, null, 'ż😀'] }, [], 'text', 0, false, null],
  bytea: [Buffer.alloc(0), Buffer.from([0, 255, 92]), null],
  phase: [...PHASES, null],
}

test.each(Object.keys(VALUES))('%s, as an array and as one value for all rows', async (type) => {
  await using database = await createTestDatabase(1)
  const columns: readonly RowColumn<[number, unknown]>[] = [
    { column: 'i', type: 'integer', of: ([i]) => i },
    { column: 'v', type, of: ([, value]) => value },
  ]
  const select = new RowStatement(
    'test-echo',
    columns,
    ({ at, from }) => `select ${at('i')} as i, ${at('v')} as v from ${from} order by 1`,
  )
  const values = VALUES[type] ?? []
  const rows = values.map((value, i): [number, unknown] => [i * 10, value])
  const different = await database.pool.query(select.of(rows))
  expect(different.rows).toEqual(values.map((v, i) => ({ i: i * 10, v })))
  for (const value of values) {
    const same = await database.pool.query(select.of([1, 2, 3].map((i): [number, unknown] => [i, value])))
    expect(same.rows).toEqual([1, 2, 3].map((i) => ({ i, v: value })))
  }
})

test('an array larger than the shared buffer is complete', async () => {
  await using database = await createTestDatabase(1)
  const select = new RowStatement<string>(
    'test-lengths',
    [{ column: 'v', type: 'text', of: (text) => text }],
    ({ from }) => `select length(u.v) as n from ${from}`,
  )
  const texts = ['ż'.repeat(300_000), 'x', '漢'.repeat(2_000_000)]
  const { rows } = await database.pool.query(select.of(texts))
  expect(rows).toEqual([{ n: 300_000 }, { n: 1 }, { n: 2_000_000 }])
})
