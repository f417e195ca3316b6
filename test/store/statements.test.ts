import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { families } from '../../src/families/index.ts'
import type { Client } from '../../src/store/client.ts'
import type { AnyType } from '../../src/store/column-types.ts'
import { writeDetails } from '../../src/store/side-rows.ts'
import { type Declared, declaredStatements, everyStatement } from '../../src/store/statement.ts'
import { type Description, describeStatements, type Field } from '../testkit/describe-statement.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

const SRC = join(import.meta.dirname, '../../src')
const LAYERS = ['engine', 'families', 'graphql', 'log', 'server', 'store']
/** They would run. No agent has statements. */
const PROGRAMS = ['api-bridge.ts', 'service-launcher.ts', 'supervisor.ts']
const files = LAYERS.flatMap((layer) =>
  readdirSync(join(SRC, layer), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.startsWith('generated') &&
        !PROGRAMS.some((program) => file.endsWith(`/${program}`)),
    )
    .map((file) => join(SRC, layer, file)),
)

/** Postgres's catalogue: types by number, and the columns of tables, and of views by the same names, that may be null. */
interface Catalogue {
  readonly types: ReadonlyMap<number, string>
  readonly nullable: ReadonlySet<string>
  /** Each as `table.column`. */
  readonly columns: ReadonlySet<string>
}
async function readCatalogue(pool: Pool): Promise<Catalogue> {
  const types = await pool.query<{ oid: number; name: string }>(
    'select oid::integer, format_type(oid, null) as name from pg_type',
  )
  const columns = await pool.query<{ column: string }>(
    `select format('%s.%s', attrelid::integer, attnum) as column from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relkind = 'r' and not a.attnotnull
    union all
    select format('%s.%s', a.attrelid::integer, a.attnum) from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'v'
      join information_schema.view_column_usage u on u.view_name = c.relname and u.view_schema = 'public' and u.column_name = a.attname
      join pg_attribute b on b.attrelid = format('%I', u.table_name)::regclass and b.attname = a.attname and not b.attnotnull`,
  )
  const names = await pool.query<{ column: string }>(
    `select table_name || '.' || column_name as column from information_schema.columns where table_schema = 'public'`,
  )
  return {
    columns: new Set(names.rows.map(({ column }) => column)),
    types: new Map(types.rows.map(({ oid, name }) => [oid, name])),
    nullable: new Set(columns.rows.map(({ column }) => column)),
  }
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  timestamptz: 'timestamp with time zone',
  'timestamptz[]': 'timestamp with time zone[]',
  float8: 'double precision',
}
const nameOf = ({ sql }: AnyType): string => LONG_NAMES[sql] ?? sql

/** How a declaration differs from what the database says; empty: not at all. */
function differences(declared: Declared, found: Description | Error, catalogue: Catalogue): readonly string[] {
  if (found instanceof Error) return [found.message]
  const typeOf = (oid: number) => catalogue.types.get(oid) ?? `${oid}`
  const params = [declared.params.map(nameOf).join(', '), found.params.map(typeOf).join(', ')]
  const isList = Array.isArray(declared.row)
  const entries: readonly (readonly [string, AnyType])[] = Object.entries(declared.row)
  const columns = new Map(entries.map(([name, type]) => [name, type]))
  const label = (field: Field, i: number) => (isList ? `${i}` : field.name)
  const missing = found.fields.map(label).filter((name) => !columns.has(name))
  const unknown = [...columns.keys()].filter((name) => !found.fields.map(label).includes(name))
  const wrong = found.fields.flatMap((field, i) => {
    const type = columns.get(label(field, i))
    if (!type) return []
    const mayBeNull = catalogue.nullable.has(`${field.table}.${field.column}`)
    const differs = nameOf(type) !== typeOf(field.type)
    return [
      ...(differs ? [`column ${label(field, i)} is ${typeOf(field.type)}, not ${nameOf(type)}`] : []),
      ...(mayBeNull && !type.nullable && !type.asserted ? [`column ${label(field, i)} may be null`] : []),
    ]
  })
  return [
    ...(params[0] === params[1] ? [] : [`its parameters are ${params[1]}, not ${params[0]}`]),
    ...missing.map((name) => `column ${name} is not declared`),
    ...unknown.map((name) => `there is no column ${name}`),
    ...wrong,
  ]
}

/** Comparisons that look as if they meant a column of the query around them, and get one of their own table: `o.id = root_id`. */
function comparedWithItself({ text }: Declared, { columns }: Catalogue): readonly string[] {
  const tables = new Map(
    [...text.matchAll(/\b(?:from|join) (\w+) (\w+)/g)].map(([, table = '', alias = '']) => [alias, table]),
  )
  return [...text.matchAll(/\b(\w+)\.\w+ = (\w+)\b(?![.(])/g)].flatMap(([found, alias = '', column = '']) =>
    columns.has(`${tables.get(alias)}.${column}`) ? [`qualify the column in ${found}`] : [],
  )
}

/** Tests that this process has run before may have declared statements of their own. */
const isOfTheProduct = ({ name = '' }: Declared): boolean => !name.startsWith('test-')

beforeAll(async () => {
  for (const file of files) await import(pathToFileURL(file).href)
  // These are put together from the families' tables of columns.
  const servers = await Promise.all(families.map((family) => family.server()))
  for (const table of servers.flatMap(({ rules }) => rules.details)) await writeDetails({} as Client, table, [])
})

test('every statement has the parameters and columns that it declares', async () => {
  await using database = await createTestDatabase()
  const catalogue = await readCatalogue(database.pool)
  const statements = everyStatement().filter(isOfTheProduct)
  const found = await describeStatements(
    database.connection,
    statements.map(({ text }) => text),
  )
  const wrong = statements.flatMap((declared, i) =>
    [...differences(declared, found[i] as Description, catalogue), ...comparedWithItself(declared, catalogue)].map(
      (one) => `${declared.name ?? declared.text}: ${one}`,
    ),
  )
  expect(wrong).toEqual([])
  expect(statements.length).toBeGreaterThan(210)
})

test('a name belongs to one statement', () => {
  // Statements with rows as arrays depend on the families that a process has.
  const named = declaredStatements()
    .filter(isOfTheProduct)
    .flatMap(({ name, row }) => (Array.isArray(row) ? [] : (name ?? [])))
  expect(named.filter((name, i) => named.indexOf(name) !== i)).toEqual([])
})

test('no statement with a name is sent without being declared', () => {
  const undeclared = files
    .filter((file) => !file.endsWith('store/statement.ts'))
    .flatMap((file) => {
      const found = readFileSync(file, 'utf8').matchAll(/(\w+|=) ?\(?\s*\{\s*name: (?:'|`[^$]*`)[^,\n]+,\s*text\b/g)
      return [...found]
        .filter(([, caller]) => caller !== 'statement' && caller !== 'declare')
        .map(([text]) => `${file}: ${text}`)
    })
  expect(undeclared).toEqual([])
})
