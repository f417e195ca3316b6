import { afterAll, beforeAll, expect, test } from 'vitest'
import { OutputEnds } from '../../src/log/output/output-end.ts'
import { indexOutputStep } from '../../src/log/output/output-text.ts'
import { linesSql, type OutputQuery, searchOutput } from '../../src/log/output/search-output.ts'
import { wordsOf } from '../../src/log/words.ts'
import { appendLogLines, type LogLine } from '../../src/store/log-lines.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, item, type World } from '../testkit/world.ts'

const START = Date.UTC(2026, 0, 1)
let world: World
let ends: OutputEnds
beforeAll(async () => {
  world = await createWorld()
  ends = new OutputEnds(world.pool)
})
afterAll(() => world[Symbol.asyncDispose]())

const stdout = (objectId: string, text: string, second = 0): LogLine => ({
  objectId,
  at: new Date(START + second * 1_000),
  stream: 'STDOUT',
  text,
})

async function tree(name: string, items: number) {
  const names = Array.from({ length: items }, (_, i) => `item-${i}`)
  const root = await world.create(name, { deployItems: names.map((one) => item(one)) })
  const ids = await Promise.all(names.map(async (one) => (await world.see(name, 'deploy-items', one)).id))
  return { root, ids }
}

/** A transaction of whoever else uses this Postgres holds the end back. */
const settledEnd = () =>
  until(
    async () => {
      const end = await ends.find()
      return end.settled === end.last ? end : null
    },
    { what: 'all lines are settled' },
  )

/** Page by page, as a client reads. */
async function readAll(
  query: Partial<OutputQuery>,
  direction: 'forward' | 'backward',
  limit = 700,
): Promise<readonly string[]> {
  const found: string[] = []
  let after = 0
  let before: number | null = null
  for (;;) {
    const end = await ends.find()
    const page = await searchOutput(world.pool, { projects: null, ...query }, { after, before, limit, direction }, end)
    const lines = page.lines.map(({ seq, text }) => `${seq} ${text}`)
    if (direction === 'forward') found.push(...lines)
    else found.unshift(...lines)
    const edge = direction === 'forward' ? page.lines.at(-1)?.seq : page.lines[0]?.seq
    const next = page.reached ?? (page.lines.length === limit ? edge : undefined)
    if (next === undefined) return found
    if (direction === 'forward') after = next
    else before = next
  }
}

test('what is indexed is found as what is not, in both directions, over an object, a tree and all', async () => {
  const shop = await tree('indexed-shop', 3)
  const other = await tree('indexed-other', 2)
  const all = [...shop.ids, ...other.ids]
  for (let batch = 0; batch < 9; batch += 1) {
    await appendLogLines(
      world.pool,
      Array.from({ length: 1_000 }, (_, i) => {
        const n = batch * 1_000 + i
        const id = all[n % (batch < 6 ? all.length : 3)] ?? ''
        return stdout(id, `Level=INFO request ${n}\tof /Orders/${n % 97} ünï took ${n % 7} ms`, n)
      }),
    )
  }
  const [first = ''] = shop.ids
  const queries: Partial<OutputQuery>[] = [
    {},
    { rootId: shop.root },
    { rootId: other.root, words: wordsOf('TOOK 6') },
    { objectId: first, words: wordsOf('request') },
    { words: wordsOf('/orders/42 took') },
    { words: wordsOf('request nowhere') },
    { words: wordsOf('4999\tof') },
    { words: wordsOf('ünï 8888') },
    { words: wordsOf('% _') },
    { since: new Date(START + 2_500_000), until: new Date(START + 2_600_000) },
    { rootId: shop.root, since: new Date(START + 8_990_000), streams: ['STDOUT'] },
    { streams: ['STDERR'] },
    { projects: [] },
  ]
  const answers = async () => {
    const found: unknown[] = []
    for (const query of queries) {
      const forward = await readAll(query, 'forward')
      expect(await readAll(query, 'backward')).toEqual(forward)
      found.push(forward)
    }
    return found
  }
  await settledEnd()
  const before = await answers()
  const steps: boolean[] = []
  do steps.push(await indexOutputStep(world.pool, ends))
  while (steps.at(-1))
  expect(steps).toEqual([true, true, true, true, false])
  expect(await answers()).toEqual(before)
  expect(before.map((found) => (found as string[]).length)).toEqual([
    ...[9_000, 6_600, 1_071, 2_200, 93, 0, 1, 1, 0, 100, 10, 0, 0],
  ])
})

test('the index forgets what is deleted, and leaves no part of the output out', async () => {
  await world.pool.query('delete from log_line where seq <= 3000')
  await world.pool.query(`update log_line_text set checked_at = now() - interval '2 hours'`)
  expect(await indexOutputStep(world.pool, ends)).toBe(false)
  const { rows } = await world.pool.query(
    `select first_seq::int as first, last_seq::int as last, lines, text like '%request%' as said,
       coalesce(text ~ '\\m2500\\M', false) as old from log_line_text order by 1`,
  )
  expect(rows).toEqual([
    { first: 1, last: 2_000, lines: 0, said: false, old: false },
    { first: 2_001, last: 4_000, lines: 1_000, said: true, old: false },
    { first: 4_001, last: 6_000, lines: 2_000, said: true, old: false },
    { first: 6_001, last: 8_000, lines: 2_000, said: true, old: false },
  ])
  expect(await readAll({ words: wordsOf('request') }, 'forward')).toHaveLength(6_000)
})

test('a line that is committed late is waited for, so that a reader who goes on misses none', async () => {
  const { ids } = await tree('late', 2)
  const [late = '', early = ''] = ids
  const { last } = await settledEnd()
  const client = await world.pool.connect()
  await client.query('begin')
  await appendLogLines(client, [stdout(late, 'written first, seen last')])
  await appendLogLines(world.pool, [stdout(early, 'seen first')])
  const during = await ends.find()
  expect(during).toEqual({ last: last + 2, settled: last })
  const range = { after: last, before: null, limit: 10, direction: 'forward' } as const
  expect(await searchOutput(world.pool, { projects: null }, range, during)).toEqual({ lines: [], reached: null })
  await client.query('commit')
  client.release()
  const { lines } = await searchOutput(world.pool, { projects: null }, range, await settledEnd())
  expect(lines.map(({ text }) => text)).toEqual(['written first, seen last', 'seen first'])
})

test('a page walks an index, whatever the size of the tables', async () => {
  const planOf = async (query: Partial<OutputQuery>, byObject: boolean) => {
    const range = { after: 5, before: 100, limit: 50, direction: 'backward' } as const
    const { text, values } = linesSql({ projects: null, ...query }, range, byObject)
    const { rows } = await world.pool.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const id = '0198c0de-0000-7000-8000-000000000000'
  expect(await planOf({ words: ['x'] }, false)).toMatch(/log_line_seq_idx/)
  expect(await planOf({ rootId: id }, false)).toMatch(/log_line_seq_idx/)
  expect(await planOf({ rootId: id }, true)).toMatch(/log_line_pkey/)
})
