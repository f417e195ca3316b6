import type { Client } from './client.ts'
import { text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

export interface IdempotencyKey {
  readonly principalId: string
  readonly projectId: string
  readonly mutation: string
  readonly key: string
  readonly inputHash: string
}
const DAY_MS = 24 * 60 * 60 * 1_000

const FIND_IDEMPOTENCY_KEY = statement({
  name: 'find-idempotency-key',
  text: `select input_hash as "inputHash", object_id as "objectId" from idempotency_key
      where principal_id = $1 and project_id = $2 and mutation = $3 and key = $4 and created_at > $5`,
  params: [uuid, uuid, text, text, timestamptz],
  row: { inputHash: table.idempotencyKey.inputHash, objectId: table.idempotencyKey.objectId },
})

/** The first call with this key, if it was within a day. Read under the project's scope lock, so two cannot both be first. */
export async function findKey(
  client: Client,
  { principalId, projectId, mutation, key }: IdempotencyKey,
  now: Date,
): Promise<{ inputHash: string; objectId: string } | null> {
  const { rows } = await FIND_IDEMPOTENCY_KEY.query(client, [
    principalId,
    projectId,
    mutation,
    key,
    new Date(now.getTime() - DAY_MS),
  ])
  return rows[0] ?? null
}

const KEEP_IDEMPOTENCY_KEY = statement({
  name: 'keep-idempotency-key',
  text: `insert into idempotency_key (principal_id, project_id, mutation, key, input_hash, object_id, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (principal_id, project_id, mutation, key) do update
        set input_hash = excluded.input_hash, object_id = excluded.object_id, created_at = excluded.created_at`,
  params: [uuid, uuid, text, text, text, uuid, timestamptz],
})

export async function keepKey(client: Client, key: IdempotencyKey, objectId: string, now: Date): Promise<void> {
  await KEEP_IDEMPOTENCY_KEY.query(client, [
    key.principalId,
    key.projectId,
    key.mutation,
    key.key,
    key.inputHash,
    objectId,
    now,
  ])
}
