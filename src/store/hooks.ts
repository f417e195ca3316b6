import type { HookFormat } from '../core/hook.ts'
import type { Reach } from '../core/rights.ts'
import type { Client } from './client.ts'
import { array, bigint, boolean, bytea, integer, nullable, text, textOf, timestamptz, uuid } from './column-types.ts'
import { heldSql } from './holds.ts'
import { byKey } from './loaders/window.ts'
import { projectRecords, type RecordOf } from './project-records.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Hooks of projects, with their secrets sealed. */

const { description, disabled, spec, editor } = table.hook
export const HOOKS = projectRecords({
  table: 'hook',
  columns: { format: textOf<HookFormat>(), description, disabled, spec, editor },
  isForAll: `r.spec -> 'projects' is not null`,
  derived: {
    /** Automation of its project is held. */
    isHeld: [heldSql('r.project_id'), boolean],
    /** When it has last asked its sender for what that could not deliver, and why it could not. */
    checkedAt: ['r.checked_at', table.hook.checkedAt],
    checkProblem: ['r.check_problem', table.hook.checkProblem],
  },
})
export type HookRow = RecordOf<typeof HOOKS>

/** The place that a secret is sealed for. No secret of a project has such a name. */
export const hookSecretPlace = (secret: {
  readonly projectId: string
  readonly ownerId: string
  readonly name: string
}) => ({ projectId: secret.projectId, name: `hook/${secret.ownerId}/${secret.name}` })

const TROUBLED = statement({
  text: `select h.name, p.name as project, d.reason, d.at as "refusedAt", h.checked_at as "checkedAt", h.check_problem as "checkProblem"
    from hook h join project p on p.id = h.project_id
    left join lateral (select d.reason, d.at, d.outcome from hook_delivery d where d.hook_id = h.id order by d.id desc limit 1) d
      on d.outcome in ('REFUSED', 'FORBIDDEN')
    where not h.disabled and ($1::uuid[] is null or h.project_id = any($1)) and ($2 or h.spec -> 'projects' is null)
      and (d.outcome is not null or h.check_problem is not null) and not ${heldSql('h.project_id')}
    order by h.id limit $3`,
  params: [nullable(array(uuid)), boolean, bigint],
  row: {
    ...{ name: table.hook.name, project: table.project.name, reason: nullable(text), refusedAt: nullable(timestamptz) },
    ...{ checkedAt: table.hook.checkedAt, checkProblem: table.hook.checkProblem },
  },
})
/** Hooks that have refused their last delivery, or cannot ask for lost ones. */
export const troubledHooks = async (client: Client, { projects, isAdministrator }: Reach, limit: number) =>
  (await TROUBLED.query(client, [projects, isAdministrator, limit])).rows

const STANDS = statement({
  name: 'hook-stands',
  text: `select h.id from hook h where h.id = $1 and h.generation = $2
      and not ${heldSql('h.project_id')} and not ${heldSql('$3')}`,
  params: [uuid, integer, uuid],
  row: { id: uuid },
})
/** It is as it was read, and automation of its project, and of the one that gets the event, is not held. */
export const hookStands = async (
  client: Client,
  hook: Pick<HookRow, 'id' | 'generation'>,
  project: string,
): Promise<boolean> => (await STANDS.query(client, [hook.id, hook.generation, project])).rows.length > 0

const RECIPIENT = statement({
  name: 'find-recipient-of-delivery',
  text: `select p.id, p.name, ${heldSql('p.id')} as "isHeld" from project p where p.name = $1`,
  params: [text],
  row: { id: uuid, name: text, isHeld: boolean },
})
/** A project that a hook has chosen for an event; null: there is none of this name. */
export async function findRecipient(client: Client, project: string) {
  const { rows } = await RECIPIENT.query(client, [project])
  return rows[0] ?? null
}

const SECRETS = statement({
  name: 'hook-secrets',
  text: `select s.hook_id as key, s.name, s.sealed, s.created_at as "createdAt" from hook_secret s
      where s.hook_id = any($1::uuid[]) and strpos(s.name, '/') = 0 order by s.created_at, s.name`,
  params: [array(uuid)],
  row: { key: uuid, name: text, sealed: bytea, createdAt: timestamptz },
})
export interface HookSecretRow {
  readonly name: string
  readonly sealed: Buffer
  readonly createdAt: Date
}
/** The secrets that senders have, the oldest first. */
export async function loadHookSecrets(
  client: Client,
  hooks: readonly string[],
): Promise<ReadonlyMap<string, readonly HookSecretRow[]>> {
  const { rows } = await SECRETS.query(client, [hooks])
  return byKey(hooks, rows, ({ key: _, ...secret }) => secret)
}

const WRITE_SECRET = statement({
  name: 'write-hook-secret',
  text: `insert into hook_secret (hook_id, name, sealed, created_at) values ($1, $2, $3, $4)
      on conflict (hook_id, name) do update set sealed = excluded.sealed, created_at = excluded.created_at`,
  params: [uuid, text, bytea, timestamptz],
})
export async function writeHookSecret(
  client: Client,
  hookId: string,
  { name, sealed, createdAt }: HookSecretRow,
): Promise<void> {
  await WRITE_SECRET.query(client, [hookId, name, sealed, createdAt])
}

const KEEP_SECRETS = statement({
  name: 'keep-hook-secrets',
  text: `delete from hook_secret where hook_id = $1 and name <> all($2::text[]) and strpos(name, '/') = 0`,
  params: [uuid, array(text)],
})
/** Removes all others. */
export async function keepHookSecrets(client: Client, hookId: string, names: readonly string[]): Promise<void> {
  await KEEP_SECRETS.query(client, [hookId, names])
}
