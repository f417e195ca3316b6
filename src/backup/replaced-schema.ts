import type { PoolClient } from 'pg'
import { BackupProblem } from './backup-problem.ts'
import { SCHEMA } from './contents.ts'

/**
 * A restore keeps the replaced schema under another name until the restored one has been compared with its backup. So a
 * restore that fails, or is killed, loses nothing.
 */
export const ASIDE = 'phaseline_replaced'

/** Nothing of an extension counts: it is there before a database is used. */
const notOfExtension = (catalog: string): string =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = c.oid and d.deptype = 'e')`
const IN_USE = `
  select
    (select count(*) from pg_class c where c.relnamespace = s.oid and ${notOfExtension('pg_class')})
    + (select count(*) from pg_proc c where c.pronamespace = s.oid and ${notOfExtension('pg_proc')})
    + (select count(*) from pg_type c where c.typnamespace = s.oid and c.typtype in ('d', 'e') and ${notOfExtension('pg_type')})
      as objects,
    (select coalesce(array_agg(extname::text order by extname), '{}') from pg_extension where extnamespace = s.oid) as extensions
  from pg_namespace s where s.nspname = '${SCHEMA}'`

interface InUse {
  readonly objects: number
  readonly extensions: readonly string[]
}
interface Target {
  readonly name: string
  readonly isOurs: boolean
}

/**
 * True if there is a schema to put aside.
 * @throws BackupProblem when nothing may be restored here
 */
export async function requireRoom(client: PoolClient, target: Target, replace: boolean): Promise<boolean> {
  const left = await client.query('select from pg_namespace where nspname = $1', [ASIDE])
  if (left.rows.length > 0)
    throw new BackupProblem(
      'REFUSED',
      `An earlier restore into ${target.name} was cut off, and the schema ${ASIDE} has what was there before. Bring it back (drop schema ${SCHEMA} cascade; alter schema ${ASIDE} rename to ${SCHEMA}), or drop it.`,
    )
  const [found] = (await client.query<InUse>(IN_USE)).rows
  if (!found) throw new BackupProblem('REFUSED', `The database ${target.name} has no schema ${SCHEMA}: create it.`)
  if (found.objects === 0) return false
  const has = `The database ${target.name} is not empty: its schema ${SCHEMA} has ${found.objects} objects`
  if (!target.isOurs)
    throw new BackupProblem('REFUSED', `${has}, which are not of Phaseline. Restore into an empty database.`)
  if (!replace)
    throw new BackupProblem('REFUSED', `${has}. Restore into an empty database, or replace all of it with --replace.`)
  if (found.extensions.length > 0)
    throw new BackupProblem(
      'REFUSED',
      `${has}, and the extensions ${found.extensions.join(', ')}, which would be replaced with them. Move these (alter extension … set schema …), or restore into an empty database.`,
    )
  return true
}

/** An empty schema with the owner and the rights of the one before. */
const PUT_ASIDE = `do $do$
declare
  before pg_namespace;
  entry record;
begin
  select * into before from pg_namespace where nspname = '${SCHEMA}';
  alter schema ${SCHEMA} rename to ${ASIDE};
  create schema ${SCHEMA};
  for entry in select * from aclexplode(before.nspacl) loop
    execute format('grant %s on schema ${SCHEMA} to %s', entry.privilege_type,
      case entry.grantee when 0 then 'public' else entry.grantee::regrole::text end);
  end loop;
  execute format('alter schema ${SCHEMA} owner to %s', before.nspowner::regrole);
end
$do$`

export const putAside = (client: PoolClient) => client.query(PUT_ASIDE)

export const bringBack = (client: PoolClient) =>
  client.query(`do $do$ begin
    drop schema ${SCHEMA} cascade;
    alter schema ${ASIDE} rename to ${SCHEMA};
  end $do$`)

export const dropReplaced = (client: PoolClient) => client.query(`drop schema ${ASIDE} cascade`)
