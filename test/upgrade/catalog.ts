import type { Pool } from 'pg'

/** All that Postgres knows of a schema, a line for each thing, so that two databases can be compared. */
const QUERIES: Readonly<Record<string, string>> = {
  columns: `select format('%s %s %s.%s %s%s %s %s %s %s', c.relkind, a.attnum - (
        select count(*) from pg_attribute d where d.attrelid = c.oid and d.attisdropped and d.attnum > 0 and d.attnum < a.attnum
      ), c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end, a.attidentity, a.attgenerated, a.attstorage,
      pg_get_expr(d.adbin, d.adrelid)) as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v')`,
  options: `select format('%s %s %s', relkind, relname, reloptions) as line from pg_class
    where relnamespace = 'public'::regnamespace`,
  views: `select format('%s %s', viewname, definition) as line from pg_views where schemaname = 'public'`,
  indexes: `select indexdef as line from pg_indexes where schemaname = 'public'`,
  constraints: `select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line from pg_constraint
    where connamespace = 'public'::regnamespace`,
  functions: `select pg_get_functiondef(oid) as line from pg_proc where pronamespace = 'public'::regnamespace`,
  triggers: `select format('%s %s', tgenabled, pg_get_triggerdef(oid)) as line from pg_trigger
    where not tgisinternal`,
  types: `select format('%s %s', t.typname, array_agg(e.enumlabel order by e.enumsortorder)) as line from pg_type t
    join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'public'::regnamespace group by t.typname`,
  sequences: `select format('%s %s %s %s %s %s', sequencename, data_type, start_value, increment_by, cycle, cache_size) as line
    from pg_sequences where schemaname = 'public'`,
}

export async function readCatalog(pool: Pool): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {}
  for (const [what, sql] of Object.entries(QUERIES)) {
    const { rows } = await pool.query<{ line: string }>(`select line from (${sql}) lines order by line collate "C"`)
    found[what] = rows.map(({ line }) => line)
  }
  return found
}

/** Every row of every table. */
export async function readRows(pool: Pool): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {}
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  )
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from "${name}" t order by 1`)
    found[name] = rows.map(({ row }) => row)
  }
  return found
}
