import pg from 'pg'
import { gql } from '../../test/testkit/gql.ts'
import {
  type BenchContext,
  type BenchServer,
  type Cell,
  median,
  quantile,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'

const OBJECTS = 1_000
const LINES_EACH = 1_000
const LINES = OBJECTS * LINES_EACH
const REPEATS = 7
const WAIT_MS = 100
const GB = 2 ** 30

/** Words, and how many of the lines have all of them. */
const SEARCHES = [
  { search: 'nowhere', what: 'in no line' },
  { search: '/api/orders/500000', what: 'in one line' },
  { search: 'worker-17 took', what: 'in 1,111 lines, all over' },
  { search: 'worker-17 answered took', what: 'each in every stretch, never together' },
  { search: 'request', what: 'in all lines' },
] as const
const SEARCH = gql(`query NewestLines($filter: OutputFilter!, $last: Int!, $before: String) {
  output(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { cursor at stream text objectId } }
  }
}`)

export const workload: Workload = { name: 'output-search', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  const url = await postgres.createDatabase('output_search')
  // Makes the tables.
  await (await startServer({ databaseUrl: url }))[Symbol.asyncDispose]()
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  try {
    await fill(pool)
    await postgres.checkpoint()
    log('  filled')
    await using server = await startServer({ databaseUrl: url })
    const indexedMs = await indexed(pool)
    log(`  indexed in ${Math.round(indexedMs)} ms`)
    const rows: Cell[][] = []
    for (const { search, what } of SEARCHES) rows.push(await measure(server, search, what, rounds))
    return sectionOf(rows, { indexedMs, plan: await planOf(pool), ...(await sizes(pool)) })
  } finally {
    await pool.end()
    await postgres.dropDatabase('output_search')
  }
}

/** Objects that have printed at the same time; about a hundred characters a line, half of which no other has. */
async function fill(pool: pg.Pool): Promise<void> {
  await pool.query(
    `insert into log_line (object_id, n, at, stream, text)
      select o.id, k, now() - interval '1 hour' + (k * ${OBJECTS} + o.i) * interval '3 ms', 'STDOUT',
        'level=info request ' || md5(k || '-' || o.i) || ' of GET /api/orders/' || (k * ${OBJECTS} + o.i) || ' ' ||
        case when (k + o.i) % 9 = 0 then 'took ' || (k % 300) || ' ms' else 'answered' end || ' by worker-' || o.i % 100
      from generate_series(1, ${LINES_EACH}) k, (select gen_random_uuid() as id, i from generate_series(1, ${OBJECTS}) i) o
      order by k, o.i`,
  )
  await pool.query('vacuum analyze log_line')
}

/** Waits until the server has indexed what is there; milliseconds. */
async function indexed(pool: pg.Pool): Promise<number> {
  const start = performance.now()
  for (;;) {
    const { rows } = await pool.query<{ rest: string }>(
      'select (select max(seq) from log_line) - coalesce((select max(last_seq) from log_line_text), 0) as rest',
    )
    if (Number(rows[0]?.rest) < 10_000) return performance.now() - start
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

async function measure({ client }: BenchServer, search: string, what: string, rounds: number): Promise<Cell[]> {
  const times: number[] = []
  let found = 0
  let isWhole = false
  for (let i = 0; i < rounds * REPEATS; i++) {
    const start = performance.now()
    const { output } = await client.query(SEARCH, { filter: { search }, last: 200 })
    times.push(performance.now() - start)
    found = output?.edges.length ?? 0
    isWhole = !output?.pageInfo.hasPreviousPage
  }
  return [`\`${search}\`: ${what}`, median(times), quantile(times, 1), String(found), isWhole ? 'all lines' : 'a page']
}

async function sizes(pool: pg.Pool): Promise<{ readonly lineBytes: number; readonly textBytes: number }> {
  const { rows } = await pool.query<{ lines: string; text: string }>(
    `select pg_total_relation_size('log_line') as lines, pg_total_relation_size('log_line_text') as text`,
  )
  return { lineBytes: Number(rows[0]?.lines), textBytes: Number(rows[0]?.text) }
}

/** How Postgres finds the stretches without one of two words. */
async function planOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, buffers off, summary off)
      select t.first_seq as first, t.last_seq as last from log_line_text t
      where t.first_seq > 0 and t.last_seq < 2000000 and t.text is not null
        and exists (select from unnest(array['nowhere', 'worker-17']) w(word) where strpos(t.text, w.word collate "C") = 0)
      order by t.first_seq`,
  )
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

interface Measured {
  readonly indexedMs: number
  readonly plan: string
  readonly lineBytes: number
  readonly textBytes: number
}

const sectionOf = (rows: readonly Cell[][], { indexedMs, plan, lineBytes, textBytes }: Measured): Section => ({
  title: 'output-search: words in 1,000,000 lines of output',
  prose: `
The newest 200 lines with all the words, of ${LINES.toLocaleString('en-US')} that ${OBJECTS.toLocaleString('en-US')} objects have printed side by side
(${(lineBytes / GB).toFixed(2)} GB), by \`output(filter: { search })\` over HTTP. The server had indexed them in ${(indexedMs / 1_000).toFixed(0)} s, at half of its time, into
${(textBytes / GB).toFixed(3)} GB. [How it is searched](adr/0032-output-is-searched-like-the-log.md). The plan by which it leaves out stretches without one of two words:

\`\`\`
${plan}
\`\`\`
`,
  table: { columns: ['words', 'median, ms', 'longest, ms', 'found', 'searched'], rows },
  ratios: [`The slowest page took ${Math.max(...rows.map((row) => Number(row[2]))).toFixed(0)} ms.`],
})
