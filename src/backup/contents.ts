import type { Client } from '../store/client.ts'
import { array, bigint, integer, required, text } from '../store/column-types.ts'
import { HEAD } from '../store/log-mark.ts'
import { countByKey } from '../store/reseal.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { BackupProblem } from './backup-problem.ts'
import type { Contents } from './manifest.ts'

/** The schema that a backup holds. */
export const SCHEMA = 'public'
/** The first one that says which programs work with it. */
const OLDEST_SCHEMA = '20261124040000_schema_range'

const FIND_DATABASE = statement({
  text: `select current_database()::text as name, current_setting('server_version_num')::int / 10000 as postgres,
      (to_regclass('${SCHEMA}.log_meta') is not null and to_regclass('${SCHEMA}._prisma_migrations') is not null)::int as "isOurs"`,
  row: { name: text, postgres: integer, isOurs: integer },
})
export interface FoundDatabase {
  readonly name: string
  /** The major version of its server. */
  readonly postgres: number
  /** It has the tables of this program. */
  readonly isOurs: boolean
}

export async function findDatabase(client: Client): Promise<FoundDatabase> {
  const { rows } = await FIND_DATABASE.query(client, [])
  const [row] = rows
  if (!row) throw new Error('Postgres does not tell its database.')
  return { ...row, isOurs: row.isOurs === 1 }
}

const APPLIED = statement({
  text: `select coalesce(array_agg(migration_name::text order by migration_name::text collate "C"), '{}') as names
      from "_prisma_migrations" where finished_at is not null and rolled_back_at is null`,
  row: { names: required(array(text)) },
})
const RANGE_AND_LOG = statement({
  text: `select r.oldest, m.log_id, m.epoch, ${HEAD} as head from log_meta m cross join schema_range r`,
  row: { oldest: text, log_id: table.logMeta.logId, epoch: table.logMeta.epoch, head: bigint },
})
const TABLES = statement({
  text: `select relname::text as name from pg_class
      where relkind in ('r', 'p') and relnamespace = '${SCHEMA}'::regnamespace order by relname::text collate "C"`,
  row: { name: text },
})

/** The contents of the database; in a transaction with a snapshot, as of that. Reads every row of every table. */
export async function readContents(client: Client): Promise<Contents> {
  const migrations = (await APPLIED.query(client, [])).rows[0]?.names ?? []
  if (!migrations.includes(OLDEST_SCHEMA))
    throw new BackupProblem(
      'REFUSED',
      `The database is of an older version, with the schema ${migrations.at(-1) ?? 'of none'}: start this version on it first, or use pg_dump.`,
    )
  const [found] = (await RANGE_AND_LOG.query(client, [])).rows
  if (!found) throw new BackupProblem('REFUSED', 'The database has no log: it is not complete.')
  const { oldest, log_id: id, epoch, head } = found
  const log = { id, epoch, head }
  const secretKeys = (await countByKey(client)).map((one) => ({ ...one }))
  return { migrations: [...migrations], oldest, log, rows: await countRows(client), secretKeys }
}

/** One statement for all tables: their names are the database's own. */
async function countRows(client: Client): Promise<Record<string, number>> {
  const names = (await TABLES.query(client, [])).rows.map(({ name }) => name)
  const counts = names.map((name, at) => `select ${at} as at, count(*) as n from ${SCHEMA}.${quoted(name)}`)
  const { rows } = await client.query<{ at: number; n: number }>({ text: counts.join(' union all ') })
  return Object.fromEntries(rows.map(({ at, n }) => [names[at] ?? '', n]))
}
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
