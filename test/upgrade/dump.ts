import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { BOOKKEEPING } from '../../src/store/migrate.ts'
import type { Notes } from './released-world.ts'

/**
 * A database as plain SQL, for any Postgres and without its tools: the release's migrations make the schema, rows and the
 * values of sequences follow. The first line says of which release it is and what only the fillers of it could know.
 */

export interface DumpHead {
  readonly release: string
  /** When the database was left. */
  readonly made: string
  readonly notes: Notes
}
export interface Dump extends DumpHead {
  readonly parts: readonly Part[]
}
/** One transaction: a migration, the rows of a table, or the sequences. */
interface Part {
  readonly name: string
  readonly sql: string
}

const HEAD = '-- phaseline-dump '
const PART = '-- part: '

export async function writeDump(pool: Pool, migrations: string, head: DumpHead): Promise<string> {
  const parts: Part[] = [{ name: 'bookkeeping', sql: `${BOOKKEEPING};` }]
  for (const name of (await readdir(migrations)).filter((one) => /^\d/.test(one)).sort())
    parts.push({ name, sql: (await readFile(join(migrations, name, 'migration.sql'), 'utf8')).trimEnd() })
  // Texts do not depend on the settings of whoever dumps.
  const client = await pool.connect()
  try {
    await client.query(`set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'`)
    const read = async (sql: string): Promise<readonly string[]> =>
      (await client.query<{ text: string }>(sql)).rows.map(({ text }) => text)
    for (const table of await read(TABLES)) {
      const columns = await read(columnsOf(table))
      const values = columns.map((column) => `quote_nullable("${column}")`).join(', ')
      const rows = await read(`select concat_ws(', ', ${values}) as text from "${table}" order by 1`)
      parts.push({ name: `${ROWS}${table}`, sql: insert(table, columns, rows) })
    }
    parts.push({ name: 'sequences', sql: (await read(SEQUENCES)).join('\n') })
  } finally {
    client.release(true)
  }
  return [HEAD + JSON.stringify(head), ...parts.map(({ name, sql }) => `${PART}${name}\n${sql}`), ''].join('\n')
}

const ROWS = 'rows of '
const TABLES = `select relname as text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`
const columnsOf = (table: string): string => `select attname as text from pg_attribute
  where attrelid = '"${table}"'::regclass and attnum > 0 and not attisdropped order by attnum`
const SEQUENCES = `select format('select setval(%L, %s, %s);', quote_ident(sequencename),
    coalesce(last_value, start_value), (last_value is not null)::text) as text
  from pg_sequences where schemaname = 'public' order by sequencename`

/** Neither triggers nor foreign keys look: rows come as they were, in any order. A migration may have put some there. */
function insert(table: string, columns: readonly string[], rows: readonly string[]): string {
  const into = `insert into "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) overriding system value values`
  const inserted = rows.length === 0 ? [] : [into, `${rows.map((row) => `(${row})`).join(',\n')};`]
  return ['set local session_replication_role = replica;', `delete from "${table}";`, ...inserted].join('\n')
}

export async function readDump(file: string): Promise<Dump> {
  const text = await readFile(file, 'utf8')
  const end = text.indexOf('\n')
  if (!text.startsWith(HEAD)) throw new Error(`${file} is no dump`)
  const head = JSON.parse(text.slice(HEAD.length, end)) as DumpHead
  const parts = text
    .slice(end)
    .split(`\n${PART}`)
    .slice(1)
    .map((part): Part => {
      const line = part.indexOf('\n')
      return { name: part.slice(0, line), sql: part.slice(line + 1) }
    })
  return { ...head, parts }
}

/**
 * Into an empty schema. Leases, deadlines and keys are moved on as if the database had been left so long ago, however old
 * the dump is; the log keeps its times, which the marks of its changes are made from.
 */
export async function restoreDump(pool: Pool, { parts, made }: Dump, leftMs = 0): Promise<void> {
  const passed = Date.now() - leftMs - Date.parse(made)
  const client = await pool.connect()
  try {
    for (const { name, sql } of parts) {
      const isLog = name === `${ROWS}log_content` || !name.startsWith(ROWS)
      await client.query(`begin; ${isLog ? sql : movedOn(sql, passed)}\n; commit`)
    }
    await client.query(SAME_DATABASE)
  } finally {
    client.release(true)
  }
}

/** An upgrade does not replace the database: what is restored here stands for the one that was dumped. */
const SAME_DATABASE = `do $do$ begin
  if to_regproc('log_server') is not null then
    update log_meta set server = log_server(), instance = log_instance();
  end if;
end $do$`

const TIME = /\b(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d(?:\.\d+)?)(\+00|Z)/g
const movedOn = (sql: string, ms: number): string =>
  sql.replace(TIME, (_, day: string, between: string, time: string, zone: string) => {
    const [later = '', at = ''] = new Date(Date.parse(`${day}T${time}Z`) + ms).toISOString().slice(0, -1).split('T')
    return later + between + at + zone
  })
