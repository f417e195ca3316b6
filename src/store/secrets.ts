import type { Client } from './client.ts'
import { bytea, integer, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'

/** A project's secrets, sealed. */

interface Place {
  readonly projectId: string
  readonly name: string
}

const WRITE_SECRET = statement({
  name: 'write-secret',
  text: `insert into secret (project_id, name, sealed, updated_at) values ($1, $2, $3, $4)
      on conflict (project_id, name) do update set sealed = excluded.sealed, updated_at = excluded.updated_at`,
  params: [uuid, text, bytea, timestamptz],
})

/** Replaces the secret of the same name. */
export async function writeSecret(
  client: Client,
  { projectId, name, sealed, updatedAt }: Place & { readonly sealed: Buffer; readonly updatedAt: Date },
): Promise<void> {
  await WRITE_SECRET.query(client, [projectId, name, sealed, updatedAt])
}

const REMOVE_SECRET = statement({
  name: 'remove-secret',
  text: 'delete from secret where project_id = $1 and name = $2',
  params: [uuid, text],
})

/** False: there was none. */
export async function removeSecret(client: Client, { projectId, name }: Place): Promise<boolean> {
  const { rowCount } = await REMOVE_SECRET.query(client, [projectId, name])
  return rowCount === 1
}

const MEASURE_SECRETS = statement({
  name: 'measure-secrets',
  text: `select count(*)::int as count, coalesce(sum(octet_length(sealed)), 0)::int as "sealedBytes"
      from secret where project_id = $1 and name <> $2`,
  params: [uuid, text],
  row: { count: integer, sealedBytes: integer },
})

/** The number and the size of the other secrets. */
export async function measureSecrets(
  client: Client,
  { projectId, except }: { readonly projectId: string; readonly except: string },
): Promise<{ readonly count: number; readonly sealedBytes: number }> {
  const { rows } = await MEASURE_SECRETS.query(client, [projectId, except])
  return rows[0] ?? { count: 0, sealedBytes: 0 }
}
