import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadLogTails } from '../../src/store/loaders/log-lines.ts'
import { appendLogLines, type LogBounds, type LogLine } from '../../src/store/log-lines.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, item, type World } from '../testkit/world.ts'

const AT = new Date(Date.UTC(2026, 0, 1))
const FEW: LogBounds = { maxLines: 20, maxBytes: 400 }
const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations')
const OURS = '20261121000800_log_lines'

let world: World
let pool: Pool
beforeAll(async () => {
  world = await createWorld()
  pool = world.pool
})
afterAll(() => world[Symbol.asyncDispose]())

let made = 0
/** Deploy items in the order of their ids, and their root. */
async function items(count: number): Promise<{ root: string; ids: readonly string[] }> {
  made += 1
  const names = Array.from({ length: count }, (_, i) => `item-${i}`)
  const root = await world.create(`lines-${made}`, { deployItems: names.map((name) => item(name)) })
  const seen = await Promise.all(names.map((name) => world.see(`lines-${made}`, 'deploy-items', name)))
  return { root, ids: seen.map(({ id }) => id).sort() }
}
const line = (objectId: string, text: string): LogLine => ({ objectId, at: AT, stream: 'STDOUT', text })

async function tail(objectId: string, after = '0') {
  const [lines] = await loadLogTails(pool, [{ objectId, after }], 100_000)
  return lines ?? []
}
const texts = async (objectId: string, after?: string) => (await tail(objectId, after)).map(({ text }) => text)

/** A transaction that stays open until `commit()`. */
async function open(
  run: (client: PoolClient) => Promise<unknown>,
): Promise<AsyncDisposable & { commit(): Promise<void> }> {
  const client = await pool.connect()
  let isOpen = true
  const end = async (how: 'commit' | 'rollback') => {
    if (!isOpen) return
    isOpen = false
    await client.query(how)
    client.release()
  }
  await client.query('begin')
  await run(client)
  return { commit: () => end('commit'), [Symbol.asyncDispose]: () => end('rollback') }
}
const waiting = (count: number) =>
  until(
    async () => {
      const { rows } = await pool.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.n === count
    },
    { what: `${count} wait for a lock` },
  )

test.each(['first lines', 'lines after others'])('a writer that commits late is never overtaken: %s', async (which) => {
  const { ids } = await items(1)
  const [id = ''] = ids
  const before = which === 'first lines' ? [] : ['before']
  await appendLogLines(
    pool,
    before.map((text) => line(id, text)),
  )
  await using slow = await open((client) => appendLogLines(client, [line(id, 'slow')]))
  const quick = appendLogLines(pool, [line(id, 'quick 1'), line(id, 'quick 2')])
  await waiting(1)
  expect(await texts(id)).toEqual(before)
  await slow.commit()
  await quick
  const lines = await tail(id)
  expect(lines.map(({ text }) => text)).toEqual([...before, 'slow', 'quick 1', 'quick 2'])
  expect(lines.map(({ n }) => Number(n))).toEqual(lines.map((_, i) => i + 1))
})

test('a follower misses nothing of many writers, whose lines stay in their order', async () => {
  const { ids } = await items(3)
  const WRITERS = 4
  const ROUNDS = 25
  const write = async (writer: number) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const order = writer % 2 === 0 ? ids : ids.toReversed()
      await appendLogLines(
        pool,
        order.map((id) => line(id, `${writer} ${round}`)),
      )
    }
  }
  let writing = true
  const follow = async (id: string) => {
    const seen: string[] = []
    for (let after = '0', last = false; ; last = !writing) {
      for (const { n, text } of await tail(id, after)) {
        seen.push(text)
        after = n
      }
      if (last) return seen
    }
  }
  const followed = follow(ids[1] ?? '')
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  writing = false
  const seen = await followed
  expect(seen).toHaveLength(WRITERS * ROUNDS)
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const own = seen.filter((text) => text.startsWith(`${writer} `))
    expect(own).toEqual(Array.from({ length: ROUNDS }, (_, round) => `${writer} ${round}`))
  }
})

test.each(['first lines', 'lines after others'])(
  'batches in opposite order do not block each other: %s',
  async (which) => {
    const { ids } = await items(5)
    if (which !== 'first lines') {
      await appendLogLines(
        pool,
        ids.map((id) => line(id, 'before')),
      )
    }
    // The lowest id is held. Without an order of locking, the reversed batch would now hold all others and wait for this one, and
    // the two batches would deadlock.
    await using held = await open((client) => appendLogLines(client, [line(ids[0] ?? '', 'held')]))
    const batches = [ids, ids.toReversed()].map((order) =>
      appendLogLines(
        pool,
        order.map((id) => line(id, 'both')),
      ),
    )
    await waiting(2)
    await held.commit()
    await Promise.all(batches)
    for (const id of ids) expect((await texts(id)).filter((text) => text === 'both')).toHaveLength(2)
  },
)

interface Kept {
  readonly lines: number
  readonly bytes: number
  readonly dropped: number
  readonly counted: boolean
}
async function kept(id: string): Promise<Kept> {
  const { rows } = await pool.query<Kept>(
    `select count(l.n)::int as lines, sum(octet_length(l.text))::int as bytes, t.dropped::int as dropped,
       t.kept_lines = count(l.n) and t.kept_bytes = sum(octet_length(l.text)) and t.next_n = max(l.n) + 1 as counted
     from log_tail t join log_line l using (object_id) where object_id = $1 group by t.object_id`,
    [id],
  )
  return rows[0] as Kept
}

test('the newest lines of each object are kept, within bounds, and the number of dropped ones is reported', async () => {
  const { ids } = await items(2)
  const [id = '', other = ''] = ids
  await appendLogLines(pool, [line(other, 'untouched')], FEW)
  const markers = new Set<string>()
  let written = 0
  for (let round = 0; round < 60; round += 1) {
    const batch = Array.from({ length: 1 + (round % 4) }, () => {
      written += 1
      return line(id, `${written} ${'ü'.repeat(round % 9)}`)
    })
    await appendLogLines(pool, batch, FEW)
    const { lines, bytes, dropped, counted } = await kept(id)
    expect(lines).toBeLessThanOrEqual(FEW.maxLines)
    expect(bytes).toBeLessThanOrEqual(FEW.maxBytes)
    expect(counted).toBe(true)
    const [first, ...rest] = await tail(id)
    const real = dropped === 0 && first ? [first, ...rest] : rest
    expect(real.length + dropped).toBe(written)
    expect(real.map(({ text }) => Number.parseInt(text, 10))).toEqual(real.map((_, i) => dropped + i + 1))
    if (dropped === 0) continue
    expect(first).toMatchObject({
      ...{ n: String(dropped), stream: 'SYSTEM' },
      text: `${dropped} lines before the next one are not kept any more.`,
    })
    markers.add(first?.text ?? '')
  }
  expect(markers.size).toBeGreaterThan(5)
  expect(markers.size).toBeLessThan(60)
  expect(await texts(other)).toEqual(['untouched'])
})

test('writers at the same time keep the bounds and the counts', async () => {
  const { ids } = await items(2)
  const write = async (writer: number) => {
    for (let round = 0; round < 30; round += 1) {
      await appendLogLines(
        pool,
        ids.flatMap((id) => [line(id, `${writer}`), line(id, `${round}`)]),
        FEW,
      )
    }
  }
  await Promise.all([0, 1, 2, 3].map(write))
  for (const id of ids) {
    const { lines, dropped, counted } = await kept(id)
    expect([counted, lines <= FEW.maxLines, dropped + lines - 1]).toEqual([true, true, 4 * 30 * 2])
  }
})

test('a dropped position resumes at the oldest kept line; a reader beyond it gets no notice', async () => {
  const { ids } = await items(1)
  const [id = ''] = ids
  const batch = Array.from({ length: 50 }, (_, i) => line(id, `${i + 1}`))
  await appendLogLines(pool, batch.slice(0, 10), FEW)
  expect(await texts(id, '3')).toEqual(['4', '5', '6', '7', '8', '9', '10'])
  await appendLogLines(pool, batch.slice(10), FEW)
  const [marker, ...rest] = await tail(id, '3')
  expect(marker).toMatchObject({ stream: 'SYSTEM', text: expect.stringMatching(/^\d+ lines before/) })
  expect(rest.map(({ text }) => text)).toEqual(batch.slice(-rest.length).map(({ text }) => text))
  expect(await tail(id, marker?.n)).toEqual(rest)
})

test('lines and tail go with their object, also those that are just being written', async () => {
  const { root, ids } = await items(2)
  const [id = ''] = ids
  await world.work()
  await using late = await open((client) => appendLogLines(client, [line(id, 'late')]))
  const removed = world.remove(root, { withoutUninstall: true })
  await waiting(1)
  await late.commit()
  await removed
  await appendLogLines(
    pool,
    ids.map((gone) => line(gone, 'too late')),
  )
  for (const table of ['log_line', 'log_tail']) {
    expect((await pool.query(`select from ${table} where object_id = any($1::uuid[])`, [ids])).rowCount).toBe(0)
  }
  expect(await loadLogTails(pool, [{ objectId: id, after: '0' }], 10)).toEqual([null])
})

test('earlier lines keep their positions, and new ones follow them', async () => {
  await using database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-lines-'))
  try {
    for (const name of await readdir(MIGRATIONS)) {
      if (name < OURS) await cp(join(MIGRATIONS, name), join(folder, name), { recursive: true })
    }
    await database.pool.query('drop schema public cascade; create schema public')
    await migrate(database.pool, folder)
    await database.pool.query(`insert into project (id, name, created_at, updated_at)
        values ('00000000-0000-7000-8000-000000000001', 'p', now(), now());
      insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
        select id, id, '00000000-0000-7000-8000-000000000001', 'INSTALLATION', id, 0, 'PENDING', now(), now(), now()
        from (values ('00000000-0000-7000-8000-000000000002'::uuid), ('00000000-0000-7000-8000-000000000003')) v(id);
      insert into log_line (object_id, at, stream, text) values
        ('00000000-0000-7000-8000-000000000002', now(), 'STDOUT', 'a'),
        ('00000000-0000-7000-8000-000000000003', now(), 'STDOUT', 'b'),
        ('00000000-0000-7000-8000-00000000000f', now(), 'STDOUT', 'of none'),
        ('00000000-0000-7000-8000-000000000002', now(), 'STDOUT', 'c')`)
    await cp(join(MIGRATIONS, OURS), join(folder, OURS), { recursive: true })
    expect(await migrate(database.pool, folder)).toEqual([OURS])
    const objects = ['2', '3'].map((last) => `00000000-0000-7000-8000-00000000000${last}`)
    await appendLogLines(
      database.pool,
      objects.map((id) => line(id, 'd')),
    )
    const { rows } = await database.pool.query(
      `select right(object_id::text, 1) || ' ' || n || ' ' || text as line from log_line order by object_id, n`,
    )
    expect(rows.map((row) => row.line)).toEqual(['2 1 a', '2 4 c', '2 5 d', '3 2 b', '3 3 d'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
