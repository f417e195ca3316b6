import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MIGRATIONS_FOLDER } from '../../src/start/package-folder.ts'
import { knownMigrations } from '../../src/store/migrate.ts'
import { contractionsOf } from './contractions.ts'

/** From this one on a database says which programs work with it. */
const FIRST = '20261124040000_schema_range'
const MOVES_ON = /update "schema_range" set "oldest" = '(\w+)'/

const known = await knownMigrations(MIGRATIONS_FOLDER)
const judged = known.filter((name) => name > FIRST)

test('a migration that takes something from earlier programs says since when programs do without it', () => {
  for (const name of judged) {
    const sql = readFileSync(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8')
    const contractions = contractionsOf(sql)
    const oldest = MOVES_ON.exec(sql)?.[1]
    if (contractions.length === 0 && oldest === undefined) continue
    expect(oldest, `${name} takes away: ${contractions.join('; ')}`).toBeDefined()
    // A version later at the earliest: the version before this one knows it.
    expect(known.slice(known.indexOf(FIRST), known.indexOf(name))).toContain(oldest)
  }
})

test.each([
  'drop table "token"',
  'alter table "token" drop column "name"',
  'alter table "token" add column "a" int, drop column "name"',
  'alter table "token" rename column "name" to "title"',
  'alter table "token" rename to "tokens"',
  'alter table "token" alter column "name" set not null',
  'alter table "token" alter column "name" drop default',
  'alter table "token" alter column "name" type uuid using "name"::uuid',
  'alter table "token" add column "needed" text not null',
  `alter table "token" add column "a" text not null default '', add column "needed" text not null`,
  `alter table "token" add constraint "named" check ("name" <> '')`,
  `alter table "token" add column "a" text; alter table "token" add constraint "b" check (length("name") <= 9)`,
  `alter table "token" add column "a" text; alter table "token" add constraint "b" check ("a" <> "name")`,
  'create unique index on "token" ("name")',
  'drop view "phase_change"',
  'create table "a" ("b" text not null); drop table "token"',
])('contracts: %s', (sql) => {
  expect(contractionsOf(sql)).not.toEqual([])
})

test.each([
  `alter table "token" add column "a" text; alter table "token" add constraint "b" check (length("a") <= 9) not valid`,
  'create table "a" ("b" text not null); create unique index on "a" ("b"); alter table "a" add constraint "c" check ("b" > \'\')',
  'alter table "token" add column "a" text',
  'alter table "token" add column "a" int not null default 0, add column "b" boolean not null generated always as ("a" > 0) stored',
  'create index on "token" ("name"); drop index "token_name_idx"',
  `alter type "phase" add value 'NEW'`,
  'alter table "token" alter column "name" drop not null',
  'create or replace function f() returns void language plpgsql as $$ begin drop table "token"; end $$',
  '-- drop table "token"',
])('does not: %s', (sql) => {
  expect(contractionsOf(sql)).toEqual([])
})
