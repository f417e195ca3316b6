import pg from 'pg'
import type { Client } from '../src/client/index.ts'
import { createTree, headOf, untilSucceeded } from './trees.ts'

export interface Prefilled {
  readonly objects: number
  readonly changes: number
  /** Size of the database. */
  readonly bytes: number
  readonly ms: number
}

/** With root and execution 200 objects; three jobs make ten phase changes of each item. */
const ITEMS = 198
const JOBS = 3
const AT_ONCE = 2
const RECONCILE = `mutation ($input: ReconcileInstallationInput!) {
  reconcileInstallation(input: $input) { __typename ... on Error { message } }
}`

/** Creates the tree that is copied, through the product itself. The server may be stopped afterwards. */
export async function makeModel(client: Client): Promise<void> {
  let after = await headOf(client)
  const id = await createTree(client, 'model', ITEMS)
  await untilSucceeded(client, [id], after)
  for (let job = 1; job < JOBS; job++) {
    after = await headOf(client)
    const { reconcileInstallation: asked } = await client.query<{ reconcileInstallation: { message?: string } }>(
      RECONCILE,
      { input: { id } },
    )
    if (asked.message) throw new Error(asked.message)
    await untilSucceeded(client, [id], after)
  }
}

/** Columns that hold the id of an object; a copy has its own. */
const OBJECT_IDS: Readonly<Record<string, readonly string[]>> = {
  object: ['id', 'root_id', 'parent_id'],
  object_spec: ['object_id'],
  object_status: ['object_id'],
  tally: ['object_id'],
  edge: ['from_id', 'to_id'],
  installation: ['object_id'],
  deploy_item: ['object_id'],
  work: ['object_id', 'root_id'],
  log_content: ['root_id', 'object_ids', 'parent_ids'],
  log_object: ['object_id'],
  log_batch: [],
}

/**
 * Copies everything of the one tree that is there until there are so many objects: whole, finished trees, and a log of
 * theirs that is numbered without a gap. Set-based, past triggers and foreign keys; then everything is analysed.
 */
export async function multiply(url: string, objects: number): Promise<Prefilled> {
  const since = performance.now()
  await using pool = poolOf(url)
  // Apart, so that copies are not copied.
  await pool.query('create schema model')
  for (const table of Object.keys(OBJECT_IDS)) await pool.query(`create table model."${table}" as table "${table}"`)
  const model = await modelOf(pool)
  const copies = Math.ceil(objects / model.objects)
  // Half of the room that a table leaves for its rows' next versions is taken: these have had theirs. Otherwise each page would
  // have room for just one new row, so that new ones would be strewn over all pages.
  const { rows: roomy } = await pool.query<{ name: string; factor: number }>(FILL_FACTORS)
  const setFill = (of: (factor: number) => number) =>
    Promise.all(roomy.map(({ name, factor }) => pool.query(`alter table "${name}" set (fillfactor = ${of(factor)})`)))
  await setFill((factor) => Math.round((100 + factor) / 2))
  await copyTrees(pool, model, 1, copies)
  await setFill((factor) => factor)
  await settle(pool)
  return { ...(await totalOf(pool)), ms: performance.now() - since }
}

/**
 * Does to the tables of `multiply` what so many days of use do. On each day a part of the trees is run once more and then deleted, its log
 * is pruned, and as many new trees come: after the last day none is left of those that were there. Vacuumed once a day, as autovacuum does at least.
 */
export async function churn(url: string, days: number): Promise<Prefilled> {
  const since = performance.now()
  await using pool = poolOf(url)
  const model = await modelOf(pool)
  const copies = Math.floor((await totalOf(pool)).objects / model.objects) - 1
  for (let day = 0; day < days; day++) {
    const [from, to] = [Math.floor((copies * day) / days) + 1, Math.floor((copies * (day + 1)) / days)]
    const range = [from, to + 1].map((copy) => `${copy.toString(16).padStart(8, '0')}-0000-0000-0000-000000000000`)
    for (const sql of RUN_AGAIN) await pool.query(sql, range)
    for (const [table, [id = '']] of Object.entries(OBJECT_IDS))
      if (!table.startsWith('log_'))
        await pool.query(`delete from "${table}" where "${id}" >= $1 and "${id}" < $2`, range)
    const batches = [to * model.batches + model.batches]
    for (const table of ['log_content', 'log_object'])
      await pool.query(`delete from ${table} where batch_id <= $1`, batches)
    await pool.query('delete from log_batch where id <= $1', batches)
    await pool.query('update log_meta set floor_seq = (select min(first_seq) - 1 from log_batch)')
    await copyTrees(pool, model, copies + from, copies + to)
    await settle(pool)
  }
  return { ...(await totalOf(pool)), ms: performance.now() - since }
}

const poolOf = (url: string) => disposable(new pg.Pool({ connectionString: url, max: AT_ONCE, options: OPTIONS }))

async function modelOf(pool: pg.Pool): Promise<Model> {
  const [model] = (await pool.query<Model>(MODEL)).rows
  if (!model) throw new Error('there is no model')
  return model
}

async function totalOf(pool: pg.Pool): Promise<Omit<Prefilled, 'ms'>> {
  const [total] = (await pool.query<Omit<Prefilled, 'ms'>>(TOTAL)).rows
  if (!total) throw new Error('nothing was counted')
  return total
}

/** In shares, each of which is one transaction of its own on a connection of its own. */
async function copyTrees(pool: pg.Pool, model: Model, first: number, last: number): Promise<void> {
  const count = last - first + 1
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, i) => {
      const [from, to] = [Math.floor((count * i) / AT_ONCE), Math.floor((count * (i + 1)) / AT_ONCE) - 1]
      for (const table of Object.keys(OBJECT_IDS)) {
        const columns = await columnsOf(pool, table)
        await pool.query(copySql(table, columns, model), [first + from, first + to])
      }
    }),
  )
}

async function settle(pool: pg.Pool): Promise<void> {
  await pool.query(`select setval('log_batch_id_seq', (select max(id) from log_batch))`)
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
}

interface Model {
  readonly objects: number
  readonly changes: number
  readonly batches: number
}
const OPTIONS = '-c session_replication_role=replica -c synchronous_commit=off -c work_mem=64MB'
const FILL_FACTORS = `select c.relname as name, o.option_value::int as factor from pg_class c, pg_options_to_table(c.reloptions) o
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and o.option_name = 'fillfactor'`
const TOTAL = `select (select count(*) from object)::int as objects, (select sum(n) from log_batch)::int as changes,
  pg_database_size(current_database())::float8 as bytes`
const MODEL = `select (select count(*) from model.object)::int as objects, (select sum(n) from model.log_batch)::int as changes,
  (select max(id) from model.log_batch)::int as batches`
/** The versions of rows that another job of each item leaves behind. */
const RUN_AGAIN = [
  'object set revision = revision + 1 where id',
  'work set attempt = attempt + 1 where object_id',
].flatMap((update) => Array.from({ length: JOBS }, () => `update ${update} >= $1 and ${update.split(' ').at(-1)} < $2`))

const idOfCopy = (id: string): string =>
  `(lpad(to_hex(copy), 12, '0') || substr(replace(${id}::text, '-', ''), 13))::uuid`

/** $1 and $2: the first and the last copy. Ids of copies grow, as those that the product makes do. */
function copySql(table: string, columns: readonly string[], { changes, batches }: Model): string {
  const ids = OBJECT_IDS[table] ?? []
  const copied = (column: string): string => {
    if (ids.includes(column)) {
      if (!column.endsWith('_ids')) return idOfCopy(`t."${column}"`)
      return `(select array_agg(${idOfCopy('e.id')} order by e.n) from unnest(t."${column}") with ordinality e(id, n))`
    }
    if (column === 'batch_id' || (table === 'log_batch' && column === 'id')) return `t."${column}" + copy * ${batches}`
    if (column === 'first_seq') return `t.first_seq + copy * ${changes}`
    // Roots are unique by name.
    if (table === 'object' && column === 'name')
      return `case when t.parent_id is null then t.name || '-' || copy else t.name end`
    return `t."${column}"`
  }
  const list = columns.map((column) => `"${column}"`).join(', ')
  return `insert into "${table}" (${list}) select ${columns.map(copied).join(', ')}
    from generate_series($1::int, $2::int) copy cross join model."${table}" t`
}

async function columnsOf(pool: pg.Pool, table: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = 'public' and table_name = $1`,
    [table],
  )
  return rows.map(({ column_name }) => column_name)
}

const disposable = (pool: pg.Pool): pg.Pool & AsyncDisposable =>
  Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() })
