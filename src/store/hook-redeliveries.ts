import type { Client } from './client.ts'
import { bytea, nullable, text, timestamptz, uuid } from './column-types.ts'
import { HOOKS, type HookRow, hookSecretPlace } from './hooks.ts'
import { statement } from './statement.ts'

/** Hooks that ask their sender again for what it could not deliver, and the tokens with which they do. */

/** No secret of a sender has this name: theirs have no `/`. */
export const REDELIVERY_TOKEN = 'redelivery/token'
export const redeliverySecretPlace = ({ id, projectId }: Pick<HookRow, 'id' | 'projectId'>) =>
  hookSecretPlace({ projectId, ownerId: id, name: REDELIVERY_TOKEN })

const LIST = statement({
  text: `select ${HOOKS.selection} where r.spec -> 'redelivery' ->> 'address' is not null and not r.disabled order by r.id`,
  row: HOOKS.row,
})
export const listRedelivered = async (client: Client): Promise<readonly HookRow[]> =>
  (await LIST.query(client, [])).rows

const CLAIM = statement({
  text: 'update hook set checked_at = $2 where id = $1 and (checked_at is null or checked_at <= $3) returning id',
  params: [uuid, timestamptz, timestamptz],
  row: { id: uuid },
})
/** True for one process alone, if the last check was not after the time. */
export async function claimCheck(client: Client, id: string, now: Date, last: Date): Promise<boolean> {
  const { rows } = await CLAIM.query(client, [id, now, last])
  return rows.length > 0
}

const END = statement({
  text: 'update hook set check_problem = $2 where id = $1',
  params: [uuid, nullable(text)],
})
export async function endCheck(client: Client, id: string, problem: string | null): Promise<void> {
  await END.query(client, [id, problem && problem.slice(0, 1_000)])
}

const TOKEN = statement({
  text: 'select sealed from hook_secret where hook_id = $1 and name = $2',
  params: [uuid, text],
  row: { sealed: bytea },
})
export async function loadRedeliveryToken(client: Client, id: string): Promise<Buffer | null> {
  const { rows } = await TOKEN.query(client, [id, REDELIVERY_TOKEN])
  return rows[0]?.sealed ?? null
}

const REMOVE = statement({
  name: 'remove-redelivery-token',
  text: 'delete from hook_secret where hook_id = $1 and name = $2',
  params: [uuid, text],
})
export async function removeRedeliveryToken(client: Client, id: string): Promise<void> {
  await REMOVE.query(client, [id, REDELIVERY_TOKEN])
}
