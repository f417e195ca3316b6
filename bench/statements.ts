import pg from 'pg'
import { type BenchPostgres, startPostgres } from './postgres.ts'

/** Costs of the statements of a database, by pg_stat_statements, and of what they do to its tables. */

/** Its own Postgres, so that other workloads are not counted, and do not pay for the counting. */
export const startCountingPostgres = (): Promise<BenchPostgres> =>
  startPostgres({ shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' })

export interface StatementCost {
  /** e.g. `insert work`; checks of foreign keys and statements of triggers are part of the statement that causes them. */
  readonly name: string
  readonly calls: number
  /** Milliseconds by the wall clock. */
  readonly ms: number
  readonly walBytes: number
  readonly walRecords: number
  /** It runs inside of other statements, whose costs include its own. */
  readonly isNested: boolean
}
export interface TableCost {
  readonly name: string
  readonly inserted: number
  readonly updated: number
  /** Updates that wrote no index. */
  readonly hotUpdated: number
  readonly deleted: number
}

/** Counts from here on. */
export const countStatements = (url: string): Promise<unknown> =>
  query(url, 'create extension if not exists pg_stat_statements', 'select pg_stat_statements_reset()')

/** By name, the most expensive ones first. */
export async function readStatements(url: string): Promise<readonly StatementCost[]> {
  const rows = await query<StatementCost & { text: string }>(
    url,
    `select query as text, calls::float8, total_exec_time as ms, wal_bytes::float8 as "walBytes", wal_records::float8 as "walRecords",
      not toplevel as "isNested" from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
      and query not like '%pg_stat_statements%'`,
  )
  const groups = Map.groupBy(rows, ({ text, isNested }) => `${isNested ? '↳ ' : ''}${nameOf(text)}`)
  return [...groups]
    .map(([name, group]) => ({
      name,
      isNested: group[0]?.isNested ?? false,
      ...sum(group, ['calls', 'ms', 'walBytes', 'walRecords']),
    }))
    .sort((a, b) => b.ms - a.ms)
}

/** Since the database was made. Sessions report what they did to tables when they end. */
export const readTables = (url: string): Promise<readonly TableCost[]> =>
  query<TableCost>(
    url,
    `select relname as name, n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as "hotUpdated",
      n_tup_del::float8 as deleted from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0 order by relname`,
  )

/** The verb and the table of what it writes, or else reads first. */
function nameOf(text: string): string {
  const plain = text.replaceAll('"', '').replace(/\bpublic\./g, '')
  if (/^SELECT \$?1 FROM ONLY/.test(plain)) return `key ${/FROM ONLY (\w+)/.exec(plain)?.[1]}`
  const written = /\b(insert into|(?<!key |do )update|delete from)\s+(?:only )?(\w+)/i.exec(plain)
  if (written) return `${written[1]?.split(' ')[0]?.toLowerCase()} ${written[2]}`
  const read = /\bfrom\s+(?:only )?([a-z_]\w*)\b(?!\()/i.exec(plain)
  return read ? `select ${read[1]}` : plain.slice(0, 24)
}

const sum = <K extends string>(rows: readonly Readonly<Record<K, number>>[], keys: readonly K[]): Record<K, number> =>
  Object.fromEntries(keys.map((key) => [key, rows.reduce((total, row) => total + row[key], 0)])) as Record<K, number>

async function query<R extends object>(url: string, ...statements: readonly string[]): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: R[] = []
    for (const statement of statements) ({ rows } = await client.query<R>(statement))
    return rows
  } finally {
    await client.end()
  }
}
