import { createHash } from 'node:crypto'
import { invalidInput, type Refusal, type RefusalOf } from '../core/errors.ts'
import type { Outcome, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Client } from './client.ts'
import { integer, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/**
 * A request that is repeated with its key gets the answer of the first one, and does not run again. Only an id of the
 * answer and a hash of the input are kept.
 */

/** The transaction of a request. */
export interface KeyScope {
  readonly client: Client
  /**
   * The project that the transaction has locked itself or through one of its trees. Null: there is none, and the key
   * gets a lock of its own.
   */
  readonly projectId: string | null
  readonly now: Date
}
export type Keyed = { readonly idempotencyKey?: string | null }
export interface KeyedRequest {
  readonly mutation: string
  readonly input: Keyed
}
/** Stores an answer, and restores it for a repetition. */
export interface Repeat<T, R extends Refusal = never> {
  idOf(answer: T): string
  again(id: string): Outcome<T, R> | Promise<Outcome<T, R>>
}

/** A request that is run once for its key. */
export type Once<T extends object, Again extends Refusal = never> = KeyedRequest & Repeat<T, Again>

/** For commands that write one object, which is read again whenever it is shown. */
export const byKey = (mutation: string, input: Keyed): Once<WrittenObject> => ({
  mutation,
  input,
  idOf: ({ objectId }) => objectId,
  again: (objectId) => ({ ok: true, objectId }),
})

/** Runs `work` for the first request with a key within a day; refuses the key with another input. */
export async function repeatable<T extends object, R extends Refusal, Again extends Refusal = never>(
  scope: KeyScope,
  { principalId }: Pick<Viewer, 'principalId'>,
  { mutation, input, idOf, again }: Once<T, Again>,
  work: () => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | Again | RefusalOf<'InvalidInputError'>>> {
  if (!input.idempotencyKey) return await work()
  const { client, projectId, now } = scope
  const key = { principalId, projectId: projectId ?? NO_PROJECT, mutation, key: input.idempotencyKey }
  if (projectId === null) await LOCK_KEY.query(client, [`${principalId} ${mutation} ${key.key}`])
  const inputHash = createHash('sha256').update(JSON.stringify(input)).digest('hex')
  const known = await findKey(client, key, now)
  if (known) return known.inputHash === inputHash ? await again(known.objectId) : { ok: false, refusal: KEY_REUSED }
  const result = await work()
  if (result.ok) await keepKey(client, { ...key, inputHash }, idOf(result), now)
  return result
}

const KEY_REUSED = invalidInput([{ path: 'input.idempotencyKey', message: 'was used for another input within a day' }])

const DAY_MS = 24 * 60 * 60 * 1_000
/** Takes the place of a project id for commands outside of projects. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000'

const LOCK_KEY = statement({
  text: 'select 1 as one from pg_advisory_xact_lock(hashtextextended($1, 0))',
  params: [text],
  row: { one: integer },
})

interface Key {
  readonly principalId: string
  readonly projectId: string
  readonly mutation: string
  readonly key: string
}

const FIND_IDEMPOTENCY_KEY = statement({
  name: 'find-idempotency-key',
  text: `select input_hash as "inputHash", object_id as "objectId" from idempotency_key
      where principal_id = $1 and project_id = $2 and mutation = $3 and key = $4 and created_at > $5`,
  params: [uuid, uuid, text, text, timestamptz],
  row: { inputHash: table.idempotencyKey.inputHash, objectId: table.idempotencyKey.objectId },
})

/** Read under a lock of the scope, so two cannot both be first. */
async function findKey(
  client: Client,
  { principalId, projectId, mutation, key }: Key,
  now: Date,
): Promise<{ inputHash: string; objectId: string } | null> {
  const since = new Date(now.getTime() - DAY_MS)
  const { rows } = await FIND_IDEMPOTENCY_KEY.query(client, [principalId, projectId, mutation, key, since])
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

async function keepKey(
  client: Client,
  { principalId, projectId, mutation, key, inputHash }: Key & { readonly inputHash: string },
  objectId: string,
  now: Date,
): Promise<void> {
  await KEEP_IDEMPOTENCY_KEY.query(client, [principalId, projectId, mutation, key, inputHash, objectId, now])
}
