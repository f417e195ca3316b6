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

const CHANGES = 1_000_000
/** Changes of a transaction: few, so that there are many rows. */
const TOGETHER = 3
const REPEATS = 7
const WAIT_MS = 100
const GB = 2 ** 30

/** Words, and how many of the changes have all of them. */
const SEARCHES = [
  { search: 'nowhere', what: 'in no change' },
  { search: 'item-500000', what: 'in one change' },
  { search: 'shop-17/deploy-items agent-3', what: 'each in every stretch, together in 144 changes' },
  { search: 'item agent-3 shop-999 500', what: 'four that are often near each other, never together' },
  { search: 'succeeded', what: 'in all changes' },
] as const
const SEARCH = gql(`query Newest($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { ...Logged } }
  }
}
fragment Logged on PhaseChange {
  sequence cursor objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at
}`)

export const workload: Workload = { name: 'log-search', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  const url = await postgres.createDatabase('log_search')
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
    await postgres.dropDatabase('log_search')
  }
}

/** A log of finished items, three to a transaction, of 1,000 trees and seven agents. */
async function fill(pool: pg.Pool): Promise<void> {
  const batches = Math.floor(CHANGES / TOGETHER)
  await pool.query(
    `insert into log_batch (id, n, first_seq)
      select i, ${TOGETHER}, (select coalesce(max(first_seq + n), 1) from log_batch) + (i - 1000001) * ${TOGETHER}
      from generate_series(1000001, ${1_000_000 + batches}) i`,
  )
  await pool.query(
    `insert into log_content (batch_id, root_id, object_ids, parent_ids, names, revisions, messages, steps, counts,
        project_names, kinds, machines, "from", "to", actors, "by", reasons, job_ids, rejected, at, project_id, by_ids, parent_paths)
      select i, r, array_agg(r), array_agg(r), array_agg('item-' || ((i - 1000001) * ${TOGETHER} + k)), array_agg(k),
        array_agg(case when k = 0 then 'some message of an agent ' || i end), array_agg(1), array[${TOGETHER}],
        array['default'], array['DEPLOY_ITEM']::object_kind[], array['deployItem'], array['PROGRESSING']::phase[],
        array['SUCCEEDED']::phase[], array['DEPLOYER']::actor[], array['agent-' || i % 7], array['the work has succeeded'],
        array[r], array[false], array[now() - interval '1 hour'], r, array[r], array_agg('shop-' || i % 1000 || '/deploy-items')
      from (select b.id as i, gen_random_uuid() as r from log_batch b where b.id > 1000000) g,
        generate_series(0, ${TOGETHER - 1}) k
      group by i, r order by i`,
  )
  await pool.query(`select setval('log_batch_id_seq', ${2_000_000 + batches})`)
  await pool.query('vacuum analyze log_batch')
  await pool.query('vacuum analyze log_content')
}

/** Waits until the server has indexed what is there; milliseconds. */
async function indexed(pool: pg.Pool): Promise<number> {
  const start = performance.now()
  for (;;) {
    const { rows } = await pool.query<{ rest: string }>(
      'select (select max(first_seq + n - 1) from log_batch) - coalesce((select max(last_seq) from log_text), 0) as rest',
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
    const { phaseChanges } = await client.query(SEARCH, { filter: { search, includeRejected: true }, last: 200 })
    times.push(performance.now() - start)
    found = phaseChanges?.edges.length ?? 0
    isWhole = !phaseChanges?.pageInfo.hasPreviousPage
  }
  return [
    `\`${search}\`: ${what}`,
    median(times),
    quantile(times, 1),
    String(found),
    isWhole ? 'the whole log' : 'a page',
  ]
}

async function sizes(pool: pg.Pool): Promise<{ readonly logBytes: number; readonly textBytes: number }> {
  const { rows } = await pool.query<{ log: string; text: string }>(
    `select pg_total_relation_size('log_content') as log, pg_total_relation_size('log_text') as text`,
  )
  return { logBytes: Number(rows[0]?.log), textBytes: Number(rows[0]?.text) }
}

/** How Postgres finds the stretches that may have two words. */
async function planOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, buffers off, summary off)
      select t.first_seq as first, t.last_seq as last from log_text t
      where t.first_seq > 0 and t.last_seq < 2000000 and t.text is not null
        and exists (select from unnest(array['nowhere', 'deployer']) w(word) where strpos(t.text, w.word collate "C") = 0)
      order by t.first_seq`,
  )
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

interface Measured {
  readonly indexedMs: number
  readonly plan: string
  readonly logBytes: number
  readonly textBytes: number
}

const sectionOf = (rows: readonly Cell[][], { indexedMs, plan, logBytes, textBytes }: Measured): Section => ({
  title: 'log-search: words in 1,000,000 phase changes',
  prose: `
The newest 200 changes with all the words, of ${CHANGES.toLocaleString('en-US')} in ${Math.floor(CHANGES / TOGETHER).toLocaleString('en-US')} transactions
(${(logBytes / GB).toFixed(2)} GB), by \`phaseChanges(filter: { search })\` over HTTP. The server had indexed them in ${(indexedMs / 1_000).toFixed(0)} s, at half of its time, into
${(textBytes / GB).toFixed(3)} GB. [How it is searched](adr/0028-the-log-is-searched-by-stretches.md). The plan by which it leaves out stretches without one of two words:

\`\`\`
${plan}
\`\`\`
`,
  table: { columns: ['words', 'median, ms', 'longest, ms', 'found', 'searched'], rows },
  ratios: [`The slowest page took ${Math.max(...rows.map((row) => Number(row[2]))).toFixed(0)} ms.`],
})
