import { expect, test } from 'vitest'
import { connect, type List, type PageArgs } from '../../src/graphql/schema/connection.ts'

/** A list of so many numbers, and the reads of it. */
function listOf(length: number, isSearched = false) {
  const reads: string[] = []
  const list: List<number, number> = {
    cursor: { encode: String, decode: Number },
    position: (value) => value,
    isSearched,
    async load({ limit, after, before, backward }) {
      reads.push('page')
      const within = Array.from({ length }, (_, i) => i).filter((i) => i > (after ?? -1) && i < (before ?? length))
      return backward ? within.slice(-limit) : within.slice(0, limit)
    },
    async count() {
      reads.push('count')
      return length
    },
  }
  return { list, reads }
}

const CASES: readonly [length: number, args: PageArgs, isSearched: boolean, reads: readonly string[]][] = [
  [3, { first: 3 }, false, ['page']],
  [3, { last: 5 }, false, ['page']],
  [0, { first: 1 }, false, ['page']],
  [3, { first: 2 }, false, ['page', 'count']],
  [3, { first: 3, after: '0' }, false, ['page', 'count']],
  [3, { last: 3, before: '2' }, false, ['page', 'count']],
  // It may have stopped before it found all.
  [3, { first: 3 }, true, ['page', 'count']],
  [3, { first: 0 }, false, ['count']],
  [0, { last: 0 }, false, ['count']],
]
test.for(CASES)(
  'a list of %i is counted once, by %o: searched %o, %o',
  async ([length, args, isSearched, expected]) => {
    const { list, reads } = listOf(length, isSearched)
    const { totalCount } = await connect(args, list)
    expect(await totalCount()).toBe(length)
    expect(reads).toEqual(expected)
  },
)

test('a page of no entries says whether there are any', async () => {
  for (const length of [0, 3]) {
    const { list, reads } = listOf(length)
    const page = await connect({ first: 0 }, list)
    expect(page.pageInfo.hasNextPage).toBe(length > 0)
    expect(page.pageInfo.hasPreviousPage).toBe(false)
    expect((await connect({ last: 0 }, list)).pageInfo.hasPreviousPage).toBe(length > 0)
    expect(await page.totalCount()).toBe(length)
    expect(reads).toEqual(['count', 'count'])
  }
})
