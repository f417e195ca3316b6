import { DatabaseError } from 'pg'
import { SET_MS } from '../core/clock-offset.ts'
import type { Client } from './client.ts'
import { timeNow } from './time.ts'

export interface LockedScope {
  readonly projectId: string
  readonly at: Date
}
/**
 * Serialises the specs of a project's roots. Taken first, and by mutations only. Null: there is no such project.
 * @param time null: the database's own
 */
export async function lockScope(client: Client, project: string, time: Date | null): Promise<LockedScope | null> {
  const { rows } = await client.query<LockedScope>({
    name: 'lock-scope',
    text: `select id as "projectId", ${timeNow('$2')} as at from project where name = $1 for no key update`,
    values: [project, time],
  })
  return rows[0] ?? null
}

/**
 * The same where the id is known, and the time as far as a process knows it: if it is another project by now, or another
 * time, the statement fails, and its transaction with it.
 * @param now null: the time is given, and right
 */
export async function lockKnownScope(
  client: Client,
  { project, id, now }: { readonly project: string; readonly id: string; readonly now: Date | null },
): Promise<void> {
  await client.query({
    name: 'lock-known-scope',
    // The time at which it was asked for: others may hold it for long.
    text: `select 1 / count(*) from (select from project where name = $1 and id = $2
      and ($3::timestamptz is null or abs(extract(epoch from statement_timestamp() - $3)) * 1000 < ${SET_MS}) for no key update) p`,
    values: [project, id, now],
  })
}

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || ''
/** The project has another id by now, or the time is another one: division by zero, which no other statement of ours makes use of. */
export const isReplaced = (error: unknown): boolean => codeOf(error) === '22012'
/** A constraint was broken, e.g. by a name that is taken, or what came after that has failed with it: nothing is written. */
export const isTakenBack = (error: unknown): boolean => /^(23...|25P02)$/.test(codeOf(error))
