import { DatabaseError } from 'pg'
import { SET_MS } from '../core/clock-offset.ts'
import type { Client } from './client.ts'
import { bigint, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { timeNow } from './time.ts'

export interface LockedScope {
  readonly projectId: string
  readonly at: Date
}
const LOCK_SCOPE = statement({
  name: 'lock-scope',
  text: `select id as "projectId", ${timeNow('$2')} as at from project where name = $1 for no key update`,
  params: [text, nullable(timestamptz)],
  row: { projectId: table.project.id, at: timestamptz },
})

/**
 * Serialises the specs of a project's roots. Taken first, and by mutations only. Null: there is no such project.
 * @param time null: the database's own
 */
export async function lockScope(client: Client, project: string, time: Date | null): Promise<LockedScope | null> {
  const { rows } = await LOCK_SCOPE.query(client, [project, time])
  return rows[0] ?? null
}

const LOCK_KNOWN_SCOPE = statement({
  name: 'lock-known-scope',
  text: `select 1 / count(*) from (select from project where name = $1 and id = $2
      and ($3::timestamptz is null or abs(extract(epoch from statement_timestamp() - $3)) * 1000 < ${SET_MS}) for no key update) p`,
  params: [text, uuid, nullable(timestamptz)],
  row: { '?column?': bigint },
})

/**
 * The same where the id is known, and the time as far as a process knows it: if it is another project by now, or another
 * time, the statement fails, and its transaction with it.
 * @param now null: the time is given, and right
 */
export async function lockKnownScope(
  client: Client,
  { project, id, now }: { readonly project: string; readonly id: string; readonly now: Date | null },
): Promise<void> {
  await LOCK_KNOWN_SCOPE.query(client, [project, id, now])
}

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || ''
/** The project's id or the time has changed: LOCK_KNOWN_SCOPE divides by zero, as no other statement does. */
export const isScopeMismatch = (error: unknown): boolean => codeOf(error) === '22012'
/** A constraint is violated, e.g. by a taken name; or the statement came after the one that violates it. */
export const isConstraintViolation = (error: unknown): boolean => /^(23...|25P02)$/.test(codeOf(error))
