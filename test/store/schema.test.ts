import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { SEQUENCES } from '../../src/store/sequences.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { readPrismaSchema, type TableShape } from '../testkit/prisma-schema.ts'

const COLUMNS = `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname not like '\\_prisma%'`
// Partial and expression indexes, and other methods than btree, are beyond what Prisma's schema can say.
const KEYS = `select c.relname as table, i.indisprimary as primary, i.indisunique as unique,
    array(select a.attname::text from unnest(i.indkey) with ordinality k(n, o)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n order by k.o) as columns
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
  where c.relnamespace = 'public'::regnamespace and c.relname not like '\\_prisma%'
    and i.indpred is null and i.indexprs is null and m.amname = 'btree'`

async function readDatabase(pool: Pool): Promise<Readonly<Record<string, TableShape>>> {
  type Column = { table: string; column: string; type: string; required: boolean }
  type Key = { table: string; primary: boolean; unique: boolean; columns: string[] }
  const columns = Map.groupBy((await pool.query<Column>(COLUMNS)).rows, (row) => row.table)
  const keys = Map.groupBy((await pool.query<Key>(KEYS)).rows, (row) => row.table)
  return Object.fromEntries(
    [...columns].map(([table, rows]) => [
      table,
      {
        // A list column is never null for Prisma, which reads none as empty.
        columns: Object.fromEntries(
          rows.map(({ column, type, required }) => [
            column,
            `${type}${required || type.endsWith('[]') ? ' not null' : ''}`,
          ]),
        ),
        keys: (keys.get(table) ?? [])
          .map((key) => `${key.primary ? 'primary key' : key.unique ? 'unique' : 'index'} (${key.columns.join(', ')})`)
          .sort(),
      },
    ]),
  )
}

test('schema.prisma is the migrated database', async () => {
  await using database = await createTestDatabase()
  const said = readPrismaSchema(readFileSync(join(import.meta.dirname, '../../prisma/schema.prisma'), 'utf8'))
  const found = await readDatabase(database.pool)
  expect(Object.keys(said).length).toBeGreaterThan(20)
  expect(said).toEqual(found)
})

test('each sequence of the database is one that catches up with its column', async () => {
  await using database = await createTestDatabase(1)
  const { rows } = await database.pool.query(`
    select s.relname as sequence, t.relname as table, a.attname as column
    from pg_class s join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
    join pg_class t on t.oid = d.refobjid join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace order by 1`)
  expect(rows).toEqual(SEQUENCES.toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1)))
})
